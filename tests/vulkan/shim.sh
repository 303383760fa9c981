#!/bin/sh
# SPDX-License-Identifier: MIT
# tests/vulkan/device, and a small model, on lavapipe as the shim changes it: other
# memory, queues and limits, two cards, submissions that begin late.  The validation layer
# looks at each call between the two, and the shim's book has nothing left at the end.
. "$top_srcdir/tests/vulkan/lavapipe.sh"
. "$top_srcdir/tests/tools/claim.sh"
takes_long
shim=$top_builddir/tests/vulkan/shim/.libs
[ -e "$shim/libvulkan.so.1" ] || skip_all 'no shim in this build'
[ -x "$top_builddir/ggmlbackend-run" ] || skip_all 'no ggmlbackend-run in this build'
[ -z "$layer" ] || export GGMLBACKEND_VULKAN_VALIDATE=1
model=$dir/tiny.gguf
"$top_builddir/examples/make-tiny-model" "$model" >/dev/null || exit 99

# shimmed NAME=VALUE... COMMAND...: on the shim, where VK_ stands for
# GGMLBACKEND_TEST_VK_.  The layer is silent, and nothing is left.
shimmed() {
    rm -f "$dir/counts"
    env LD_LIBRARY_PATH="$shim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
        GGMLBACKEND_TEST_VK_COUNTS="$dir/counts" "$@" 2>"$dir/messages" >"$dir/said"
    status=$?
    cat "$dir/said"
    {
        grep '^not ok' "$dir/said"
        grep 'vulkan validation:\|vulkan shim:' "$dir/messages" | sort -u | head -n 20
        [ "$status" -eq 0 ] || tail -n 5 "$dir/messages"
        grep -e '^live' -e '^bytes' -e '^reports' "$dir/counts" | grep -v ' 0'
    } >"$dir/wrong"
    cat "$dir/wrong" >&2
    [ "$status" -eq 0 ] && [ ! -s "$dir/wrong" ] && [ -s "$dir/counts" ]
}

# device NAME=VALUE...: all tests of bytes, order, events and failures pass.
device() {
    shimmed "$@" GGMLBACKEND_GPU_MEMORY=200M CMOCKA_MESSAGE_OUTPUT=TAP \
        "$top_builddir/tests/vulkan/device" &&
        [ "$(grep -c '^ok' "$dir/said")" -ge 12 ]
}

# answers NAME=VALUE...: the model has the text of the CPU.
answers() {
    shimmed "$@" "$top_builddir/ggmlbackend-run" -m "$model" --device Vulkan0 -n 6 -t 2 \
        -p 'the quick brown' >/dev/null && cmp "$dir/said" "$dir/text"
}
"$top_builddir/ggmlbackend-run" -m "$model" --device CPU -n 6 -t 2 -p 'the quick brown' \
    >"$dir/text" 2>/dev/null || exit 99

limits=GGMLBACKEND_TEST_VK_LIMITS
late=GGMLBACKEND_TEST_VK_LATE=1

claim 'memory that is not mapped, and another family for copies' \
    device $limits=types:2,families:2
claim 'late, with that' device $late $limits=types:2,families:2
claim 'late, in memory that is mapped' device $late
claim 'late' answers $late
claim 'little of the memory that is mapped, and bindings of 1 MiB' \
    answers $limits=types:3,families:3,range:1048576
claim 'descriptors from pools, a short grid, and large subgroups' \
    answers GGMLBACKEND_TEST_VK_WITHOUT=VK_KHR_push_descriptor $limits=groups:100,subgroup:64
# passes PROGRAM: the tests that it has for lavapipe.
passes() {
    CMOCKA_MESSAGE_OUTPUT=TAP "$top_builddir/tests/vulkan/$1" lavapipe >"$dir/tap" &&
        grep '^ok' "$dir/tap"
}

claim 'two cards and the CPU' passes cards
claim 'a client of its own Vulkan, the module twice, and forks' passes neighbours
claim 'a model, and a device that is lost' passes model-failures
if [ -n "$GGMLBACKEND_TEST_ALL" ]; then
    for limit in types:2 types:3 families:2 families:3 range:1048576 groups:100 subgroup:4 \
        subgroup:128 alignment:256 allocation:20000000 push:128 bindings:8 shared:16384 \
        invocations:256; do
        claim "$limit" device $limits=$limit
        claim "$limit" answers $limits=$limit
        claim "$limit, late" device $late $limits=$limit
        claim "$limit, late" answers $late $limits=$limit
    done
fi

# Without barriers the layer has something to say, which programs hand on.
heard() {
    env LD_LIBRARY_PATH="$shim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" $limits=loose \
        "$top_builddir/ggmlbackend-run" -m "$model" --device Vulkan0 -n 1 -t 1 \
        -p 'the quick' 2>&1 | grep 'vulkan validation: .*\(SYNC-HAZARD\|hazard detected\)'
}
[ -z "$layer" ] || claim 'what the layer says is heard' heard

# ---- memory, on the null driver ----

# leakless COMMAND...: it has no fault of memory under valgrind, and leaves nothing.
leakless() {
    env LD_LIBRARY_PATH="$shim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
        GGMLBACKEND_TEST_VK_NULL=1 GGMLBACKEND_VULKAN_VALIDATE= \
        "$top_builddir/libtool" --mode=execute valgrind -q --error-exitcode=9 \
        --leak-check=full --errors-for-leak-kinds=definite,possible "$@"
}

# Each n takes too long there: those of the seed.
sampled() (
    unset GGMLBACKEND_TEST_ALL
    leakless "$@"
)

# It ends where it cannot read what a compiler wrote for debuggers.
if [ -x "$top_builddir/libtool" ] && command -v valgrind >/dev/null &&
    "$top_builddir/libtool" --mode=execute valgrind -q "$top_builddir/ggmlbackend-run" \
        --version >/dev/null 2>&1; then
    claim 'a model under valgrind' leakless "$top_builddir/ggmlbackend-run" -m "$model" \
        --device Vulkan0 -n 2 -t 1 -p 'the quick'
    [ -z "$GGMLBACKEND_TEST_ALL" ] ||
        claim 'two cards and their failures' sampled "$top_builddir/tests/vulkan/cards"
else
    skip 'under valgrind'
fi

# little_memory: one line says what is missing.
little_memory() {
    ! shimmed $limits=heap:200000 "$top_builddir/ggmlbackend-run" -m "$model" \
        --device Vulkan0 -n 2 -p 'the quick' 2>/dev/null &&
        [ "$(grep -v warning: "$dir/messages" | wc -l)" -eq 1 ] &&
        grep 'Vulkan0: no memory for .*VK_ERROR_OUT_OF_DEVICE_MEMORY' \
            "$dir/messages" && grep '^live 0' "$dir/counts" && grep '^bytes 0' "$dir/counts"
}
claim 'a card that is too small' little_memory

# ---- which devices are listed, on the null driver ----

# info [NAME=VALUE...]: what ggmlbackend-info says.
info() {
    env LD_LIBRARY_PATH="$shim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" GGMLBACKEND_TEST_VK_NULL=1 \
        GGMLBACKEND_VULKAN_SOFTWARE= GGMLBACKEND_VULKAN_VALIDATE= GGMLBACKEND_LOG=info "$@" \
        "$top_builddir/ggmlbackend-info"
}

# lacks REASON NAME=VALUE...: no device is listed, which is no failure, for a reason.
lacks() {
    reason=$1
    shift
    claim "not listed: $reason" info "$@"
    says '  nor anything of its kind' [ -z "$(grep '^Vulkan' "$dir/out")" ]
    says '  said so' grep -e "^refused: .*does not work here: .*$reason" "$dir/out"
}

claim 'a card' info
says '  is Vulkan0' grep '^Vulkan0: null' "$dir/out"
lacks 'it has Vulkan 1.1, and 1.2 is needed' $limits=version:0x401000
lacks 'it has no timeline semaphores' GGMLBACKEND_TEST_VK_WITHOUT=timelineSemaphore
lacks 'it has no queue that computes' GGMLBACKEND_TEST_VK_WITHOUT=compute
lacks 'it is software' $limits=type:4
lacks 'at most 128 invocations in a work group, and 256 are needed' $limits=invocations:128
lacks 'at most 4 storage buffers in a shader, and 8 are needed' $limits=bindings:4
lacks 'at most 64 bytes of push constants, and 128 are needed' $limits=push:64
lacks 'at most 8192 bytes of shared memory, and 16384 are needed' $limits=shared:8192
claim 'two cards' info GGMLBACKEND_TEST_VK_CARDS=2
says '  are Vulkan0 and Vulkan1' [ "$(grep -c '^Vulkan[01]: null' "$dir/out")" -eq 2 ]
claim 'a card by two drivers' info GGMLBACKEND_TEST_VK_CARDS=2 GGMLBACKEND_TEST_VK_WITHOUT=uuid
says '  is listed once' [ "$(grep -c '^Vulkan' "$dir/out")" -eq 1 ]
claim 'two GPUs without a UUID' \
    info GGMLBACKEND_TEST_VK_CARDS=2 GGMLBACKEND_TEST_VK_WITHOUT=any-uuid
says '  are two' [ "$(grep -c '^Vulkan[01]: null' "$dir/out")" -eq 2 ]
says '  and none is made up' [ -z "$(grep 'UUID' "$dir/out")" ]
claim '  at one place' \
    info GGMLBACKEND_TEST_VK_CARDS=2 GGMLBACKEND_TEST_VK_WITHOUT=uuid,any-uuid
says '  are one' [ "$(grep -c '^Vulkan' "$dir/out")" -eq 1 ]
claim '  without a place either' info GGMLBACKEND_TEST_VK_CARDS=2 \
    GGMLBACKEND_TEST_VK_WITHOUT=uuid,any-uuid,VK_EXT_pci_bus_info
says '  are two' [ "$(grep -c '^Vulkan[01]: null' "$dir/out")" -eq 2 ]
echo "1..$n"
