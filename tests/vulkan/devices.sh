#!/bin/sh
# SPDX-License-Identifier: MIT
# tests/vulkan/device on lavapipe: in memory that is mapped and in memory that is not,
# with descriptors that are pushed and with ones from pools, while the validation layer
# looks at each call.
. "$top_srcdir/tests/vulkan/lavapipe.sh"
. "$top_srcdir/tests/tools/claim.sh"
[ -z "$layer" ] || export GGMLBACKEND_VULKAN_VALIDATE=1

# run WORDS: all tests pass, and the layer says nothing.
run() {
    GGMLBACKEND_VULKAN_TEST="$1" GGMLBACKEND_GPU_MEMORY=200M CMOCKA_MESSAGE_OUTPUT=TAP \
        "$top_builddir/tests/vulkan/device" >"$dir/tap" 2>"$dir/messages"
    status=$?
    {
        grep '^not ok' "$dir/tap"
        grep 'vulkan validation:' "$dir/messages" | sort -u | head -n 20
        grep -A 3 'is not\|!=' "$dir/messages" | head -n 20
    } >"$dir/wrong"
    [ "$status" -eq 0 ] || cat "$dir/wrong" >&2
    [ "$status" -eq 0 ] && [ "$(grep -c '^ok' "$dir/tap")" -ge 16 ] &&
        ! grep 'vulkan validation:' "$dir/messages" >&2
}

for words in plain staging no-push staging,no-push; do
    claim "$words" run "$words"
done
echo "1..$n"
