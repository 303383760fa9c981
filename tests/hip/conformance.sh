#!/bin/sh
# SPDX-License-Identifier: MIT
# The HIP module on the emulated run time: cases of ggmlbackend-conformance pass at
# each of its kernel variants, on cards whose waves have 32 and 64 lanes, in three
# orders of threads, while each access of a kernel's is looked at.  Most kernels are
# those of tests/cuda/conformance.sh; those of matrix cores are run here alone, each
# with 32 and with 64 lanes.
#
# A run takes a part of the cases, another one each; with GGMLBACKEND_TEST_ALL set all
# of them are run each time (make check-gpu-long).
top_builddir=$(cd "$top_builddir" && pwd)
module=$top_builddir/tests/hip/.libs/libggml-hip.so
if ! [ -f "$module" ] ||
    ! [ -f "$top_builddir/tests/gpu-emulator/lanes32/.libs/libamdhip64.so.6" ]; then
    echo '1..0 # SKIP no module, or no emulated run time, in this build'
    exit 0
fi
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
. "$top_srcdir/tests/tools/claim.sh"
export top_builddir GGML_BACKEND_PATH="$module"
# Two matrices whose rows lie far apart have 4 GiB each.
export GGMLBACKEND_TEST_EMU_MEMORY=17179869184
export GGMLBACKEND_TEST_EMU_TABLE="$dir/table"

# Products of more than 64 rows and columns, each type among them.
many='([0-9]{3,}|6[5-9]|[7-9][0-9])'
large="^MUL_MAT -> f32.$many,$many,"

# run ARCH LANES ORDER VARIANT PART [OPERATION [UNITS]]: no case fails or is refused,
# nothing is reported, and there are as many cases as such a part has.  PART may be
# large.
run() {
    export GGMLBACKEND_TEST_EMU_ARCH="$1"
    export GGMLBACKEND_TEST_EMU_LANES="$2" GGMLBACKEND_TEST_EMU_ORDER="$3"
    export GGMLBACKEND_GPU_VARIANT="$4" GGMLBACKEND_TEST_EMU_REPORT="$dir/reports"
    export GGMLBACKEND_TEST_EMU_SMS="${7:-4}"
    : >"$dir/reports"
    option=--part value=$5
    [ "$5" != large ] || option='--case' value=$large
    top_builddir=${build:-$top_builddir} sh "$top_srcdir/tests/gpu-emulator/run" \
        "$top_builddir/ggmlbackend-conformance" --device ROCm0 $option "$value" \
        ${6:+--op "$6"} >"$dir/cases" 2>"$dir/messages"
    status=$?
    # The client's own functions are the client's to run.
    {
        grep -m 20 FAILED "$dir/messages"
        head -n 20 "$dir/reports"
        awk '$4 + 0 > 0 && $1 != "all" && $1 !~ /^MAP_/ {
            print $1 ": " $4 " cases are refused" }' "$dir/cases"
    } >"$dir/wrong"
    cat "$dir/wrong" >&2
    [ "$status" -eq 0 ] && ! [ -s "$dir/wrong" ] &&
        awk -v least="$([ -n "${6-}" ] && echo 50 || echo 300)" \
            '$1 == "all" && $2 >= least { ok = 1 } END { exit !ok }' "$dir/cases"
}

# A card of one unit is filled by large tiles at once.
while read -r arch lanes order variant part operation units; do
    [ -z "${GGMLBACKEND_TEST_ALL-}" ] || part=1/1
    claim "$arch, $lanes lanes, order $order, $variant, part $part${operation:+ of }$operation" \
        run "$arch" "$lanes" "$order" "$variant" "$part" "$operation" "$units"
    echo "# $(awk '$1 == "all" { print $2 }' "$dir/cases") cases"
done <<'END'
gfx906  64 0 dot4  1/64
gfx90a  64 1 mfma  14/64
gfx942  64 2 mfma  27/64
gfx942  64 0 plain 33/64
gfx1030 32 2 dot4  40/64
gfx1100 32 1 wmma  8/64
gfx1200 32 2 wmma  51/64
gfx1100 32 0 plain 21/64
gfx90a  64 2 mfma  1/16 MUL_MAT
gfx90a  64 1 mfma  large MUL_MAT 1
gfx942  64 0 mfma  large MUL_MAT 1
gfx1100 32 0 wmma  2/16 MUL_MAT
gfx1200 32 1 wmma  3/16 MUL_MAT
gfx942  64 0 mfma  1/6  FLASH_ATTN_EXT
gfx1100 32 2 wmma  2/6  FLASH_ATTN_EXT
gfx1200 32 1 wmma  3/6  FLASH_ATTN_EXT
END

# by_blas ARCH PART: products, by the emulated BLAS where it may do them.  It lies beside
# the run time, with its files; columns are rescaled behind its products alone.
by_blas() {
    build=$dir/rocm
    folder=$build/tests/gpu-emulator/lanes32/.libs
    mkdir -p "$folder/rocblas/library" || return 1
    ln -s "$top_builddir/tests/gpu-emulator/lanes32/.libs/"lib*.so.* \
        "$top_builddir/tests/gpu-emulator/.libs/librocblas.so.4" "$folder" || return 1
    touch "$folder/rocblas/library/TensileLibrary_lazy_$1.dat" \
        "$folder/rocblas/library/Kernels.so-000-$1.hsaco"
    export GGMLBACKEND_GPU_BLAS=auto
    run "$1" 32 0 wmma "$2" MUL_MAT && grep -q '^gb_rescale_columns ' "$dir/table"
}

part=${GGMLBACKEND_TEST_ALL:+1/1}
claim 'gfx1100, 32 lanes, products by the BLAS' by_blas gfx1100 "${part:-5/16}"
echo "# $(awk '$1 == "all" { print $2 }' "$dir/cases") cases"
unset build GGMLBACKEND_GPU_BLAS

# What measures a card is no operation's: ggmlbackend-bench launches it.
limits() {
    export GGMLBACKEND_TEST_EMU_ARCH="$1" GGMLBACKEND_TEST_EMU_LANES="$2"
    export GGMLBACKEND_TEST_EMU_REPORT="$dir/reports"
    unset GGMLBACKEND_GPU_VARIANT
    : >"$dir/reports"
    sh "$top_srcdir/tests/gpu-emulator/run" "$top_builddir/ggmlbackend-bench" \
        --device ROCm0 -s 0.000009 -k tiny/views && ! [ -s "$dir/reports" ]
}

claim 'limits of a card with MFMA' limits gfx90a 64
claim 'limits of a card with WMMA' limits gfx1100 32

# Each kernel of matrix cores: how often it ran with 32 and with 64 lanes.
{
    echo '#define GB_CUDA_KERNEL(file, name, args, threads, shared, variant) KERNEL name'
    echo '#include "backends/cuda/kernels/kernels.def"'
} >"$dir/kernels.c"
# shellcheck disable=SC2086
$CC -E -P -I"$top_srcdir" "$dir/kernels.c" | tr ' ' '\n' | sort -u >"$dir/all"
grep -e '^gb_matrix_' -e '^gb_limit_matrix_' "$dir/all" >"$dir/kernels"
grep '^gb_mfma_gemm_' "$dir/all" >"$dir/large"
awk 'NR == FNR { n[$1 " " $2] += $3; next }
    { printf "# %-36s %9d %9d\n", $1, n[$1 " 32"], n[$1 " 64"] }
    !n[$1 " 32"] || !n[$1 " 64"] { print $1 >never }
    ' never="$dir/never" "$dir/table" "$dir/kernels"
# Large tiles are for waves of 64 lanes alone.
awk '$1 ~ /^gb_mfma_gemm_/ && $2 == 64 && $3 > 0 { print $1 }' "$dir/table" | sort -u \
    >"$dir/large-ran"
large_ran() {
    [ "$(wc -l <"$dir/large")" -ge 23 ] && cmp "$dir/large" "$dir/large-ran"
}
claim 'all kernels of large tiles ran' large_ran
claim 'there are kernels of matrix cores' [ "$(wc -l <"$dir/kernels")" -ge 28 ]
touch "$dir/never"
each_ran() {
    [ -s "$dir/table" ] && cmp "$dir/never" /dev/null
}
claim 'each ran at each width' each_ran
sed 's/^/# never: /' "$dir/never"
echo "1..$n"
