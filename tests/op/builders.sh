#!/bin/sh
# SPDX-License-Identifier: MIT
# Every builder that takes a tensor has its row in operations.def, by which it is
# tried without a context, sources or room; and authors of backends are told every
# operation whose result may be written over a source.
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
echo 1..2
if [ -s "$scratch/declared" ] && ! [ -s "$scratch/difference" ]; then
    echo 'ok 1 - each builder has a row'
else
    echo 'not ok 1 - each builder has a row'
    failed=1
fi

# by_page COUNT: the names behind the page's mark.
by_page() {
    sed -n "/in place $1\$/,/^\(of the first\|and for any\)/p" \
        man/ggml-backend-module.7 | sed -n 's/^\.Dv//p' | tr -c 'A-Z0-9_' '\n' |
        grep '[A-Z]' | sed "s/^/$1 /"
}
sed -n 's/^GB_OP(\([A-Z0-9_]*\), .* WORK, \([12]\), .*/\2 \1/p' lib/op/ops.def |
    sort >"$scratch/over"
{ by_page 1; by_page 2; } | sort >"$scratch/page"
diff "$scratch/over" "$scratch/page" >"$scratch/difference"
sed 's/^/# /' "$scratch/difference"
if [ -s "$scratch/over" ] && ! [ -s "$scratch/difference" ]; then
    echo 'ok 2 - the page names what may be written over a source'
else
    echo 'not ok 2 - the page names what may be written over a source'
    failed=1
fi
exit "${failed:-0}"
