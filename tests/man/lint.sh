#!/bin/sh
# SPDX-License-Identifier: MIT
# mandoc has no warning for any page.
. "$top_srcdir/tests/man/pages.sh"
[ "${MANDOC:-:}" != : ] || skip_all 'no mandoc'
all_pages >"$scratch/pages"
echo "1..$(wc -l <"$scratch/pages")"
while IFS= read -r page; do
    $MANDOC -Tlint -Wwarning "$page" >"$scratch/wrong" 2>&1
    result "${page##*/} has no warnings" "$scratch/wrong"
done <"$scratch/pages"
