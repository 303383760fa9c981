#!/bin/sh
# SPDX-License-Identifier: MIT
# The programs in the pages compile without warnings, run, and find what they look
# for; what is no whole program compiles.
. "$top_srcdir/tests/man/pages.sh"

if [ -f "$top_builddir/.libs/libggmlbackend.so" ]; then
    libraries="-L$top_builddir/.libs -lggmlbackend"
    LD_LIBRARY_PATH=$top_builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
else
    libraries="$top_builddir/.libs/libggmlbackend.a -lm -lpthread -ldl"
fi
# No module but what a page itself brings.
GGMLBACKEND_MODULE_PATH=
export GGMLBACKEND_MODULE_PATH
unset GGML_BACKEND_PATH

# Each literal display of PAGE that includes something, as FOLDER/1.c and so on.
extract() {
    sed 's/\\-/-/g; s/\\&//g; s/\\(aq/'\''/g; s/\\(ga/`/g; s/\\(ha/^/g; s/\\(ti/~/g; s/\\e/\\/g' \
        "$1" | awk -v folder="$2" '
        /^\.Bd -literal/ { text = ""; is_in = 1; next }
        /^\.Ed/ {
            if (text ~ /(^|\n)#include </) {
                file = folder "/" ++n ".c"
                printf "%s", text >file
                close(file)
            }
            is_in = 0
        }
        is_in { text = text $0 "\n" }'
}

# What instruments the library has to instrument the program.
flags="-Wall -Wextra -Werror -I$top_srcdir/include"
case " $CC $CFLAGS " in
*sanitize*)
    flags="$flags $CFLAGS"
    is_instrumented=true
    ;;
*) is_instrumented=false ;;
esac

# try FILE: compiled, and run where there is a main function; 77 when that cannot be
# tried.
# shellcheck disable=SC2086
try() {
    if ! grep -q '^main(\|^int main(' "$1"; then
        $CC $flags -DGGML_BACKEND_DL -c -o "$scratch/o" "$1"
        return
    fi
    compiler=$CC
    if grep -q '^#include <ggml-cpp.h>' "$1"; then
        ! $is_instrumented && $CXX --version >/dev/null 2>&1 || return 77
        compiler="$CXX -x c++ -std=c++11"
    fi
    $compiler $flags -o "$scratch/program" "$1" -x none $libraries &&
        (cd "$scratch" && ./program)
}

all_pages >"$scratch/pages"
while IFS= read -r page; do
    folder=$scratch/${page##*/}
    mkdir "$folder" && extract "$page" "$folder"
    for file in "$folder"/*.c; do
        [ -f "$file" ] || continue
        try "$file" >"$scratch/out" 2>&1
        case $? in
        0) : >"$scratch/out" ;;
        77)
            n=$((n + 1))
            echo "ok $n # SKIP no C++ compiler that fits the library"
            continue
            ;;
        *) [ -s "$scratch/out" ] || echo 'failed silently' >"$scratch/out" ;;
        esac
        result "${page##*/}: program ${file##*/}" "$scratch/out"
    done
done <"$scratch/pages"

# The files that they are made from, each a program at least.
for file in "$top_srcdir"/man/examples/*; do
    grep -q "^@example ${file##*/}\$" "$top_srcdir"/man/*.in ||
        echo "${file##*/} is in no page"
done >"$scratch/wrong"
[ $n -ge "$(ls "$top_srcdir/man/examples" | wc -l)" ] ||
    echo "pages have $n programs only" >>"$scratch/wrong"
result 'each file of man/examples is in a page' "$scratch/wrong"
echo "1..$n"
