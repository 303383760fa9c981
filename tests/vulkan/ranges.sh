#!/bin/sh
# SPDX-License-Identifier: MIT
# tests/vulkan/ranges-cases on lavapipe, while the validation layer looks at each call;
# once more with dot products of bytes, each shader of which runs.
. "$top_srcdir/tests/vulkan/lavapipe.sh"
. "$top_srcdir/tests/tools/claim.sh"
takes_long
[ -z "$layer" ] || export GGMLBACKEND_VULKAN_VALIDATE=1

run() {
    CMOCKA_MESSAGE_OUTPUT=TAP \
        "$top_builddir/tests/vulkan/ranges-cases" "$@" >"$dir/tap" 2>"$dir/messages"
    status=$?
    grep -v 'vulkan [a-z]*: ' "$dir/messages" >&2
    sed -n 's/^.*vulkan dispatches: //p' "$dir/messages" >"$dir/dispatches"
    [ "$status" -eq 0 ] && grep '^ok 5' "$dir/tap" &&
        ! grep 'vulkan validation:' "$dir/messages" >&2
}

dots_ran() {
    awk '/^columns |^gemmdot_/ { n++; if ($2 == 0) print $1 " did not run" }
        END { if (n < 25) print n + 0 " shaders" }' "$dir/dispatches" >&2
    ! [ -s "$dir/err" ]
}

claim "products and attention with values that F16 does not have" run
export GGMLBACKEND_VULKAN_TEST=no-narrow,int-dot,count
claim 'products by dot products of bytes' run dots
claim '  each shader of which ran' dots_ran
echo "1..$n"
