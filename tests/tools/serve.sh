#!/bin/sh
# SPDX-License-Identifier: MIT
# ggmlbackend-bench --serve: how much each case computes and moves, worked out by
# hand, and devices that cannot run it.
tool=$top_builddir/ggmlbackend-bench
dir=serve-tool-$$
mkdir "$dir" || exit 99
trap 'rm -rf "$dir"' EXIT
. "$top_srcdir/tests/tools/claim.sh"

# serve CASE [OPTION…]: three samples of CASE.
serve() {
    name=$1
    shift
    echo '0 0 3' | "$tool" -t 2 --size 256x32 -k "$name" --serve "$@"
}

# moves CASE WORK OPERATIONS BYTES [OPTION…]: it is of so much work.
moves() {
    name=$1 work=$2 operations=$3 bytes=$4
    shift 4
    serve "$name" "$@" >"$dir/out" 2>"$dir/err" &&
        grep -q "\"name\": \"$name\", .*\"supported\": true, .*\"work\": $work, \"operations\": {$operations}, \"bytes\": $bytes, .*\"seconds\": \[[^,]*, [^,]*, [^,]*\]" \
        "$dir/out"
    result "$name"
}

# Passes are over 512 rows of 4096: 2 Mi elements.
moves op/add 25165824.0 '' 25165824.0
moves op/mul-row 16793600.0 '' 16793600.0
moves op/cont-transposed 16777216.0 '' 16777216.0
moves op/sum_rows 8390656.0 '' 8390656.0
moves op/rope 16779264.0 '' 16779264.0
moves op/soft_max-mask 20971520.0 '' 20971520.0
moves unary/relu 16777216.0 '' 16777216.0
moves convert/f32/f16 12582912.0 '' 12582912.0
moves convert/q8_0/f32 10616832.0 '' 10616832.0
moves get_rows/f16 12582912.0 '' 12582912.0
moves get_rows/q4_K 9568256.0 '' 9568256.0
# Two products of 32 heads, 512 keys and 128 elements; keys and values of 8 heads.
moves attention/f16/kv=512/n=1 8388608.0 '"fp32": 8388608.0' 2097152.0
moves attention/q8_0/kv=512/n=1 8388608.0 '"fp32": 8388608.0' 1114112.0
moves mul_mat/bf16/256x32/n=2 32768.0 '"bf16": 32768.0' 16384.0
moves mul_mat/q8_0/256x32/n=1 16384.0 '"int8": 16384.0' 8704.0
# As many matrices as have a mebibyte together, and 48 at most.
moves mul_mat/f32/256x32/n=1 540672.0 '"fp32": 540672.0' 1081344.0 --beyond 1
moves mul_mat/q8_0/256x32/n=1 786432.0 '"int8": 786432.0' 417792.0 --beyond 1
moves copy/set/4KiB 8192.0 '' 8192.0
moves copy/get/4KiB 8192.0 '' 8192.0
moves copy/tensor/256KiB 524288.0 '' 524288.0

# A model whose last product has weights of its own: all but the embeddings are
# read for a token, and a prompt of two takes twice the products but the last.
"$top_builddir/examples/make-tiny-model" -a qwen2 -p qwen2 "$dir/qwen2.gguf" ||
    exit 99
"$top_builddir/examples/make-tiny-model" -a llama "$dir/llama.gguf" || exit 99
claim 'an answer of two tokens' \
    serve 'model/generate=2/depth=3' -m "$dir/qwen2.gguf" -g 2 --depth 3
twice=$(sed -n 's/.*"bytes": \([0-9]*\).*/\1/p' "$dir/out")
claim 'an answer of one' serve 'model/generate=1/depth=0' -m "$dir/qwen2.gguf" -g 1
once=$(sed -n 's/.*"bytes": \([0-9]*\).*/\1/p' "$dir/out")
says 'reads half of it' test "$twice" -eq $((once * 2))
size() {
    "$top_builddir/ggmlbackend-gguf" show "$1" |
        awk -v without="$2" '
            / bytes at / && index($0, without) != 1 {
                for (i = 2; i <= NF; i++) if ($i == "bytes") sum += $(i - 1)
            }
            END { print sum }'
}
claim 'that is all weights but the embeddings' \
    test "$once" -eq "$(size "$dir/qwen2.gguf" token_embd)"
claim 'a prompt' serve 'model/prompt=2/depth=0' -m "$dir/llama.gguf" -p 2
bytes=$(sed -n 's/.*"bytes": \([0-9]*\).*/\1/p' "$dir/out")
claim 'reads the embeddings where they are the last product as well' \
    test "$bytes" -eq "$(size "$dir/llama.gguf" none)"

# On a device that lacks something.
if [ -f "$top_builddir/.libs/libggml-sim.so" ]; then
    GGMLBACKEND_MODULE_PATH=$top_builddir/.libs
    GGMLBACKEND_SIM=devices=1,without_ops=ADD
    export GGMLBACKEND_MODULE_PATH GGMLBACKEND_SIM
    claim 'an operation that the device has not' serve op/add --device Sim0
    says 'is not supported' \
        grep -q '"op/add", .*"supported": false, .*"seconds": \[\]' "$dir/out"
    claim 'one that it has' serve op/scale --device Sim0
    says 'is' grep -q '"op/scale", .*"supported": true' "$dir/out"
    claim 'it is a line without a time for people' \
        "$tool" -t 1 -s 0.001 -k op/add --device Sim0
    says 'with its name' grep -q '^op/add  *1  *- *$' "$dir/out"
    GGMLBACKEND_SIM=devices=1,memory=1M
    refuse 1 'a device without the memory for its tensors' \
        'no memory for tensors: ' serve op/add --device Sim0
    refuse 1 'or for copies' 'no memory for tensors: ' \
        serve copy/set/16384KiB --device Sim0
    refuse 1 'or for a model' 'no memory' serve 'model/prompt=2/depth=1048570' -p 2 \
        -m "$dir/llama.gguf" --device Sim0 --depth 1048570
    GGMLBACKEND_SIM=devices=1,memory=20M
    refuse 1 'or for the result' 'no memory for a graph: ' \
        serve op/add --device Sim0
else
    skip 'no module of the simulated device'
fi
echo "1..$n"
