#!/bin/sh
# SPDX-License-Identifier: MIT
# bench/gpu-report on lavapipe: parts that are quick there, and the page about them.
# tests/tools/gpu-report.sh has the others, on an emulated card of CUDA's.
. "$top_srcdir/tests/vulkan/lavapipe.sh"
. "$top_srcdir/tests/tools/claim.sh"
takes_long
[ -x "$top_builddir/bench/make-model" ] || skip_all 'no bench in this build'
parts='card conformance sanitizer memory'
out=$dir/report

report() {
    # shellcheck disable=SC2046,SC2086
    sh "$top_srcdir/bench/gpu-report" --dry --device Vulkan0 --build "$top_builddir" \
        --out "$out" $(printf -- '--part %s ' $parts)
}

claim 'a report is written' report
for part in $parts; do
    says "$part was run" grep -q '^done\|^skipped: there is no validation layer' \
        "$out/$part.status"
done
says 'the page names the device' grep -q '^# llvmpipe' "$out/report.md"
says 'its driver' grep -q 'driver: llvmpipe' "$out/report.md"
for limit in read copy fp32; do
    says "its limit/$limit" grep -q "^| limit/$limit | [0-9.]* G" "$out/report.md"
done
[ -z "$layer" ] || says 'nothing that the layer says' \
    grep -qx 'messages of the validation layer: 0' "$out/sanitizer.log"
echo "1..$n"
