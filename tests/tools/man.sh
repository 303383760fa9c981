#!/bin/sh
# SPDX-License-Identifier: MIT
# A program's page names each of its options.
n=0
for page in "$top_srcdir"/man/*.1; do
    name=$(basename "$page" .1)
    n=$((n + 1))
    missing=$("$top_builddir/$name" --help |
        grep -o -- '--[a-z][a-z-]*' | sort -u | sed 's/^--//' |
        while read -r option; do
            sed 's/\\-/-/g' "$page" | grep -qE -- "(Fl Fl |Fl -|--)$option" || echo "$option"
        done)
    if [ -z "$missing" ]; then
        echo "ok $n - $name: all options are described"
    else
        echo "# $missing" | tr '\n' ' '
        echo
        echo "not ok $n - $name: all options are described"
    fi
done
echo "1..$n"
