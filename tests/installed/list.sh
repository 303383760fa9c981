#!/bin/sh
# SPDX-License-Identifier: MIT
# Every test is either installed by --enable-installed-tests or is not, for a
# reason: it is named in left-out, which names no other, or is linked with the
# library within it.
left_out=$top_srcdir/tests/installed/left-out
patterns=$(sed '/^#/d; s/ .*//' "$top_builddir/tests/installed/not-installed")
not_installed=$top_builddir/tests/installed/not-installed
all=$top_builddir/tests/installed/all
list=$top_builddir/tests/installed/list
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

# empty NUMBER TEXT FILE: FILE, which has what is wrong, has nothing.
empty() {
    sed 's/^/# /' "$3"
    [ ! -s "$3" ] || printf 'not '
    echo "ok $1 - $2"
}

# Does a pattern stand for NAME?
is_left_out() {
    for pattern in $patterns; do
        # shellcheck disable=SC2254
        case $1 in
        $pattern) return 0 ;;
        esac
    done
    return 1
}

set -f
echo 1..4
comm -23 "$all" "$list" | while read -r name; do
    is_left_out "$name" || echo "$name"
done >"$scratch/unknown"
empty 1 'each test is installed or left out' "$scratch/unknown"
while read -r name; do
    ! is_left_out "$name" || echo "$name"
done <"$list" >"$scratch/both"
empty 2 'none is both' "$scratch/both"
# A configuration may lack tests that the source has.
sed '/^#/d; s/ .*//' "$left_out" | while read -r name; do
    [ -f "$top_srcdir/$name" ] || [ -f "$top_srcdir/$name.c" ] ||
        [ -d "$top_srcdir/${name%/\*}" ] || echo "$name"
done >"$scratch/stale"
empty 3 'each that is left out exists' "$scratch/stale"
awk '!/^#/ && NF < 3' "$not_installed" >"$scratch/reasons"
empty 4 'a reason is given for each' "$scratch/reasons"
