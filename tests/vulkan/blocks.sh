#!/bin/sh
# SPDX-License-Identifier: MIT
# tests/vulkan/blocks-cases on lavapipe, with vectors of three lengths, while the validation
# layer looks at each call.
. "$top_srcdir/tests/vulkan/lavapipe.sh"
. "$top_srcdir/tests/tools/claim.sh"
takes_long
[ -z "$layer" ] || export GGMLBACKEND_VULKAN_VALIDATE=1

# run BITS: the bytes are the library's, and the layer says nothing.
run() {
    LP_NATIVE_VECTOR_WIDTH="$1" CMOCKA_MESSAGE_OUTPUT=TAP \
        "$top_builddir/tests/vulkan/blocks-cases" >"$dir/tap" 2>"$dir/messages"
    status=$?
    cat "$dir/messages" >&2
    [ "$status" -eq 0 ] && grep '^ok 1' "$dir/tap" &&
        ! grep 'vulkan validation:' "$dir/messages" >&2
}

for bits in 128 256 512; do
    claim "vectors of $bits bits" run "$bits"
done
echo "1..$n"
