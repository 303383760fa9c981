#!/bin/sh
# SPDX-License-Identifier: MIT
# make check-gpu: all cases of ggmlbackend-conformance on each of NVIDIA's cards at hand,
# at each kernel variant that it has, with the module that is installed.
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

for card in $cards; do
    for variant in plain dp4a mma mma8 wgmma; do
        claim "$card, up to $variant" run "$card" "$variant"
        echo "# $(awk '$1 == "all" { print $2 " cases" }' "$dir/table")"
    done
done
echo "1..$n"
