#!/bin/sh
# SPDX-License-Identifier: MIT
# The comment over a function's declaration stands in its page, word by word.  This
# knows nothing of how pages are made: macros are taken out of a page and marks
# out of both, and what is left of the comment has to be a part of the page.
. "$top_srcdir/tests/man/pages.sh"
cd "$top_builddir" || exit 99
echo 1..3

for page in man/*.3; do
    echo "PAGE ${page##*/}"
    sed 's/\\([a-z][a-z]/ /g; s/\\e/ /g; s/\\-/-/g; s/\\&//g' "$page" | awk '
        /^\.Sh/ { is_in = $2 == "DESCRIPTION"; next }
        !is_in || /^\.(Pp|Bd|Ed|Bl|El|Ss)/ { next }
        # A head of several names; theirs is not the comment.
        /^\.It Xo/ { is_head = 1 }
        /^\.Xc/ { is_head = 0; print "HEAD"; next }
        is_head { next }
        /^\./ {
            sub(/^\./, "")
            for (i = 1; i <= NF; i++) {
                if ($i == "Xr" && $(i + 1) ~ /_/)
                    $(i + 2) = ""
                if ($i ~ /^(Dv|Ev|Fa|Fn|It|Ns|Pf|Sy|Va|Vt|Xr)$/)
                    $i = ""
            }
        }
        { print }'
done >"$scratch/texts"
names_of man/*.3 >"$scratch/names"

cat "$scratch/names" "$scratch/texts" "$top_srcdir"/include/*.h \
    "$top_srcdir"/include/ggml/*.h \
    "$top_srcdir"/include/level-2023/ggml-backend-impl.h | awk -v out="$scratch" '
function words(s) {
    s = tolower(s)
    gsub(/[^a-z0-9]+/, " ", s)
    return s
}
function check(name,   page) {
    if (!(name in page_of))
        return
    n_checked++
    page = page_of[name]
    if (!(page in plain)) {
        # What a page makes a sentence of.
        gsub(/Calls may come from any thread\./, "Any thread.", text[page])
        plain[page] = words(text[page])
    }
    if (index(plain[page], words(" " comment " ")) == 0)
        print page " lacks what its header says of " name >(out "/wrong")
}
/^PAGE / { page = $2; next }
/^\/\* SPDX/ { page = ""; has_pages = 1; next }
!has_pages && page == "" { page_of[$1] = $2; next }
!has_pages { text[page] = text[page] $0 "\n"; next }

# Headers, as a C program sees them: a comment, and the first function that follows it.
/^#if.* defined\(__cplusplus\)/ { is_cpp = 1 }
is_cpp { is_cpp = !/^#endif/; next }
/^\/\*/ { comment = ""; is_comment = 1 }
is_comment {
    line = $0
    is_comment = !sub(/\*\/.*/, "", line)
    sub(/^(\/| )\*/, "", line)
    comment = comment line "\n"
    is_pending = 1
    next
}
# A section begins here, or something that is no function.
is_pending && /^(struct|enum|typedef|#define|static)/ { is_pending = 0 }
is_pending && match($0, /(ggml|gguf|ggmlbackend)_[a-z0-9_]*\(/) {
    is_pending = 0
    if (comment !~ /---/)
        check(substr($0, RSTART, RLENGTH - 1))
}
END { print n_checked + 0 >(out "/checked") }'

touch "$scratch/wrong"
result 'pages have the words of the headers' "$scratch/wrong"
# Comments stand over groups of functions, a few of them.
awk '$1 < 250 { print "too few" }' "$scratch/checked" >"$scratch/wrong"
result "$(cat "$scratch/checked") comments were compared" "$scratch/wrong"

# gguf(5) has the numbers of gguf.h.
sed -n 's/^ *GGUF_TYPE_\([A-Z0-9]*\) *= \([0-9]*\),$/\2 \1/p' \
    "$top_srcdir/include/gguf.h" | tr '[:upper:]' '[:lower:]' >"$scratch/types"
sed -n 's/^\.It \([0-9]*\) Ta \([a-z0-9]*\) Ta.*/\1 \2/p' \
    "$top_srcdir/man/gguf.5.in" | diff "$scratch/types" - >"$scratch/wrong"
grep -q '^9 array$' "$scratch/types" || echo 'no types' >>"$scratch/wrong"
result 'gguf(5) has the types of values' "$scratch/wrong"
