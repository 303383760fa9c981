#!/bin/sh
# SPDX-License-Identifier: MIT
# tests/vulkan/edited-cases on lavapipe: nodes and graphs that a client changed after they
# were built, with bindings of any size and with small ones, for which nodes are cut into
# parts.
. "$top_srcdir/tests/vulkan/lavapipe.sh"
. "$top_srcdir/tests/tools/claim.sh"
takes_long

# run WORDS: all tests pass.
run() {
    GGMLBACKEND_VULKAN_TEST="$1" CMOCKA_MESSAGE_OUTPUT=TAP \
        "$top_builddir/tests/vulkan/edited-cases" >"$dir/tap" 2>"$dir/messages"
    status=$?
    [ "$status" -eq 0 ] || { cat "$dir/tap" && tail -n 20 "$dir/messages"; } >&2
    [ "$status" -eq 0 ] && [ "$(grep -c '^ok' "$dir/tap")" -ge 5 ]
}

for words in plain tiny-range; do
    claim "$words" run "$words"
done
echo "1..$n"
