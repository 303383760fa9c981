#!/bin/sh
# SPDX-License-Identifier: MIT
# tests/vulkan/ranges-cases on lavapipe, while the validation layer looks at each call;
# with dot products of bytes, each shader of which runs, and with products that have
# tiles of 64 by 64 for each type.
. "$top_srcdir/tests/vulkan/lavapipe.sh"
. "$top_srcdir/tests/tools/claim.sh"
takes_long
[ -z "$layer" ] || export GGMLBACKEND_VULKAN_VALIDATE=1

# run TESTS [ARGUMENT]
run() {
    tests=$1
    shift
    CMOCKA_MESSAGE_OUTPUT=TAP \
        "$top_builddir/tests/vulkan/ranges-cases" "$@" >"$dir/tap" 2>"$dir/messages"
    status=$?
    grep -v 'vulkan [a-z]*: ' "$dir/messages" >&2
    sed -n 's/^.*vulkan dispatches: //p' "$dir/messages" >"$dir/dispatches"
    [ "$status" -eq 0 ] && grep "^ok $tests" "$dir/tap" &&
        ! grep 'vulkan validation:' "$dir/messages" >&2
}

# each_ran PATTERN N: at least N pipelines.
each_ran() {
    awk -v n="-$2" "/$1/"' { n++; if ($2 == 0) print $1 " did not run" }
        END { if (n < 0) print -n " are missing" }' "$dir/dispatches" >&2
    ! [ -s "$dir/err" ]
}

claim "products and attention with values that F16 does not have" run 5
export GGMLBACKEND_VULKAN_TEST=no-narrow,int-dot,count
if "$top_builddir/ggmlbackend-info" | grep -q '^ *features:.*int-dot'; then
    claim 'products by dot products of bytes' run 5 dots
    claim '  each shader of which ran' each_ran '^columns |^gemmdot_' 25
else
    skip 'lavapipe, or the compiler of shaders, has no dot products of bytes'
fi
export GGMLBACKEND_VULKAN_TEST=no-narrow,count
claim 'products of many tiles' run 1 many
claim '  of each type' each_ran '^gemm_.*_64 ' 24
echo "1..$n"
