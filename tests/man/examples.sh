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

# try PAGE FILE: compiled, and run where there is a main function.
try() {
    flags='-Wall -Wextra -Werror'
    if ! grep -q '^main(\|^int main(' "$2"; then
        # shellcheck disable=SC2086
        $CC $flags -DGGML_BACKEND_DL -I"$top_srcdir/include" -c -o "$scratch/o" "$2"
        return
    fi
    compiler=$CC
    if grep -q '^#include <ggml-cpp.h>' "$2"; then
        $CXX --version >/dev/null 2>&1 || return 0
        compiler="$CXX -x c++ -std=c++11"
    fi
    # shellcheck disable=SC2086
    $compiler $flags -I"$top_srcdir/include" -o "$scratch/program" "$2" \
        -x none $libraries &&
        (cd "$scratch" && ./program)
}

all_pages >"$scratch/pages"
while IFS= read -r page; do
    folder=$scratch/${page##*/}
    mkdir "$folder" && extract "$page" "$folder"
    for file in "$folder"/*.c; do
        [ -f "$file" ] || continue
        if try "$page" "$file" >"$scratch/out" 2>&1; then
            : >"$scratch/out"
        elif ! [ -s "$scratch/out" ]; then
            echo 'failed without a word' >"$scratch/out"
        fi
        result "${page##*/}: program ${file##*/}" "$scratch/out"
    done
done <"$scratch/pages"

# The files that they are made from.
for file in "$top_srcdir"/man/examples/*; do
    grep -q "^@example ${file##*/}\$" "$top_srcdir"/man/*.in ||
        echo "${file##*/} is in no page"
done >"$scratch/wrong"
result 'each file of man/examples is in a page' "$scratch/wrong"
echo "1..$n"
