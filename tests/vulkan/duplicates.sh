#!/bin/sh
# SPDX-License-Identifier: MIT
# A card that another backend lists already is left out, and listed where that is asked
# for: an emulated card of CUDA's says that it is lavapipe.
. "$top_srcdir/tests/vulkan/lavapipe.sh"
. "$top_srcdir/tests/tools/claim.sh"
other=$top_builddir/tests/cuda/.libs/libggml-cuda.so
[ -n "$module" ] || skip_all 'Vulkan is built in, and asked before modules are loaded'
[ -f "$other" ] && [ -f "$top_builddir/tests/gpu-emulator/lanes32/.libs/libcuda.so.1" ] ||
    skip_all 'no module, or no emulated driver, in this build'
mkdir "$dir/modules"
ln -s "$other" "$module" "$dir/modules"
export GGMLBACKEND_MODULE_PATH="$dir/modules"
unset GGML_BACKEND_PATH

# info [NAME=VALUE...]: what ggmlbackend-info says.
info() {
    env top_builddir="$top_builddir" "$@" "$top_srcdir/tests/gpu-emulator/run" \
        "$top_builddir/ggmlbackend-info"
}

# has NAME...: just these devices are listed besides the CPU.
has() {
    printf '%s\n' "$@" >"$dir/wanted"
    sed -n 's/^\(CUDA[0-9]*\|Vulkan[0-9]*\): .*/\1/p' "$dir/out" | diff "$dir/wanted" - >&2
}

claim 'another card' info
says '  leaves both' has CUDA0 Vulkan0
uuid=$(sed -n '/^Vulkan0/,/^$/s/^.*UUID.*GPU-//p' "$dir/out" | tr -d -)
says '  and lavapipe has an UUID' [ "${#uuid}" -eq 32 ]

claim 'the same card' info GGMLBACKEND_TEST_EMU_UUID="$uuid"
says '  is listed once' has CUDA0
says '  with the reason' grep \
    'it is CUDA0 already; GGMLBACKEND_VULKAN_DUPLICATES=1 lists it too' "$dir/out"
claim 'the same card, asked for twice' info GGMLBACKEND_TEST_EMU_UUID="$uuid" \
    GGMLBACKEND_VULKAN_DUPLICATES=1
says '  is listed twice' has CUDA0 Vulkan0
claim 'asked for with 0, which is no' info GGMLBACKEND_TEST_EMU_UUID="$uuid" \
    GGMLBACKEND_VULKAN_DUPLICATES=0
says '  is listed once' has CUDA0
echo "1..$n"
