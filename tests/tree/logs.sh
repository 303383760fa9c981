#!/bin/sh
# SPDX-License-Identifier: MIT
# Each test has a log of its own: automake calls it by the test's name without .sh, and
# of two tests with one log but one runs.
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

# shared: logs of more than one of the tests, of lines with a name each.
shared() {
    sed 's/\.sh$//; s/\.exe$//; s/$/.log/' | sort | uniq -d
}

# result NUMBER TEXT FILE: passes when FILE, what is wrong, is empty.
result() {
    sed 's/^/# /' "$3"
    [ ! -s "$3" ] || printf 'not '
    echo "ok $1 - $2"
}

echo 1..2
printf '%s\n' a/twice a/twice.sh b/twice a/once.sh a/once-cases | shared |
    grep -vx 'a/twice\.log' >"$scratch/wrong"
printf '%s\n' a/twice a/twice.sh | shared | grep -qx 'a/twice\.log' ||
    echo 'a script and a program of one name' >>"$scratch/wrong"
result 1 'two tests with one log are found' "$scratch/wrong"
all=$top_builddir/tests/installed/all
{
    shared <"$all"
    [ -s "$all" ] || echo "$all has no tests"
} >"$scratch/wrong"
result 2 "none of $(wc -l <"$all") shares its log" "$scratch/wrong"
