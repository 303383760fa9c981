#!/bin/sh
# SPDX-License-Identifier: MIT
# Every builder that takes a tensor has its row in operations.def, by which it is
# tried without a context, sources or room.
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$top_srcdir" || exit 99
tr '\n' ' ' <include/ggml/op.h >"$scratch/text"
tr '\n' ' ' <include/ggml/op-nn.h >>"$scratch/text"
tr '\n' ' ' <include/ggml/op-custom.h >>"$scratch/text"
grep -o '\*ggml_[a-z0-9_]*( *struct ggml_context \*ctx, *struct ggml_tensor' \
    "$scratch/text" | sed 's/.ggml_\([a-z0-9_]*\).*/\1/' | sort >"$scratch/declared"
sed -n 's/^BUILDER(\([a-z0-9_]*\),.*/\1/p' tests/op/operations.def |
    sort >"$scratch/tried"
diff "$scratch/declared" "$scratch/tried" >"$scratch/difference"
sed 's/^/# /' "$scratch/difference"
echo 1..1
if [ -s "$scratch/declared" ] && ! [ -s "$scratch/difference" ]; then
    echo 'ok 1 - each builder has a row'
else
    echo 'not ok 1 - each builder has a row'
    exit 1
fi
