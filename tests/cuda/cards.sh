#!/bin/sh
# SPDX-License-Identifier: MIT
# make check-gpu: all cases of ggmlbackend-conformance on each of NVIDIA's cards at hand,
# at each kernel variant that it has, with the module that is installed; what the
# emulator's words give on them, and what a program does with a card beside (card.c); then
# all cases with the host code of the HIP backend, by HIP's names over NVIDIA's driver.
folder=$top_builddir/backends/cuda/.libs
if ! [ -f "$folder/libggml-cuda.so" ]; then
    echo '1..0 # SKIP no module with kernels in this build: configure --with-cuda=module'
    exit 0
fi
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
. "$top_srcdir/tests/tools/claim.sh"
export GGML_BACKEND_PATH="$folder/libggml-cuda.so"
cards=$("$top_builddir/ggmlbackend-info" --list | grep '^CUDA[0-9]')
if [ -z "$cards" ]; then
    reason=$("$top_builddir/ggmlbackend-info" | sed -n 's/^refused: [^ ]*: //p')
    echo "1..0 # SKIP no card: $reason"
    exit 0
fi

run() {
    GGMLBACKEND_GPU_VARIANT=$2 "$top_builddir/ggmlbackend-conformance" --device "$1" \
        >"$dir/table" 2>"$dir/messages"
    status=$?
    grep -m 20 FAILED "$dir/messages" >&2
    return $status
}

# Its output is messages, which claim shows where it fails.
program() {
    CMOCKA_MESSAGE_OUTPUT=TAP "$top_builddir/tests/cuda/card" >&2
}

for card in $cards; do
    for variant in plain dp4a mma mma8 wgmma; do
        claim "$card, up to $variant" run "$card" "$variant"
        echo "# $(awk '$1 == "all" { print $2 " cases" }' "$dir/table")"
    done
done

# A program's own TAP, its tests with numbers of this script's, is part of it.
include() {
    "$@" >"$dir/tap" 2>"$dir/err"
    status=$?
    reason=$(sed -n 's/^1\.\.0 # SKIP //p' "$dir/tap")
    if [ -n "$reason" ]; then
        skip "$reason"
        return
    fi
    planned=$(sed -n 's/^1\.\.//p' "$dir/tap")
    awk -v n="$n" '
    { sub(/^Bail out!/, "# &") }
    /^(not )?ok [0-9]+/ { sub(/ok [0-9]+/, "ok " ++n) }
    !/^1\.\./' "$dir/tap"
    said=$(grep -cE '^(not )?ok ' "$dir/tap")
    n=$((n + said))
    [ $status -le 1 ] && [ "$said" = "$planned" ]
    result "all of ${1##*/} was run"
}

values=$top_builddir/tests/gpu-emulator/values
if [ -x "$values-card" ] && [ -f "$values.image" ]; then
    include "$values-card" "$values.image"
else
    skip 'values-card: it is not built: no emulated driver'
fi
claim 'what a program does with a card' program

# The tests' HIP module has no kernels; those of this build's images are in the library
# that it takes for AMD's (tests/gpu-emulator/hip-on-cuda.cpp).
module=$top_builddir/tests/hip/.libs/libggml-hip.so
over=$top_builddir/tests/gpu-emulator/hip-on-cuda/.libs
if ! [ -f "$module" ] || ! [ -f "$over/libamdhip64.so.6" ]; then
    skip 'HIP over CUDA: its module is not built: no modules, or no emulated driver'
    echo "1..$n"
    exit 0
fi
LD_LIBRARY_PATH=$over${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export GGML_BACKEND_PATH="$module" LD_LIBRARY_PATH
cards=$("$top_builddir/ggmlbackend-info" --list | grep '^ROCm[0-9]')
claim 'HIP over CUDA has cards' [ -n "$cards" ]
for card in $cards; do
    for variant in plain dot4; do
        claim "$card over CUDA, up to $variant" run "$card" "$variant"
        echo "# $(awk '$1 == "all" { print $2 " cases" }' "$dir/table")"
    done
done
echo "1..$n"
