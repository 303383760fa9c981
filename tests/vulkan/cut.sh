#!/bin/sh
# SPDX-License-Identifier: MIT
# tests/vulkan/cut on lavapipe, with bindings that show 1 MiB, while the validation layer
# looks at each call.
. "$top_srcdir/tests/vulkan/lavapipe.sh"
. "$top_srcdir/tests/tools/claim.sh"
export GGMLBACKEND_VULKAN_TEST=small-range
[ -z "$layer" ] || export GGMLBACKEND_VULKAN_VALIDATE=1

run() {
    CMOCKA_MESSAGE_OUTPUT=TAP \
        "$top_builddir/tests/vulkan/run-cut" >"$dir/tap" 2>"$dir/messages"
    status=$?
    cat "$dir/messages" >&2
    [ "$status" -eq 0 ] && grep '^ok 4' "$dir/tap" &&
        ! grep 'vulkan validation:' "$dir/messages" >&2
}

claim "products whose operands are more than bindings show" run
echo "1..$n"
