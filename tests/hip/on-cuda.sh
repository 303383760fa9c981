#!/bin/sh
# SPDX-License-Identifier: MIT
# HIP's names over a driver of CUDA's (tests/gpu-emulator/hip-on-cuda.cpp), which is the
# emulated one here: the HIP module runs a part of the conformance cases on it, and
# programs of the other tests.  make check-gpu has the same over NVIDIA's driver.
top_builddir=$(cd "$top_builddir" && pwd)
below=$top_builddir/tests/gpu-emulator/lanes32/.libs
over=$top_builddir/tests/gpu-emulator/hip-on-cuda/.libs
module=$top_builddir/tests/hip/.libs/libggml-hip.so
for file in "$module" "$below/libcuda.so.1" "$over/libamdhip64.so.6"; do
    if ! [ -f "$file" ]; then
        echo '1..0 # SKIP no module, or no emulated driver, in this build'
        exit 0
    fi
done
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
. "$top_srcdir/tests/tools/claim.sh"
LD_LIBRARY_PATH=$over:$below${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export top_builddir LD_LIBRARY_PATH GGML_BACKEND_PATH="$module"
# Two matrices whose rows lie far apart have 4 GiB each.
export GGMLBACKEND_TEST_EMU_MEMORY=17179869184 GGMLBACKEND_TEST_EMU_NAME=Below

# The card is the other driver's, under an architecture of HIP's.
names() {
    "$top_builddir/ggmlbackend-info" >"$dir/info" &&
        grep '^ROCm0: Below' "$dir/info" && grep gfx1030 "$dir/info" &&
        ! grep '^CUDA' "$dir/info"
}
claim 'the card has the names of both' names

# run VARIANT PART: no case fails or is refused, nothing is reported, and kernels of
# the variant ran on the driver below, none above it.
run() {
    export GGMLBACKEND_GPU_VARIANT="$1" GGMLBACKEND_TEST_EMU_REPORT="$dir/reports"
    export GGMLBACKEND_TEST_EMU_TABLE="$dir/kernels"
    : >"$dir/reports"
    rm -f "$dir/kernels"
    "$top_builddir/ggmlbackend-conformance" --device ROCm0 --part "$2" \
        >"$dir/cases" 2>"$dir/messages"
    status=$?
    # The client's own functions are the client's to run.
    {
        grep -e FAILED -e hip-on-cuda "$dir/messages" | head -n 20
        head -n 20 "$dir/reports"
        awk '$4 + 0 > 0 && $1 != "all" && $1 !~ /^MAP_/ {
            print $1 ": " $4 " cases are refused" }' "$dir/cases"
        grep -e mma -e matrix "$dir/kernels"
    } >"$dir/wrong"
    cat "$dir/wrong" >&2
    [ "$status" -eq 0 ] && ! [ -s "$dir/wrong" ] &&
        [ "$(wc -l <"$dir/kernels")" -ge 50 ] &&
        awk '$1 == "all" && $2 >= 300 { ok = 1 } END { exit !ok }' "$dir/cases"
}

while read -r variant part; do
    [ -z "${GGMLBACKEND_TEST_ALL-}" ] || part=1/1
    claim "$variant, part $part" run "$variant" "$part"
    echo "# $(awk '$1 == "all" { print $2 }' "$dir/cases") cases"
done <<'END'
dot4  5/64
plain 37/64
END

# Layers and a model, graphs that are recorded and changed, two cards.
unset GGMLBACKEND_GPU_VARIANT GGMLBACKEND_TEST_EMU_MEMORY GGMLBACKEND_TEST_EMU_NAME
unset GGMLBACKEND_TEST_EMU_TABLE GGML_BACKEND_PATH
export GGMLBACKEND_TEST_HIP_ON_CUDA=1
for program in bits buffers copies moved plans; do
    if [ -f "$top_builddir/tests/hip/$program" ]; then
        claim "tests/hip/$program" "$top_builddir/tests/hip/$program"
    else
        skip "tests/hip/$program is not built"
    fi
done
echo "1..$n"
