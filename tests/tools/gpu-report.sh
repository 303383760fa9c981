#!/bin/sh
# SPDX-License-Identifier: MIT
# bench/gpu-report --dry: every part runs on the emulated card, the page is whole, what
# is done is not done again, and a part that fails leaves the others.
top_srcdir=$(cd "$top_srcdir" && pwd)
top_builddir=$(cd "$top_builddir" && pwd)
if ! [ -f "$top_builddir/tests/cuda/.libs/libggml-cuda.so" ] ||
    ! [ -f "$top_builddir/tests/gpu-emulator/lanes32/.libs/libcuda.so.1" ]; then
    echo '1..0 # SKIP no module, or no emulated driver, in this build'
    exit 0
fi
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
. "$top_srcdir/tests/tools/claim.sh"

# report OUT OPTION…
report() {
    to=$1
    shift
    sh "$top_srcdir/bench/gpu-report" --dry --build "$top_builddir" \
        --out "$dir/$to" --models "$dir/models" "$@"
}

# Models of known sizes
make_model=$top_builddir/bench/make-model
for type in f16 q8_0 q4_0 q4_k_m; do
    claim "a model of $type" "$make_model" tiny $type "$dir/a.gguf"
    says 'is one' "$top_builddir/ggmlbackend-gguf" check "$dir/a.gguf"
done
"$make_model" tiny q4_k_m "$dir/b.gguf"
claim 'the same options give the same file' cmp "$dir/a.gguf" "$dir/b.gguf"
"$make_model" -s 5 tiny q4_k_m "$dir/b.gguf"
claim 'another seed another' sh -c '! cmp -s "$1" "$2"' - "$dir/a.gguf" "$dir/b.gguf"
claim 'a layer of a larger one' "$make_model" -l 1 smollm2-135m q4_k_m "$dir/b.gguf"
says 'has matrices that fit its rows' \
    "$top_builddir/ggmlbackend-gguf" check "$dir/b.gguf"
refuse 2 'no such shape' 'shapes: smollm2-135m' "$make_model" none f16 "$dir/c.gguf"
refuse 1 'a folder that is not there' 'not written' \
    "$make_model" tiny f16 "$dir/none/c.gguf"
claim 'nothing is left of it' test ! -e "$dir/none"

# A whole report
claim 'a report is written' report whole
out=$dir/whole
parts=$(report whole --list)
for part in $parts; do
    claim "$part was run" grep -q '^done\|^skipped' "$out/$part.status"
    claim 'and the page has it' grep -q "^## $part\$" "$out/report.md"
done
claim 'only a model for the peer is left out' \
    test "$(grep -l '^skipped' "$out"/*.status | wc -l)" -eq 1
claim 'the page names the card' grep -q '^# Emulated GPU, 20' "$out/report.md"
says 'its driver' grep -q 'driver: 13.0' "$out/report.md"
says 'commands' grep -q '^\./ggmlbackend-bench --device CUDA0' "$out/report.md"
says 'no folder of this machine' sh -c '! grep -q "$1" "$2"' - "$top_builddir" \
    "$out/report.md"
says 'limits' grep -q '^| limit/read | [0-9.]* GB/s' "$out/report.md"
says 'each type with its share' \
    test "$(grep -c '^| mul_mat/.*n=1 | [0-9.]* GOP/s .* % of [a-z0-9]* ' \
        "$out/report.md")" -ge 24
says 'and models by depth' \
    grep -q '^| model/generate=2/depth=8 | [0-9.]* tokens/s' "$out/report.md"
for drawing in "$out"/*.svg; do
    grep -q "]($(basename "$drawing"))" "$out/report.md" &&
        { ! command -v xmllint >/dev/null || xmllint --noout "$drawing"; } ||
        echo "$drawing"
done >"$dir/bad"
claim 'with drawings, which are well-formed' cmp "$dir/bad" /dev/null
claim 'results are lines of JSON' \
    sh -c '! grep -v "^{.*}$" "$1"' - "$out/results.jsonl"

# Gone on with
claim 'again there is nothing to do' report whole
says 'and nothing is done' test "$(wc -l <"$dir/err")" -eq 1
rm "$out/gemm.status"
claim 'an interrupted part' env GGMLBACKEND_TEST_EMU_SLOWED=4 \
    GGMLBACKEND_TEST_EMU_PROCESSES=2 sh "$top_srcdir/bench/gpu-report" --dry \
    --build "$top_builddir" --out "$out" --models "$dir/models"
says 'is run, and no other' test "$(wc -l <"$dir/err")" -eq 2
says 'a card that was held back is noted' \
    grep -q '^| mul_mat/q4_K/.* | slowed by power 2 processes |$' "$out/report.md"
says 'and beside the others nothing' \
    sh -c '! grep "^| mul_mat/.*n=1 .*slowed" "$1"' - "$out/report.md"

# A card of AMD's
if [ -f "$top_builddir/tests/hip/.libs/libggml-hip.so" ]; then
    claim "a report of a card of AMD's" report rocm --device ROCm0
    says 'has every part' test \
        "$(grep -l '^done\|^skipped' "$dir"/rocm/*.status | wc -l)" -eq \
        "$(echo "$parts" | wc -w)"
    says 'but a model for the peer and no more' \
        test "$(grep -l '^skipped' "$dir"/rocm/*.status | wc -l)" -eq 1
    says 'the card and its driver' \
        grep -q '^# Emulated GPU, 20' "$dir/rocm/report.md"
    says 'as ROCm names it' grep -q 'driver: 6.3' "$dir/rocm/report.md"
    says 'commands' \
        grep -q '^\./ggmlbackend-bench --device ROCm0' "$dir/rocm/report.md"
    says 'each type with its share' \
        test "$(grep -c '^| mul_mat/.*n=1 | [0-9.]* GOP/s .* % of [a-z0-9]* ' \
            "$dir/rocm/report.md")" -ge 24
    says 'and models by depth' grep -q \
        '^| model/generate=2/depth=8 | [0-9.]* tokens/s' "$dir/rocm/report.md"
fi

# What goes wrong
refuse 2 'no such part' 'there is no part' report whole --part none
refuse 2 'another report in the same place' 'other settings' report whole --quick
claim 'a part that fails' sh -c '! "$@"' - env \
    GGMLBACKEND_TEST_EMU_FAIL=cuLaunchKernel:1:700 sh \
    "$top_srcdir/bench/gpu-report" --dry --build "$top_builddir" --out "$out" \
    --models "$dir/models" --part attention
says 'says why' grep -q '^| attention | failed with status 1: .*limits' \
    "$out/report.md"
says 'and leaves the others' \
    test "$(grep -l '^done' "$out"/*.status | wc -l)" -eq \
    "$(($(echo "$parts" | wc -w) - 2))"
claim 'a part that takes too long' sh -c '! "$@"' - env GPU_REPORT_SECONDS=0 sh \
    "$top_srcdir/bench/gpu-report" --dry --build "$top_builddir" --out "$out" \
    --models "$dir/models" --part gemv
says 'is told' grep -q '^| gemv | failed: 0 seconds were not enough' "$out/report.md"
claim 'too little memory' env GGMLBACKEND_GPU_MEMORY=512K sh \
    "$top_srcdir/bench/gpu-report" --dry --build "$top_builddir" \
    --out "$dir/little" --models "$dir/models" --part model-tiny-q4_k_m
says 'is no failure' grep -q '^| model-tiny-q4_k_m | skipped: [0-9]* bytes of weights' \
    "$dir/little/report.md"

# Peers
claim 'a library that does not load' report other --part gemm \
    --against "$dir/none.so"
says 'is named in the page' grep -q '^The other library was not used: .*none.so' \
    "$dir/other/report.md"
says 'and not used' grep -q '^| gemm | done' "$dir/other/report.md"
library=$top_builddir/.libs/libggmlbackend.so.0
if [ -f "$library" ]; then
    cp "$library" "$dir/libpeer.so"
    claim 'one that does' report beside --part attention --against "$dir/libpeer.so"
    says 'has figures beside ours' grep -q \
        '^| attention/f16/.* | [0-9.]* GOP/s | .* | [0-9.]* | [0-9.]* |  |$' \
        "$dir/beside/report.md"
fi
mkdir "$dir/peer"
cat >"$dir/peer/llama-bench" <<'END'
#!/bin/sh
echo '{"build_number": 5, "n_prompt": 8, "n_gen": 0, "avg_ts": 80.5, "samples_ns": [ 100000000, 100000000 ],"samples_ts": [ 80.0, 80.0 ]}'
echo '{"build_number": 5, "n_prompt": 0, "n_gen": 2, "avg_ts": 20.0, "samples_ns": [ 100000000 ],"samples_ts": [ 20.0 ]}'
END
cat >"$dir/peer/test-backend-ops" <<'END'
#!/bin/sh
echo "MUL_MAT of the peer: $*"
END
chmod +x "$dir/peer/llama-bench" "$dir/peer/test-backend-ops"
claim 'programs of a peer' report programs --peer "$dir/peer" \
    --part model-tiny-q4_k_m --part attention --part model-tiny-experts-q4_0
says 'are beside ours' grep -q \
    '^| model/prompt=8/depth=0 | [0-9.]* tokens/s .* | 80.5 | [0-9.]* |' \
    "$dir/programs/report.md"
says 'or alone' grep -q '^| model-tiny-experts-q4_0 | done' "$dir/programs/report.md"
says 'with the peer alone where ours cannot' grep -q \
    '^| model/generate=2/depth=0 |  |  |  |  | 20.0 |  |  |$' \
    "$dir/programs/report.md"
says 'with their own words' grep -q 'of the peer: perf -o FLASH_ATTN_EXT' \
    "$dir/programs/report.md"
echo "1..$n"
