#!/bin/sh
# SPDX-License-Identifier: MIT
# ggmlbackend-gguf shows, checks and converts; what is broken is refused.
tool=$top_builddir/ggmlbackend-gguf
dir=gguf-tool-$$
mkdir "$dir" || exit 99
trap 'rm -rf "$dir"' EXIT
"$top_builddir/examples/make-tiny-model" "$dir/tiny.gguf" || exit 99
. "$top_srcdir/tests/tools/claim.sh"

# refuse STATUS TEXT COMMAND…: it ends with STATUS, and one line says why.
refuse() {
    wanted=$1 text=$2
    shift 2
    n=$((n + 1))
    "$@" >"$dir/out" 2>"$dir/err"
    status=$?
    if [ $status -eq "$wanted" ] && [ -s "$dir/err" ]; then
        echo "ok $n - $text"
    else
        sed "s/^/# status $status: /" "$dir/err"
        echo "not ok $n - $text"
    fi
}

tensors() {
    "$tool" show "$1" | awk '/ bytes at /' | wc -l
}

claim 'a model is shown' "$tool" show "$dir/tiny.gguf"
cp "$dir/out" "$dir/shown"
claim 'its architecture is among the keys' grep -q '^general.architecture' "$dir/shown"
claim 'all of it is JSON' "$tool" show --json "$dir/tiny.gguf"
claim 'a whole model has nothing wrong' "$tool" check "$dir/tiny.gguf"
for type in f32 f16 bf16 q8_0 q4_0 q4_1 q5_0 q5_1 iq4_nl; do
    claim "it is converted to $type" \
        "$tool" convert --type $type "$dir/tiny.gguf" "$dir/$type.gguf"
    claim "which has nothing wrong" "$tool" check "$dir/$type.gguf"
    claim "and as many tensors" \
        test "$(tensors "$dir/tiny.gguf")" -eq "$(tensors "$dir/$type.gguf")"
done
claim 'types are listed' "$tool" types
cp "$dir/out" "$dir/types"
claim 'those above among them' test "$(grep -cx \
    -e f32 -e f16 -e bf16 -e q8_0 -e q4_0 -e q4_1 -e q5_0 -e q5_1 -e iq4_nl \
    "$dir/types")" -eq 9
claim 'none that needs an importance matrix' sh -c '! grep iq2_xxs "$1"' - "$dir/types"
claim 'and each of them can be converted to' sh -c 'while read -r type; do
    "$1" convert --pure --type "$type" "$2/tiny.gguf" "$2/x.gguf" || exit 1
done <"$2/types"' - "$tool" "$dir"
claim 'back to f32' "$tool" convert --pure --type f32 "$dir/f16.gguf" "$dir/back.gguf"
claim 'and to f16 again' "$tool" convert --pure --type f16 "$dir/back.gguf" "$dir/again.gguf"
claim 'f16 that was f32 in between is what it was' \
    sh -c '"$1" convert --pure --type f16 "$2/f16.gguf" "$2/x.gguf" &&
        cmp "$2/x.gguf" "$2/again.gguf"' - "$tool" "$dir"

head -c 3000 "$dir/tiny.gguf" >"$dir/short.gguf"
size=$(wc -c <"$dir/tiny.gguf")
head -c $((size - 64)) "$dir/tiny.gguf" >"$dir/cut.gguf"
refuse 1 'a file that is not there' "$tool" show "$dir/none.gguf"
refuse 1 'a text' "$tool" show "$top_srcdir/README.md"
refuse 1 'a folder' "$tool" check "$dir"
refuse 1 'a file cut in its keys' "$tool" check "$dir/short.gguf"
refuse 1 'a file cut in its data' "$tool" check "$dir/cut.gguf"
refuse 2 'an unknown type' "$tool" convert --type q9 "$dir/tiny.gguf" "$dir/x"
refuse 2 'a type that needs an importance matrix' \
    "$tool" convert --type iq2_xxs "$dir/tiny.gguf" "$dir/x"
refuse 1 'a place that cannot be written' \
    "$tool" convert --type f16 "$dir/tiny.gguf" "$dir/no/such/x"
refuse 1 'data that is cut' "$tool" convert --type q8_0 "$dir/cut.gguf" "$dir/y.gguf"
claim 'nothing half written stays' test ! -e "$dir/y.gguf"
refuse 2 'no command' "$tool"
refuse 2 'an unknown command' "$tool" frobnicate "$dir/tiny.gguf"
refuse 2 'an unknown option' "$tool" --frobnicate
claim '--help' "$tool" --help
claim '--version' "$tool" --version
echo "1..$n"
