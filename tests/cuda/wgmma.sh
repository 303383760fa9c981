#!/bin/sh
# SPDX-License-Identifier: MIT
# Kernel variant wgmma wants maps of tensors from the driver: which variant a card
# has with and without, and which kernels run.
top_builddir=$(cd "$top_builddir" && pwd)
module=$top_builddir/tests/cuda/.libs/libggml-cuda.so
if ! [ -f "$module" ] ||
    ! [ -f "$top_builddir/tests/gpu-emulator/lanes32/.libs/libcuda.so.1" ]; then
    echo '1..0 # SKIP no module, or no emulated driver, in this build'
    exit 0
fi
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
. "$top_srcdir/tests/tools/claim.sh"
export top_builddir GGML_BACKEND_PATH="$module"
export GGMLBACKEND_TEST_EMU_TABLE="$dir/table"
export GGMLBACKEND_TEST_EMU_REPORT="$dir/reports"

# emulated PROGRAM ARGUMENT…: on the emulated driver.
emulated() {
    program=$1
    shift
    sh "$top_srcdir/tests/gpu-emulator/run" "$top_builddir/$program" "$@"
}

# products: a few of each kind; the table has their kernels.
products() {
    rm -f "$dir/table"
    for op in MUL_MAT MUL_MAT_ID; do
        emulated ggmlbackend-conformance --device CUDA0 --op $op --part 3/40 ||
            return
    done
}

# attention: of prompts, with as many keys as no step ends with.
attention() {
    rm -f "$dir/table"
    emulated ggmlbackend-conformance --device CUDA0 --op FLASH_ATTN_EXT \
        --case 'f16\[(64|128),(257|513),'
}

# variant NAME: that of the card.
variant() {
    emulated ggmlbackend-info >"$dir/info" 2>&1
    grep -q "^ *variant: $1\$" "$dir/info"
}

claim "a card of 9.0 has wgmma" variant wgmma
claim "products pass" products
says "by kernels of wgmma" grep -q '^gb_wgmma_gemm' "$dir/table"
says "and none of mma8" sh -c '! grep -q ^gb_mma8_gemm "$1"' - "$dir/table"
claim "attention passes" attention
says "by kernels of wgmma" grep -q '^gb_wgmma_attention_128' "$dir/table"

export GGMLBACKEND_TEST_EMU_MISSING=cuTensorMapEncodeTiled
claim "without the entry point it has mma8" variant mma8
says "which is told" grep -q 'has no cuTensorMapEncodeTiled: .* mma8 instead of' \
    "$dir/info"
claim "products pass" products
says "by kernels of mma8" grep -q '^gb_mma8_gemm' "$dir/table"
says "and none of wgmma" sh -c '! grep -q ^gb_wgmma_gemm "$1"' - "$dir/table"
claim "attention passes" attention
says "by kernels of mma8" grep -q '^gb_mma8_attention_128' "$dir/table"
says "and none of wgmma" sh -c '! grep -q ^gb_wgmma_ "$1"' - "$dir/table"
claim "nothing was reported" sh -c '! [ -s "$1" ]' - "$dir/reports"
echo "1..$n"
