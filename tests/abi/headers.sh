#!/bin/sh
# SPDX-License-Identifier: MIT
# Every public header compiles alone, as C99 to C23 and as C++11 and later.
headers="ggml ggml-alloc ggml-backend ggml-backend-impl ggml-cpu ggml-impl
    ggmlbackend gguf"
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
n=0

# check LANGUAGE STANDARD HEADER COMPILER…
check() {
    language=$1 standard=$2 header=$3
    shift 3
    n=$((n + 1))
    printf '#include "%s.h"\nint gb_anything;\n' "$header" >"$scratch/t.$language"
    if "$@" -std="$standard" -pedantic -Wall -Wextra -Werror -fsyntax-only \
        -I"$top_srcdir/include" "$scratch/t.$language" 2>"$scratch/err"; then
        echo "ok $n - $header.h as $standard"
    else
        sed 's/^/# /' "$scratch/err"
        echo "not ok $n - $header.h as $standard"
    fi
}

# The standards that COMPILER takes, of those named.
known() {
    language=$1 compiler=$2
    shift 2
    for standard in "$@"; do
        echo 'int x;' >"$scratch/k.$language"
        $compiler -std="$standard" -fsyntax-only "$scratch/k.$language" \
            2>/dev/null && printf '%s ' "$standard"
    done
}

for standard in $(known c "$CC" c99 c11 c17 c2x); do
    for header in $headers; do
        # shellcheck disable=SC2086
        check c "$standard" "$header" $CC
    done
done
if $CXX --version >/dev/null 2>&1; then
    for standard in $(known cpp "$CXX" c++11 c++14 c++17 c++20); do
        for header in $headers ggml-cpp; do
            # shellcheck disable=SC2086
            check cpp "$standard" "$header" $CXX
        done
    done
fi
echo "1..$n"
