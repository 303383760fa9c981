#!/bin/sh
# SPDX-License-Identifier: MIT
# tests/vulkan/recording-cases on lavapipe, with descriptors that are pushed and with ones from
# pools, with command buffers that are used again and without, in one submission and in
# many, while the validation layer looks at each call: with the same bits.
. "$top_srcdir/tests/vulkan/lavapipe.sh"
. "$top_srcdir/tests/tools/claim.sh"
takes_long
[ -z "$layer" ] || export GGMLBACKEND_VULKAN_VALIDATE=1

# run WORDS: all tests pass, and the layer says nothing.
run() {
    GGMLBACKEND_VULKAN_TEST="list,$1" GGMLBACKEND_TEST_BITS="$dir/bits-$1" \
        CMOCKA_MESSAGE_OUTPUT=TAP "$top_builddir/tests/vulkan/recording-cases" \
        >"$dir/tap" 2>"$dir/messages"
    status=$?
    grep 'vulkan validation:' "$dir/messages" >"$dir/invalid"
    head -n 5 "$dir/invalid" >&2
    grep '^# [0-9]' "$dir/messages" "$dir/tap"
    [ "$status" -eq 0 ] || {
        grep '^not ok' "$dir/tap"
        tail -n 20 "$dir/messages"
    } >&2
    [ "$status" -eq 0 ] && [ ! -s "$dir/invalid" ] &&
        [ "$(grep -c '^ok\|# SKIP who\|# SKIP no_sub\|# SKIP what' "$dir/tap")" -eq 12 ]
}

# same_bits WORDS: as those that are recorded each time.
same_bits() {
    [ -s "$dir/bits-$1" ] && cmp "$dir/bits-no-reuse" "$dir/bits-$1"
}

for words in no-reuse plain no-push one-submit many-submits many-submits,no-push; do
    claim "$words" run "$words"
    claim "$words: the same bits" same_bits "$words"
done
echo "1..$n"
