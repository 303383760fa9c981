#!/bin/sh
# SPDX-License-Identifier: MIT
# tests/vulkan/memory-cases on lavapipe: in memory that is mapped and in memory that is
# not, with a queue for copies, with little memory, where the client's memory can be
# used, in pieces or whole, and where it cannot, while the validation layer looks at each
# call; and a model's weights where the mapped file has them.
. "$top_srcdir/tests/vulkan/lavapipe.sh"
takes_long
. "$top_srcdir/tests/tools/claim.sh"
[ -z "$layer" ] || export GGMLBACKEND_VULKAN_VALIDATE=1

# run WORDS MIB [VARIABLE=VALUE]...: no test fails, all but a number of SKIPPED ones run,
# and the layer says nothing.
run() {
    words=$1 mib=$2
    shift 2
    env "$@" GGMLBACKEND_VULKAN_TEST="$words" CMOCKA_MESSAGE_OUTPUT=TAP \
        "$top_builddir/tests/vulkan/memory-cases" "$mib" >"$dir/tap" 2>"$dir/messages"
    status=$?
    skipped=$(grep -ci '^\(not \)*ok.*# skip' "$dir/tap")
    if [ "$status" -ne 0 ]; then
        grep '^not ok' "$dir/tap" >&2
        head -n 20 "$dir/messages" >&2
    fi
    [ "$status" -eq 0 ] &&
        [ "$(grep -i '^ok' "$dir/tap" | grep -vci '# skip')" -eq $((9 - skipped)) ] &&
        ! grep 'vulkan validation:' "$dir/messages" >&2
}

# Which tests do not apply is known.
plain() {
    run plain 300 && [ "$skipped" -eq 2 ]
}

staging() {
    run staging 3 && [ "$skipped" -eq 2 ]
}

small_range() {
    run "$1" 2 && [ "$skipped" -eq 2 ]
}

# Each queue waits for the other by semaphores.
copy_queue() {
    run transfer,staging 1
}

little() {
    run "$1" 1 GGMLBACKEND_GPU_MEMORY=200M GGML_VK_SUBALLOCATION_BLOCK_SIZE=100M \
        GGML_VK_FORCE_MAX_ALLOCATION_SIZE=180M &&
        [ "$skipped" -eq 0 ] && grep -q 'ordinary memory instead' "$dir/messages"
}

# 9 MiB of the client's in pieces of 2, which are copied so often.
in_pieces() {
    GGML_VK_FORCE_MAX_ALLOCATION_SIZE=2M GGMLBACKEND_VULKAN_TEST="$1" \
        CMOCKA_MESSAGE_OUTPUT=TAP "$top_builddir/tests/vulkan/memory-cases" 1 'weights_*' \
        >"$dir/tap" 2>"$dir/messages"
    status=$?
    [ "$status" -eq 0 ] && [ "$(grep '^ok' "$dir/tap" | grep -vci '# skip')" -eq 1 ] &&
        ! grep 'validation:' "$dir/messages" >&2 &&
        [ "$(grep -c 'are copied' "$dir/messages")" -eq "$2" ]
}

no_import() {
    run no-import 1 && [ "$skipped" -eq 4 ]
}

failed_import() {
    run "$1" 1 && [ "$skipped" -eq 2 ] &&
        [ "$(grep -c 'cannot be used where they are, and are copied' "$dir/messages")" -ge 2 ]
}

claim 'mapped memory, and tensors of 300 MiB' plain
claim 'memory that is not mapped' staging
claim 'a queue for copies' copy_queue
claim 'bindings of 16 KiB' small_range tiny-range,no-push
claim 'little memory that is not mapped' little staging
claim 'the memory of the client in pieces' in_pieces plain 0
claim 'copies of it in pieces' in_pieces failed-import 1
claim 'copies of it in pieces that are not mapped' in_pieces failed-import,staging 1
claim 'no use of the memory of the client' no_import
claim 'a copy of the memory of the client' failed_import failed-import,staging

# The tool maps a model, and says if it was copied.
model=$dir/tiny.gguf
generate() {
    "$top_builddir/ggmlbackend-run" -m "$model" --device "$1" -n 12 -t 2 \
        -p 'the quick brown' 2>"$dir/said" >"$dir/text-$1"
}

mapped_model() {
    "$top_builddir/examples/make-tiny-model" "$model" >/dev/null || return 1
    generate CPU && generate Vulkan0 && cmp "$dir/text-CPU" "$dir/text-Vulkan0" &&
        ! grep 'validation:\|are copied' "$dir/said" >&2 &&
        GGMLBACKEND_VULKAN_TEST=failed-import generate Vulkan0 &&
        cmp "$dir/text-CPU" "$dir/text-Vulkan0" && grep 'are copied' "$dir/said"
}

if [ -x "$top_builddir/examples/make-tiny-model" ] && [ -x "$top_builddir/ggmlbackend-run" ]; then
    claim 'weights in a mapped file' mapped_model
fi
echo "1..$n"
