#!/bin/sh
# SPDX-License-Identifier: MIT
# Each page is without warnings; a program's names each of its options, and other
# pages' examples compile.
n=0
for page in "$top_srcdir"/man/*.[2-8] "$top_builddir"/man/*.1; do
    name=$(basename "$page")
    n=$((n + 1))
    if ! ${MANDOC:-:} -V >/dev/null 2>&1 && [ "${MANDOC:-:}" = : ]; then
        echo "ok $n # SKIP no mandoc"
    elif $MANDOC -Tlint -Wwarning "$page" >man-$$.out 2>&1; then
        echo "ok $n - $name: no warnings"
    else
        sed 's/^/# /' man-$$.out
        echo "not ok $n - $name: no warnings"
    fi
    rm -f man-$$.out
done
for page in "$top_srcdir"/man/*.[2-8]; do
    name=$(basename "$page")
    n=$((n + 1))
    # The first literal display of the examples.
    sed -n '/^\.Sh EXAMPLES/,$ { /^\.Bd -literal/,/^\.Ed/p; /^\.Ed/q; }' "$page" |
        sed '/^\./d; s/\\e/\\/g' >man-$$.c
    if $CC -Wall -Wextra -Werror -DGGML_BACKEND_DL -I"$top_srcdir/include" -c \
        -o man-$$.o man-$$.c >man-$$.out 2>&1; then
        echo "ok $n - $name: the example compiles"
    else
        sed 's/^/# /' man-$$.out
        echo "not ok $n - $name: the example compiles"
    fi
    rm -f man-$$.*
done
for page in "$top_builddir"/man/*.1; do
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
