#!/bin/sh
# SPDX-License-Identifier: MIT
# Each exported function has one page, which its name leads to; and pages name and
# refer to nothing that is not there.
. "$top_srcdir/tests/man/pages.sh"
cd "$top_builddir" || exit 99
echo 1..6

sed -n 's/^    \([a-z][a-z0-9_]*\);$/\1/p' "$top_srcdir/lib/libggmlbackend.map" |
    sort >"$scratch/exported"
names_of man/*.3 | sort >"$scratch/names"
cut -d' ' -f1 "$scratch/names" >"$scratch/named"

sort -u "$scratch/named" | comm -23 "$scratch/exported" - >"$scratch/missing"
if [ -s "$scratch/missing" ] || [ "$(wc -l <"$scratch/exported")" -lt 500 ]; then
    {
        echo "$(wc -l <"$scratch/missing") of" \
            "$(wc -l <"$scratch/exported") exported functions have no page:"
        paste -sd' ' "$scratch/missing" | fold -s -w 76
    } >"$scratch/wrong"
else
    : >"$scratch/wrong"
fi
result 'each exported function has a page' "$scratch/wrong"

uniq -d "$scratch/named" | while read -r name; do
    grep "^$name " "$scratch/names"
done >"$scratch/wrong"
result 'none has two' "$scratch/wrong"

# Functions, macros with arguments, and headers.
cat "$top_srcdir"/include/*.h "$top_srcdir"/include/ggml/*.h |
    grep -o '[A-Za-z0-9_]*(' | tr -d '(' | sort -u |
    sort -u - "$scratch/exported" >"$scratch/declared"
(cd "$top_srcdir/include" && ls ./*.h) | sed 's:^\./\(.*\)\.h$:\1:' |
    sort -u - "$scratch/declared" -o "$scratch/declared"
awk '
FNR == NR { is_declared[$1] = 1; next }
!($1 in is_declared) { print $1 " of " $2 }' \
    "$scratch/declared" "$scratch/names" >"$scratch/wrong"
result 'what pages name is declared' "$scratch/wrong"

# A family's page has the name that several of its functions begin with.
for page in man/*.3; do
    title=${page##*/}
    name=${title%.3}
    grep -qx "$name $title" "$scratch/names" ||
        [ "$(grep -c "^${name}_.* $title\$" "$scratch/names")" -ge 2 ] ||
        echo "$title"
done >"$scratch/wrong"
result 'the name of each page is one of its names, or begins several' \
    "$scratch/wrong"

# "link page", as the files say it and as the names need it.
for link in man/links/*.3; do
    name=${link##*/}
    echo "${name%.3} $(sed -n 's:^\.so man3/::p' "$link")"
done | sort >"$scratch/links"
awk '$1 ".3" != $2' "$scratch/names" | sort | diff - "$scratch/links" \
    >"$scratch/wrong"
result 'each further name of a page is a link to it, and there are no others' \
    "$scratch/wrong"

# References to pages of ours.
all_pages >"$scratch/pages"
while IFS= read -r page; do
    names_of "$page" | sed 's/ .*\.\([1-8]\)$/ \1/'
    echo "${page##*/}" | sed 's/\.\([1-8]\)$/ \1/'
done <"$scratch/pages" | sort -u >"$scratch/known"
while IFS= read -r page; do
    sed -n 's/^\.Xr \(gg[mu][lf][a-z0-9_.-]*\) \([1-8]\).*/\1 \2/p' "$page" |
        sort -u | comm -23 - "$scratch/known" | sed "s:^:${page##*/} refers to :"
done <"$scratch/pages" >"$scratch/wrong"
result 'references lead somewhere' "$scratch/wrong"
