#!/bin/sh
# SPDX-License-Identifier: MIT
# A page of a small header is as it was written by hand, and what cannot be made is
# refused with a sentence.
. "$top_srcdir/tests/man/pages.sh"
header=$top_srcdir/tests/man/sample/include/ggml/sample.h
printf '/* SPDX-License-Identifier: MIT */\n\nputs("it'\''s\\n");\n' \
    >"$scratch/sample.c"

make_page() {
    sh "$top_srcdir/build-aux/make-page" "$scratch" "$1" "$header"
}

# refuse TEXT LINE: a page with LINE is not made, and TEXT is said.
refuse() {
    echo "$2" >"$scratch/page.in"
    : >"$scratch/wrong"
    if make_page "$scratch/page.in" >"$scratch/page" 2>"$scratch/err"; then
        echo 'it was made' >"$scratch/wrong"
    elif ! grep -qF "$1" "$scratch/err"; then
        sed 's/^/it says /' "$scratch/err" >"$scratch/wrong"
    fi
    result "refused: $1" "$scratch/wrong"
}

echo 1..7
make_page "$top_srcdir/tests/man/sample.3.in" >"$scratch/page" 2>&1
diff "$top_srcdir/tests/man/sample.3.expected" "$scratch/page" >"$scratch/wrong"
result 'the page is as expected' "$scratch/wrong"
refuse 'has no section Products' '@synopsis ggml/sample.h Products'
refuse 'has no section Sums' '@synopsis ggml/none.h Sums'
refuse 'has no type ggml_none' '@type ggml/sample.h ggml_none'
refuse 'cannot be read' '@example none.c'
refuse 'what is @none?' '@none'
refuse 'ggml_bare has no comment' '@synopsis ggml/sample.h nothing
@contracts'
