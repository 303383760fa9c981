#!/bin/sh
# SPDX-License-Identifier: MIT
# The module on the emulated card: cases of ggmlbackend-conformance pass at each kernel
# variant, with warps of 32 and of 64 lanes, in three orders of threads, while each
# access of a kernel's is looked at; afterwards each kernel ran at both widths.
#
# A run takes a part of the cases, another one each, and two take those of kernels that
# few cases launch; with GGMLBACKEND_TEST_ALL set all of them are run at each variant and
# width, the orders in turn (make check-gpu-long).
#
# With GGMLBACKEND_TEST_LANES only the runs of that width are done, none with 0.  With
# GGMLBACKEND_TEST_OPERATION only the cases of that operation run, each in the run that
# it has otherwise; the first that fails is the last then, and kernels are not counted.
top_builddir=$(cd "$top_builddir" && pwd)
module=$top_builddir/tests/cuda/.libs/libggml-cuda.so
if ! [ -f "$module" ] ||
    ! [ -f "$top_builddir/tests/gpu-emulator/lanes32/.libs/libcuda.so.1" ]; then
    echo '1..0 # SKIP no module, or no emulated driver, in this build'
    exit 0
fi
if [ "${GGMLBACKEND_TEST_LANES-}" = 0 ]; then
    echo '1..0 # SKIP no lanes are asked for'
    exit 0
fi
only=${GGMLBACKEND_TEST_OPERATION-}
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
. "$top_srcdir/tests/tools/claim.sh"
export top_builddir GGML_BACKEND_PATH="$module"
export GGMLBACKEND_TEST_EMU_TABLE="$dir/table"
# Two matrices whose rows lie far apart have 4 GiB each.
export GGMLBACKEND_TEST_EMU_MEMORY=17179869184

# Kernels that few cases launch have all of these.
few='^((ARGMAX|ARGSORT|CROSS_ENTROPY|GET_ROWS_BACK|SUM_ROWS)|ROPE .*bf16'
few="$few|CPY -> (f32.256,3,2,2|q8_1)|GET_ROWS -> f32.(256|512),3,3,1"
few="$few|MUL_MAT -> f32\\[9,[0-9]*,2,1\\] b?f16)"

# Lanes, order of threads (0 as numbered, 1 reverse, 2 by chance), variant, part or few.
runs() {
    if [ -n "${GGMLBACKEND_TEST_ALL-}" ]; then
        cat <<'END'
32 0 wgmma 1/1
32 1 mma8  1/1
32 2 mma   1/1
32 0 dp4a  1/1
32 1 plain 1/1
64 2 dp4a  1/1
64 0 plain 1/1
END
        return
    fi
    cat <<'END'
32 0 wgmma 1/9
32 1 mma8  2/9
32 2 mma   3/9
32 0 mma8  4/9
32 1 dp4a  5/9
32 2 plain 6/9
64 0 dp4a  1/9
64 1 plain 4/9
64 2 plain 8/9
32 0 plain few
64 1 plain few
END
}

# run LANES ORDER VARIANT PART: no case fails or is refused, nothing is reported.
run() {
    export GGMLBACKEND_TEST_EMU_LANES="$1" GGMLBACKEND_TEST_EMU_ORDER="$2"
    export GGMLBACKEND_GPU_VARIANT="$3" GGMLBACKEND_TEST_EMU_REPORT="$dir/reports"
    : >"$dir/reports"
    case $4 in
    few) least=300 && set -- --case "$few" ;;
    *) least=500 && set -- --part "$4" ;;
    esac
    sh "$top_srcdir/tests/gpu-emulator/run" "$top_builddir/ggmlbackend-conformance" \
        --device CUDA0 "$@" ${only:+--op "$only"} \
        >"$dir/table.cases" 2>"$dir/messages"
    status=$?
    cases=$(awk '$1 == "all" { print $2 }' "$dir/table.cases")
    # The client's own functions are the client's to run.
    {
        grep -m 20 FAILED "$dir/messages"
        head -n 20 "$dir/reports"
        awk '$4 + 0 > 0 && $1 != "all" && $1 !~ /^MAP_/ {
            print $1 ": " $4 " cases are refused" }' "$dir/table.cases"
    } >&2
    [ "$status" -eq 0 ] && ! [ -s "$dir/reports" ] &&
        [ "${cases:-0}" -ge "$([ -n "$only" ] && echo 0 || echo "$least")" ] &&
        awk '$4 + 0 > 0 && $1 != "all" && $1 !~ /^MAP_/ { bad = 1 } END { exit bad }' \
            "$dir/table.cases"
}

runs | grep "^${GGMLBACKEND_TEST_LANES-}" >"$dir/runs"
while read -r lanes order variant part; do
    claim "$lanes lanes, order $order, $variant, part $part" \
        run "$lanes" "$order" "$variant" "$part"
    echo "# $cases cases"
    [ -z "$only" ] || [ "$status" -eq 0 ] || break
done <"$dir/runs"
if [ -n "$only" ]; then
    echo "1..$n"
    exit 0
fi

# by_blas VARIANT PART: products, by the emulated BLAS where it may do them.
by_blas() {
    GGMLBACKEND_GPU_BLAS=auto
    LD_LIBRARY_PATH=$top_builddir/tests/gpu-emulator/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export GGMLBACKEND_GPU_BLAS LD_LIBRARY_PATH
    only=MUL_MAT
    run 32 0 "$1" "$2"
}

if [ "${GGMLBACKEND_TEST_LANES-}" != 64 ]; then
    whole=${GGMLBACKEND_TEST_ALL:+1/1}
    claim '32 lanes, products by the BLAS, mma8' by_blas mma8 "${whole:-2/8}"
    claim '32 lanes, products by the BLAS, wgmma' by_blas wgmma "${whole:-1/8}"
fi

# What measures a card is no operation's: ggmlbackend-bench launches it.
limits() {
    export GGMLBACKEND_TEST_EMU_LANES="$1" GGMLBACKEND_GPU_VARIANT="$2"
    export GGMLBACKEND_TEST_EMU_REPORT="$dir/reports"
    : >"$dir/reports"
    sh "$top_srcdir/tests/gpu-emulator/run" "$top_builddir/ggmlbackend-bench" \
        --device CUDA0 -s 0.000009 -k tiny/views && ! [ -s "$dir/reports" ]
}

while read -r lanes variant; do
    claim "limits of a card, $lanes lanes, $variant" limits "$lanes" "$variant"
done <<END
$(printf '%s\n' '32 wgmma' '32 mma8' '32 mma' '32 plain' '64 plain' |
    grep "^${GGMLBACKEND_TEST_LANES-}")
END

# Each kernel of the table: how often it ran with 32 and with 64 lanes.  Matrix
# instructions are those of cards with 32; tests/hip has those of AMD's matrix cores.
{
    echo '#define GB_CUDA_KERNEL(file, name, args, threads, shared, variant) \'
    echo 'KERNEL name variant'
    echo '#include "backends/cuda/kernels/kernels.def"'
} >"$dir/kernels.c"
# shellcheck disable=SC2086
$CC -E -P -I"$top_srcdir" "$dir/kernels.c" | tr ' ' '\n' |
    awk '$1 == "KERNEL" { getline name; getline variant; print name, variant }' |
    grep -v -e '^gb_matrix_' -e '^gb_mfma_' -e '^gb_limit_matrix_' |
    sort -u >"$dir/kernels"
awk -v only="${GGMLBACKEND_TEST_LANES-}" '
    NR == FNR { n[$1 " " $2] += $3; next }
    {
        printf "# %-36s %9d %9d\n", $1, n[$1 " 32"], n[$1 " 64"]
        if ((only != 64 && !n[$1 " 32"]) ||
            (only != 32 && !n[$1 " 64"] && $2 !~ /M.?MA/))
            print $1 >never
    }' never="$dir/never" "$dir/table" "$dir/kernels"
claim 'there are kernels' [ "$(wc -l <"$dir/kernels")" -ge 100 ]
touch "$dir/never"
each_ran() {
    [ -s "$dir/table" ] && cmp "$dir/never" /dev/null
}
claim 'each ran at each width' each_ran
sed 's/^/# never: /' "$dir/never"
echo "1..$n"
