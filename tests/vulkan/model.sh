#!/bin/sh
# SPDX-License-Identifier: MIT
# A language model with random weights, wholly on lavapipe: the text of the CPU, and its
# perplexity but for what activations of 8 bits, which the CPU has, make of it.
. "$top_srcdir/tests/vulkan/lavapipe.sh"
. "$top_srcdir/tests/tools/claim.sh"
[ -x "$top_builddir/examples/make-tiny-model" ] || skip_all 'no examples in this build'
[ -x "$top_builddir/ggmlbackend-run" ] || skip_all 'no ggmlbackend-run in this build'
[ -z "$layer" ] || export GGMLBACKEND_VULKAN_VALIDATE=1
model=$dir/tiny.gguf
"$top_builddir/examples/make-tiny-model" "$model" >/dev/null || exit 99
awk 'BEGIN { for (i = 0; i < 60; i++) print "the quick brown fox number", i }' >"$dir/text"

# generate DEVICE: 12 tokens.
generate() {
    "$top_builddir/ggmlbackend-run" -m "$model" --device "$1" -n 12 -t 2 \
        -p 'the quick brown' 2>"$dir/said-$1" >"$dir/text-$1"
}

# perplexity DEVICE: of 48 tokens, in a file.
perplexity() {
    "$top_builddir/ggmlbackend-run" -m "$model" --device "$1" -t 2 -c 48 --chunks 1 \
        --perplexity "$dir/text" 2>>"$dir/said-$1" >"$dir/perplexity-$1"
}

same_text() {
    generate CPU && generate Vulkan0 && [ -s "$dir/text-CPU" ] &&
        cmp "$dir/text-CPU" "$dir/text-Vulkan0"
}

near_perplexity() {
    perplexity CPU && perplexity Vulkan0 &&
        cat "$dir/perplexity-CPU" "$dir/perplexity-Vulkan0" >&2 &&
        number() { grep -o '[0-9][0-9]*\.[0-9]*' "$dir/perplexity-$1" | tail -n 1; } &&
        awk -v a="$(number CPU)" -v b="$(number Vulkan0)" 'BEGIN {
            exit !(a > 1 && b > a * 0.995 && b < a * 1.005) }'
}

# logits PROMPT: what the model makes of it, to the last bit.
logits() {
    "$top_builddir/ggmlbackend-run" -m "$model" --device Vulkan0 -n 1 -t 2 -p "$1" \
        --json --logits 2>>"$dir/said-Vulkan0" | sed 's/.*"logits"/"logits"/'
}

# Groups of operations change nothing: of a few tokens, and of many.
same_logits() {
    for prompt in the 'the quick brown fox jumps over it'; do
        logits "$prompt" >"$dir/logits-on"
        GGMLBACKEND_GPU_FUSE=off logits "$prompt" >"$dir/logits-off"
        grep -q '"logits": \[[-0-9.e]*, ' "$dir/logits-on" &&
            cmp "$dir/logits-on" "$dir/logits-off" || return 1
    done
}

# The layer says nothing.
silent() {
    ! grep 'vulkan validation:' "$dir/said-Vulkan0" >&2
}

# A wait that is given up while the card still works: a status, and nothing of what it
# works on is taken from it.
given_up() {
    status=0
    GGMLBACKEND_VULKAN_TEST=impatient generate Vulkan0 || status=$?
    [ "$status" -ge 1 ] && [ "$status" -lt 126 ] &&
        grep 'vkWaitSemaphores: VK_ERROR_DEVICE_LOST' "$dir/said-Vulkan0"
}

claim 'the same text' same_text
claim 'a perplexity within 0.5 %' near_perplexity
claim 'the same logits with groups of operations and without' same_logits
claim 'nothing is said of a wrong call' silent
claim 'a card that is given up fails the graph alone' given_up
claim 'nothing is said of a wrong call then' silent
echo "1..$n"
