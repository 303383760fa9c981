#!/bin/sh
# SPDX-License-Identifier: MIT
# Backends of older levels compile without a warning, by each compiler at hand.
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
n=0

# check NAME COMPILER SOURCE LEVEL
check() {
    name=$1 compiler=$2 source=$3 level=$4
    n=$((n + 1))
    # shellcheck disable=SC2086
    if $compiler -std=c11 -D_POSIX_C_SOURCE=200809L -O1 -Wall -Wextra -Werror \
        -pedantic -I"$top_srcdir/include/level-$level" -I"$top_srcdir/include" \
        -c -o "$scratch/t.o" "$source" 2>"$scratch/err"; then
        echo "ok $n - $name by $compiler"
    else
        sed 's/^/# /' "$scratch/err"
        echo "not ok $n - $name by $compiler"
    fi
}

backends=$top_srcdir/tests/levels/backends
for compiler in "$CC" gcc clang; do
    # shellcheck disable=SC2086
    $compiler --version >/dev/null 2>&1 || continue
    for level in 2023 2024; do
        for file in kernels "backend-$level" "recorder-$level"; do
            check "$file.c for $level" "$compiler" "$backends/$file.c" "$level"
        done
    done
    check 'node-2023.c' "$compiler" "$backends/node-2023.c" 2023
    check 'the example of 2023' "$compiler" \
        "$top_srcdir/examples/own-backend-2023/plain23.c" 2023
done
echo "1..$n"
