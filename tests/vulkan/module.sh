#!/bin/sh
# SPDX-License-Identifier: MIT
# What the module with the Vulkan backend is as a file.
case " $CC $CFLAGS " in
*sanitize* | *coverage*)
    echo '1..0 # SKIP an instrumented module'
    exit 0
    ;;
esac
module=$top_builddir/backends/vulkan/.libs/libggml-vulkan.so
if ! [ -f "$module" ]; then
    echo '1..0 # SKIP no module in this build'
    exit 0
fi
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

printf 'ggml_backend_init\nggml_backend_score\n' >"$scratch/exports"
$NM -D --defined-only "$module" | awk '{ print $3 }' | sort |
    comm -3 - "$scratch/exports" >"$scratch/wrong"
is_empty 'it exports two functions' "$scratch/wrong"
readelf -dW "$module" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
    grep -v "^lib\(${symbol_prefix}ggmlbackend\|c\|m\)\.so" >"$scratch/wrong"
is_empty 'it needs the library, libc and libm alone, and no loader of Vulkan' "$scratch/wrong"
readelf -SW "$module" | grep -o '\.\(init_array\|ctors\|init\|fini_array\) ' >"$scratch/wrong"
is_empty 'it has no code that runs when it is opened' "$scratch/wrong"
$NM -D --undefined-only "$module" | sed 's/@.*//' |
    grep -w 'abort\|_\{0,1\}exit\|_Exit\|__assert_fail\|raise' >"$scratch/wrong"
is_empty 'it does not end the process' "$scratch/wrong"
find "$module" -size +16384k >"$scratch/wrong"
is_empty 'it has 16 MiB at most' "$scratch/wrong"
echo "1..$n"
