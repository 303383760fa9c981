#!/bin/sh
# SPDX-License-Identifier: MIT
# The HIP module on the emulated run time: cases of ggmlbackend-conformance pass at
# both of its kernel variants, on cards whose waves have 32 and 64 lanes, in three
# orders of threads, while each access of a kernel's is looked at.  The kernels are
# those of tests/cuda/conformance.sh; what is new here is how they are called.
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

# run ARCH LANES ORDER VARIANT PART: no case fails or is refused, nothing is reported.
run() {
    export GGMLBACKEND_TEST_EMU_ARCH="$1"
    export GGMLBACKEND_TEST_EMU_LANES="$2" GGMLBACKEND_TEST_EMU_ORDER="$3"
    export GGMLBACKEND_GPU_VARIANT="$4" GGMLBACKEND_TEST_EMU_REPORT="$dir/reports"
    : >"$dir/reports"
    sh "$top_srcdir/tests/gpu-emulator/run" "$top_builddir/ggmlbackend-conformance" \
        --device ROCm0 --part "$5" >"$dir/cases" 2>"$dir/messages"
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
        awk '$1 == "all" && $2 >= 300 { ok = 1 } END { exit !ok }' "$dir/cases"
}

while read -r arch lanes order variant part; do
    [ -z "${GGMLBACKEND_TEST_ALL-}" ] || part=1/1
    claim "$arch, $lanes lanes, order $order, $variant, part $part" \
        run "$arch" "$lanes" "$order" "$variant" "$part"
    echo "# $(awk '$1 == "all" { print $2 }' "$dir/cases") cases"
done <<'END'
gfx906  64 0 dot4  1/48
gfx90a  64 1 dot4  14/48
gfx942  64 2 plain 27/48
gfx1030 32 2 dot4  40/48
gfx1100 32 1 dot4  8/48
gfx1100 32 0 plain 21/48
END
echo "1..$n"
