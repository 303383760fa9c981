#!/bin/sh
# SPDX-License-Identifier: MIT
# The tables of doc/gpu-performance.md are those that build-aux/gpu-predict computes from
# the kept tables; build-aux/gpu-predict --write writes them.
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
. "$top_srcdir/tests/tools/claim.sh"
export top_srcdir

# as_computed: what differs, if anything.
as_computed() {
    sh "$top_srcdir/build-aux/gpu-predict" >"$dir/page" &&
        diff "$top_srcdir/doc/gpu-performance.md" "$dir/page" >&2
}
claim "the page has the tables that are computed" as_computed
says "with figures" [ "$(grep -c '^| .*[0-9].* |$' "$dir/page")" -ge 80 ]

# Another count of a kernel is another page.
mkdir -p "$dir/top/backends/cuda" "$dir/top/backends/hip" "$dir/top/build-aux" \
    "$dir/top/tests/cuda" "$dir/top/doc/measurements"
for file in backends/cuda/resources.tsv backends/hip/resources.tsv \
    build-aux/gpu-predict-hip tests/cuda/counters.tsv doc/gpu-performance.md \
    doc/measurements/gpu.tsv; do
    cp "$top_srcdir/$file" "$dir/top/$file"
done
awk -F '\t' 'BEGIN { OFS = FS } $2 == "gb_wgmma_gemm_q4_k" { $30 *= 2 } { print }' \
    "$top_srcdir/backends/cuda/resources.tsv" >"$dir/top/backends/cuda/resources.tsv"
top_srcdir=$dir/top sh "$top_srcdir/build-aux/gpu-predict" >"$dir/other"
claim "and they follow the counts" sh -c '! cmp -s "$1" "$2"' - "$dir/page" "$dir/other"
cp "$top_srcdir/backends/cuda/resources.tsv" "$dir/top/backends/cuda/resources.tsv"
awk -F '\t' 'BEGIN { OFS = FS }
    $1 == "arch" {
        for (i = 1; i <= NF; i++)
            column[$i] = i
    }
    $2 ~ /^gb_gemv_q4_k_/ && !/^#/ { $column["loop"] *= 10 }
    { print }' "$top_srcdir/backends/hip/resources.tsv" >"$dir/top/backends/hip/resources.tsv"
top_srcdir=$dir/top sh "$top_srcdir/build-aux/gpu-predict" >"$dir/other"
claim "those of AMD's cards, too" sh -c '! cmp -s "$1" "$2"' - "$dir/page" "$dir/other"
echo "1..$n"
