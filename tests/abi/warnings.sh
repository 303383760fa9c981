#!/bin/sh
# SPDX-License-Identifier: MIT
# A client's warnings are about his own code: each public header is silent with
# the sets that projects use, and so is what its macros leave in a source.
#
# Not asked for are C++'s -Wold-style-cast, -Wuseless-cast and
# -Wzero-as-null-pointer-constant: headers that C reads have C's casts and NULL.
# They are quiet where the folder is named with -isystem.
usual='-Wall -Wextra -Wpedantic -Wshadow -Wcast-qual -Wconversion'
more='-Wsign-conversion -Wfloat-conversion -Wdouble-promotion -Wundef -Wunused
    -Wcast-align -Wwrite-strings -Wpointer-arith -Wformat=2 -Wredundant-decls
    -Wmissing-declarations -Wswitch-enum -Wnull-dereference'
headers=$(cd "$top_srcdir/include" && echo *.h)
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
n=0

# check NAME LANGUAGE FOLDER SOURCE COMPILER OPTION…
check() {
    name=$1 language=$2 folder=$3 source=$4
    shift 4
    n=$((n + 1))
    if "$@" -x "$language" -O1 -Werror -c -o "$scratch/t.o" \
        -I"$top_srcdir/include/$folder" -I"$top_srcdir/include" "$source" \
        2>"$scratch/err"; then
        echo "ok $n - $folder/$name as $language by $compiler"
    else
        sed 's/^/# /' "$scratch/err"
        echo "not ok $n - $folder/$name as $language by $compiler"
    fi
}

# each LANGUAGE COMPILER OPTION…
each() {
    language=$1 compiler=$2
    shift 2
    # shellcheck disable=SC2086
    if ! $compiler --version >/dev/null 2>&1; then
        n=$((n + 1))
        echo "ok $n # SKIP there is no $compiler"
        return
    fi
    for folder in . level-2023 level-2024; do
        for header in $headers; do
            header=${header%.h}
            case $header.$folder.$language in
            ggml-cpp.level-*|ggml-cpp.*.c|ggml-cpu.level-2023.*) continue ;;
            esac
            printf '#include "%s.h"\nextern int gb_anything;\n' "$header" \
                >"$scratch/t.c"
            # shellcheck disable=SC2086
            check "$header.h" "$language" "$folder" "$scratch/t.c" \
                $compiler "$@" $usual $more
        done
        # shellcheck disable=SC2086
        check 'uses.c' "$language" "$folder" "$top_srcdir/tests/abi/uses.c" \
            $compiler "$@" $usual $more
    done
}

for compiler in "$CC" clang; do
    each c "$compiler" -std=c11 -Wstrict-prototypes -Wmissing-prototypes \
        -Wbad-function-cast -Wc++-compat
done
for compiler in "$CXX" clang++; do
    each c++ "$compiler" -std=c++17
done
echo "1..$n"
