#!/bin/sh
# SPDX-License-Identifier: MIT
# What the modules with the CUDA and the HIP backend are as files: the tests' ones, and
# those that are installed, where there are compilers for the cards.
case " $CC $CFLAGS " in
*sanitize* | *coverage*)
    echo '1..0 # SKIP instrumented modules'
    exit 0
    ;;
esac
n=0
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

# is_empty TEXT FILE: passes when FILE, what is wrong, is empty.
is_empty() {
    n=$((n + 1))
    if [ -s "$2" ]; then
        sed 's/^/# /' "$2"
        printf 'not '
    fi
    echo "ok $n - $1"
}

look_at() {
    module=$1 what=$2
    $NM -D --defined-only "$module" | awk '{ print $3 }' | sort |
        comm -3 - "$scratch/exports" >"$scratch/wrong"
    is_empty "$what exports two functions" "$scratch/wrong"
    readelf -dW "$module" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
        grep -v "^lib\(${symbol_prefix}ggmlbackend\|c\|m\)\.so" >"$scratch/wrong"
    is_empty "$what needs the library, libc and libm alone" "$scratch/wrong"
    readelf -SW "$module" | grep -o '\.\(init_array\|ctors\|init\|fini_array\) ' \
        >"$scratch/wrong"
    is_empty "$what has no code that runs when it is opened" "$scratch/wrong"
    $NM -D --undefined-only "$module" | sed 's/@.*//' |
        grep -w 'abort\|_\{0,1\}exit\|_Exit\|__assert_fail\|raise' >"$scratch/wrong"
    is_empty "$what does not end the process" "$scratch/wrong"
}

printf 'ggml_backend_init\nggml_backend_score\n' >"$scratch/exports"
found=
for folder in tests/cuda backends/cuda tests/hip backends/hip; do
    module=$top_builddir/$folder/.libs/libggml-${folder#*/}.so
    [ -f "$module" ] || continue
    found=yes
    look_at "$module" "$folder"
done
if [ -z "$found" ]; then
    echo '1..0 # SKIP no modules in this build'
    exit 0
fi
echo "1..$n"
