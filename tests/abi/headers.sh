#!/bin/sh
# SPDX-License-Identifier: MIT
# Every public header compiles alone, as C99 to C23 and as C++11 and later; those
# of older levels too, with their folder first on the include path.

# names FOLDER: of its headers; those of C++ are not for C.
names() {
    (cd "$top_srcdir/include/$1" && ls ./*.h) |
        sed 's|^./||; s/[.]h$//; /^ggml-cpp$/d'
}

headers=$(names .)
headers_2023="$(names level-2023) ggmlbackend-2023"
headers_2024="$(names level-2024) ggmlbackend-2024"
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
n=0

# check FOLDER LANGUAGE STANDARD HEADER COMPILER…
check() {
    folder=$1 language=$2 standard=$3 header=$4
    shift 4
    n=$((n + 1))
    printf '#include "%s.h"\nint gb_anything;\n' "$header" >"$scratch/t.$language"
    if "$@" -std="$standard" -pedantic -Wall -Wextra -Werror -fsyntax-only \
        -I"$top_srcdir/include/$folder" -I"$top_srcdir/include" \
        "$scratch/t.$language" 2>"$scratch/err"; then
        echo "ok $n - $folder/$header.h as $standard"
    else
        sed 's/^/# /' "$scratch/err"
        echo "not ok $n - $folder/$header.h as $standard"
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

# each LANGUAGE STANDARD COMPILER: all headers of all levels.
each() {
    for header in $headers; do
        # shellcheck disable=SC2086
        check . "$1" "$2" "$header" $3
    done
    for header in $headers_2023; do
        # shellcheck disable=SC2086
        check level-2023 "$1" "$2" "$header" $3
    done
    for header in $headers_2024; do
        # shellcheck disable=SC2086
        check level-2024 "$1" "$2" "$header" $3
    done
}

for standard in $(known c "$CC" c99 c11 c17 c2x); do
    each c "$standard" "$CC"
done
if $CXX --version >/dev/null 2>&1; then
    for standard in $(known cpp "$CXX" c++11 c++14 c++17 c++20); do
        each cpp "$standard" "$CXX"
        # shellcheck disable=SC2086
        check . cpp "$standard" ggml-cpp $CXX
    done
fi
echo "1..$n"
