#!/bin/sh
# SPDX-License-Identifier: MIT
# tests/vulkan/ranges-cases on lavapipe, while the validation layer looks at each call.
. "$top_srcdir/tests/vulkan/lavapipe.sh"
. "$top_srcdir/tests/tools/claim.sh"
takes_long
[ -z "$layer" ] || export GGMLBACKEND_VULKAN_VALIDATE=1

run() {
    CMOCKA_MESSAGE_OUTPUT=TAP \
        "$top_builddir/tests/vulkan/ranges-cases" >"$dir/tap" 2>"$dir/messages"
    status=$?
    cat "$dir/messages" >&2
    [ "$status" -eq 0 ] && grep '^ok 5' "$dir/tap" &&
        ! grep 'vulkan validation:' "$dir/messages" >&2
}

claim "products and attention with values that F16 does not have" run
echo "1..$n"
