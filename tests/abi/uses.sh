#!/bin/sh
# SPDX-License-Identifier: MIT
# Every macro of the public headers that takes arguments or declares something is
# used by uses.c, and its uses compile as each standard of C and C++, for each
# level, in modules, with and without NDEBUG, by each compiler at hand.
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
n=0

# answer STATUS CLAIM
answer() {
    n=$((n + 1))
    if [ "$1" = 0 ]; then
        echo "ok $n - $2"
    else
        sed 's/^/# /' "$scratch/err"
        echo "not ok $n - $2"
    fi
}

# The names that sources write: without the parts that others are made of.
cat "$top_srcdir"/include/*.h "$top_srcdir"/include/ggml/*.h \
    "$top_srcdir"/include/level-*/*.h |
    sed -n -e 's/^# *define \([A-Z][A-Za-z0-9_]*\)(.*/\1/p' \
        -e 's/^# *define \(GGML_[A-Z0-9_]*LOCALS[0-9]*\).*/\1/p' |
    sort -u >"$scratch/macros"
grep -wo '[A-Z][A-Z0-9_]*' "$top_srcdir/tests/abi/uses.c" |
    sort -u >"$scratch/known"
comm -23 "$scratch/macros" "$scratch/known" >"$scratch/err"
[ -s "$scratch/macros" ] && [ ! -s "$scratch/err" ]
answer $? "each of $(wc -l <"$scratch/macros") macros has a use"

# each LANGUAGE COMPILER STANDARD…: those that the compiler knows
each() {
    language=$1 compiler=$2
    shift 2
    # shellcheck disable=SC2086
    if ! $compiler --version >/dev/null 2>&1; then
        n=$((n + 1))
        echo "ok $n # SKIP there is no $compiler"
        return
    fi
    for standard in "$@"; do
        echo 'int x;' >"$scratch/k.c"
        # shellcheck disable=SC2086
        $compiler -x "$language" -std="$standard" -fsyntax-only "$scratch/k.c" \
            2>/dev/null || continue
        for folder in . level-2023 level-2024; do
            for define in GB_NOTHING NDEBUG GGML_BACKEND_DL GGML_DEBUG=10; do
                # shellcheck disable=SC2086
                $compiler -x "$language" -std="$standard" -D$define -pedantic \
                    -Wall -Wextra -Werror -fsyntax-only \
                    -I"$top_srcdir/include/$folder" -I"$top_srcdir/include" \
                    "$top_srcdir/tests/abi/uses.c" 2>"$scratch/err"
                answer $? "uses with $define in $folder as $standard, $compiler"
            done
        done
    done
}

each c "$CC" c99 c11 c17 c2x
each c clang c99 c2x
each c++ "$CXX" c++11 c++14 c++17 c++20
each c++ clang++ c++11 c++20
echo "1..$n"
