#!/bin/sh
# SPDX-License-Identifier: MIT
# What products, attention and layers of models read and write on the emulated card,
# and how many kernels models launch, is not more than counters.tsv says, which make
# gpu-counters writes; 1 in 100 may be the compiler's.  Where it is less, the table is
# to be written anew, so that it only gets better.
top_builddir=$(cd "$top_builddir" && pwd)
export top_builddir GGML_BACKEND_PATH="$top_builddir/tests/cuda/.libs/libggml-cuda.so"
if ! [ -f "$GGML_BACKEND_PATH" ] ||
    ! [ -f "$top_builddir/tests/gpu-emulator/lanes32/.libs/libcuda.so.1" ]; then
    echo '1..0 # SKIP no module, or no emulated driver, in this build'
    exit 0
fi
# Accesses are counted where the host's compiler leaves them.
case "$($CXX --version 2>&1) $CFLAGS $CXXFLAGS " in
*clang* | *-fsanitize* | *coverage* | *-O[013s]*) compiler='another' ;;
*) compiler="g++ $($CXX -dumpversion)" ;;
esac
kept=$(sed -n 's/^# \(g++ .*\)/\1/p' "$top_srcdir/tests/cuda/counters.tsv")
if [ "$compiler" != "$kept" ]; then
    echo "1..0 # SKIP the table is that of $kept -O2"
    exit 0
fi
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
. "$top_srcdir/tests/tools/claim.sh"
unset GGMLBACKEND_GPU_VARIANT

# no_worse KEPT NEW: each figure of NEW beside that of KEPT.
no_worse() {
    awk -F '\t' '
    /^#/ || $1 == "what" { next }
    NR == FNR { kept[$1, $2, $3] = $4; next }
    {
        n++
        before = kept[$1, $2, $3]
        sign = $3 == "efficiency" ? -1 : 1
        if (before == "" || sign * $4 > sign * before + before / 100) {
            print $1, $2, $3 ": " $4 ", the table has " before
            bad = 1
        } else if (sign * $4 < sign * before - before / 100)
            print "better:", $1, $2, $3 ": " $4 ", the table has " before
    }
    END { exit bad || n < 160 }' "$1" "$2" >"$dir/lines"
    status=$?
    sed 's/^better:/# &/' "$dir/lines" >&2
    return $status
}

sh "$top_srcdir/tests/gpu-emulator/run" "$top_builddir/bench/counters" \
    >"$dir/table" 2>"$dir/err"
result "they are counted"
sh "$top_srcdir/tests/gpu-emulator/run" "$top_builddir/bench/traffic" \
    >>"$dir/table" 2>>"$dir/err"
result "models are"
claim "no figure is worse than the table's" \
    no_worse "$top_srcdir/tests/cuda/counters.tsv" "$dir/table"
sed 's/^/# /' "$dir/err"
awk -F '\t' 'BEGIN { OFS = FS }
    { $4 = $3 == "efficiency" ? $4 * 1.1 : $4 / 1.1; print }' \
    "$top_srcdir/tests/cuda/counters.tsv" >"$dir/stricter"
claim "a tenth more would be seen" sh -c '! "$@"' - test "$(
    no_worse "$dir/stricter" "$dir/table" 2>/dev/null && echo fine)" = fine
echo "# targets: $(awk -F '\t' '$6 == "met" { n++ } $6 == "missed" { m++ }
    END { print n " met, " m " missed" }' "$dir/table")"
echo "1..$n"
