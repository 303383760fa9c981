#!/bin/sh
# SPDX-License-Identifier: MIT
# ggmlbackend-bench measures, compares, draws and refuses; with tiny sizes.
tool=$top_builddir/ggmlbackend-bench
dir=bench-tool-$$
mkdir "$dir" || exit 99
trap 'rm -rf "$dir"' EXIT
. "$top_srcdir/tests/tools/claim.sh"

# refuse STATUS TEXT COMMAND…: it ends with STATUS and says why, in one line for 1.
refuse() {
    wanted=$1 text=$2
    shift 2
    "$@" >"$dir/out" 2>"$dir/err"
    got=$?
    [ $got -eq "$wanted" ] && [ -s "$dir/err" ] &&
        { [ "$wanted" -ne 1 ] || [ "$(wc -l <"$dir/err")" -eq 1 ]; }
    result "$text"
}

# line NAME THREADS SECONDS…: a result of one operation a run.
line() {
    name=$1 threads=$2
    shift 2
    seconds=$(echo "$@" | tr ' ' ,)
    echo "{\"name\": \"$name\", \"threads\": $threads, \"supported\": true," \
        "\"unit\": \"GOP/s\", \"work\": 1e9, \"seconds\": [$seconds]}"
}

small="-t 2 -s 0.001 --size 256x32"

# What is measured
claim 'the names of cases are listed' "$tool" --list
cp "$dir/out" "$dir/names"
for name in mul_mat/q4_0/4096x4096/n=64 mul_mat/iq2_xxs/4096x4096/n=1 \
    mul_mat_id/q8_0/4096x512x8/n=8 attention/f16/kv=4096/n=512 op/soft_max \
    op/rope unary/silu convert/f32/q8_0 tiny/adds tiny/mixed copy/set/4KiB; do
    claim "$name is one of them" grep -qx "$name" "$dir/names"
done
claim 'every type and number of columns of a product' \
    test "$(grep -c '^mul_mat/' "$dir/names")" -eq $((24 * 8))
claim 'short rows' "$tool" --size 96x10 --list
says 'are of types with blocks that they have room for' \
    test "$(grep -c '^mul_mat/' "$dir/out")" -eq $((9 * 8))
claim 'products and tiny graphs are measured' "$tool" $small --json \
    -k 'mul_mat/*/n=2' -k 'mul_mat_id/q4_0/*/n=4' -k 'tiny/*' -k 'copy/*/4KiB'
cp "$dir/out" "$dir/measured.jsonl"
claim 'each result is one line of JSON' \
    test "$(grep -c '^{.*}$' "$dir/measured.jsonl")" \
    -eq "$(wc -l <"$dir/measured.jsonl")"
claim 'with all types' test "$(grep -c '"mul_mat/' "$dir/measured.jsonl")" -eq 24
claim 'the work of a product is counted' grep -q \
    '"mul_mat/f32/256x32/n=2".*"work": 32768.0.*"fp32": 32768.0.*"bytes": 32768.0' \
    "$dir/measured.jsonl"
claim 'the limits are measured' grep -q '"limit/int8"' "$dir/measured.jsonl"
claim 'and the way of a cache line, with two threads' \
    grep -q '"limit/line".*"unit": "ns"' "$dir/measured.jsonl"
claim 'a share of the limit is given' \
    grep -q '"mul_mat/q4_0/.*"limit": "[a-z0-9]*".*"share": [0-9]' \
    "$dir/measured.jsonl"
claim 'one thread has no other to pass a line to' \
    sh -c '! "$1" -t 1 -s 0.001 -k tiny/adds | grep limit/line' - "$tool"
"$top_builddir/examples/make-tiny-model" "$dir/tiny.gguf" || exit 99
claim 'a model is measured, by depth' \
    "$tool" -m "$dir/tiny.gguf" -p 4 -g 2 --depth 0,3 -t 2 -s 0.001
says 'its prompt' grep -q '^model/prompt=4/depth=3 .* tokens/s' "$dir/out"
says 'its answer' grep -q '^model/generate=2/depth=0 .* tokens/s' "$dir/out"
says 'and reading its file' grep -q '^limit/read/file' "$dir/out"
# Which processors are one core is known by /sys alone.
knows_cores() {
    [ -n "$(cat /sys/devices/system/cpu/cpu[0-9]*/topology/core_id 2>/dev/null)" ]
}
if knows_cores; then
    says 'beneath where threads may run' \
        grep -q ', 2 threads on [0-9]* processors\{0,1\} of [0-9]* core' "$dir/out"
else
    skip 'there is no /sys/devices/system/cpu'
fi
claim 'a model whose weights are copied' \
    "$tool" -m "$dir/tiny.gguf" --no-mmap -p 4 -g 2 -t 2 -s 0.001
claim 'and one whose weights are repacked' \
    "$tool" -m "$dir/tiny.gguf" --repack on -p 4 -g 2 -t 2 -s 0.001
"$top_builddir/bench/make-model" -l 1 smollm2-135m q4_0 "$dir/layer.gguf" || exit 99
claim 'or where a measurement says so' \
    "$tool" -m "$dir/layer.gguf" --repack auto -p 4 -g 2 -t 2 -s 0.001
rm -f "$dir/layer.gguf"
"$top_builddir/bench/make-model" tiny-gemma q4_k_m "$dir/gemma.gguf" || exit 99
claim 'a made model with norms of heads and a window' \
    "$tool" -m "$dir/gemma.gguf" -p 600 -g 2 -t 2 -s 0.001
says 'which reads of five types' sh -c \
    'test "$("$1" show "$2" | grep -Eo " (f32|q5_0|q8_0|q4_K|q6_K) +\[" |
        sort -u | wc -l)" -eq 5' - "$top_builddir/ggmlbackend-gguf" \
    "$dir/gemma.gguf"
claim 'several sequences are answered at once' \
    "$tool" -m "$dir/tiny.gguf" -b 1,3 --depth 5 -k 'model/batch*' -t 2 -s 0.001
says 'each number of them' sh -c \
    'test "$(grep -c "^model/batch=[13]/depth=5 .* tokens/s" "$1")" -eq 2' - \
    "$dir/out"

# Where time goes.  Parts and what is no part add up to the whole, in each run and
# nearly in the medians of three.
claim 'a profile by operation' "$tool" -m "$dir/tiny.gguf" --by-op -p 20 -g 4 \
    -t 2 -s 0.001
says 'is a table of each case' sh -c \
    'test "$(grep -c "^by-op/model/.*, 2 threads$" "$1")" -eq 2' - "$dir/out"
says 'with what runs take without it' \
    grep -q '^(all, without a profile) ' "$dir/out"
claim 'and as JSON' "$tool" -m "$dir/tiny.gguf" --by-op --json -p 20 -g 4 -t 1 \
    -s 0.05
cp "$dir/out" "$dir/by-op.jsonl"
for row in 'MUL_MAT [a-z0-9_]* [0-9]*x[0-9]* GEMM' RMS_NORM ROPE '(waiting)' \
    '(outside)' '(profile)' '(all)'; do
    says "$row is a row of a prompt" grep -q \
        "\"by-op/model/prompt=20/depth=0/$row\".*\"unit\": \"ms\"" "$dir/out"
done
says 'one token has one column' sh -c \
    '! grep "by-op/model/generate.*GEMM" "$1"' - "$dir/out"
says 'what an operation is called is counted' grep -q \
    '"by-op/model/generate=4/.*/SILU".*"calls": [1-9]' "$dir/out"
says 'parts add up to the whole' awk -F'"' '
    { for (i = 1; i <= NF; i++) if ($i == "value") { split($(i + 1), v, /[:,]/)
          value = v[2] } }
    /by-op\/model\/prompt/ && /\(all\)/ { all = value; next }
    /by-op\/model\/prompt/ { sum += value }
    END { exit !(all > 0 && sum > 0.7 * all && sum < 1.3 * all) }' "$dir/out"
refuse 2 'a profile without a model' "$tool" --by-op
refuse 2 'a batch without one' "$tool" -b 2
refuse 2 'no way to repack' "$tool" -m "$dir/tiny.gguf" --repack often
refuse 2 'a batch of none' "$tool" -m "$dir/tiny.gguf" -b 0
refuse 2 'too large a batch' "$tool" -m "$dir/tiny.gguf" -b 257

# Against a library: the same one, in another process
library=$top_builddir/.libs/libggmlbackend.so.0
if [ -f "$library" ]; then
    claim 'two libraries take turns' "$tool" $small --json \
        -k 'mul_mat/q8_0/*/n=1' --against "$library"
    says 'each has a result' \
        test "$(grep -c '"library": *"/.*libggmlbackend' "$dir/out")" -eq 2
    says 'with samples of all turns' \
        awk -F'[][]' '/mul_mat/ && split($2, s, ",") < 10 { exit 1 }' "$dir/out"
    refuse 1 'a library without the functions' \
        "$tool" --against "$(ldd "$library" | awk '/libm\.so/ { print $3 }')"
    says 'which names the first' grep -q 'has no function ggml' "$dir/err"
    program=$top_builddir/.libs/ggmlbackend-bench
    claim 'what is asked of a library is what the program calls' sh -c '
        $NM -D --undefined-only "$1" | grep -oE " (ggml|gguf)_[a-z0-9_]*" |
            tr -d " " | sort >"$3/calls"
        sed -n "s/^BENCH_FUNCTION(\(.*\))/\1/p" "$2" | sort |
            diff - "$3/calls" >&2' - "$program" \
        "$top_srcdir/tools/ggmlbackend-bench/functions.def" "$dir"
fi
refuse 1 'a library that is not there' "$tool" --against "$dir/none.so"

# Comparing
{
    line same 1 1.00 1.01 0.99 1.02 0.98 1.03
    line better 2 2.00 2.01 1.99 2.02 1.98 2.03
    line worse 2 1.00 1.01 0.99 1.02 0.98 1.03
    line alone 2 1.00
} >"$dir/a.jsonl"
{
    line same 1 1.001 1.009 0.989 1.021 0.981 1.031
    line better 2 1.00 1.01 0.99 1.02 0.98 1.03
    line worse 2 2.00 2.01 1.99 2.02 1.98 2.03
    line worse 4 1.00
} >"$dir/b.jsonl"
claim 'two files are compared' \
    "$tool" --compare "$dir/a.jsonl" "$dir/b.jsonl" --json
says 'chance is no difference' grep -q '"same".*"verdict": "same"' "$dir/out"
says 'half the time is twice as fast' grep -q \
    '"better".*"a": 0.49[0-9]*, "b": 0.99[0-9]*, "ratio": 1.99[0-9]*, .*"faster"' \
    "$dir/out"
says 'twice the time is slower' \
    grep -q '"worse".*"ratio": 0.50.*"p": 0.0021[0-9]*, "verdict": "slower"' \
    "$dir/out"
says 'what only one of them has is left out' \
    test "$(wc -l <"$dir/out")" -eq 3
claim 'the same for people' "$tool" --compare "$dir/a.jsonl" "$dir/b.jsonl"
says 'who are told' grep -q '^worse .*B is slower' "$dir/out"
cat "$dir/a.jsonl" "$dir/a.jsonl" >"$dir/twice.jsonl"
claim 'samples of several runs are put together' \
    "$tool" --compare "$dir/twice.jsonl" "$dir/b.jsonl" --json

# Drawing
claim 'one file is drawn' "$tool" --plot "$dir/one.svg" "$dir/measured.jsonl"
claim 'two are' "$tool" --plot "$dir/two.svg" "$dir/a.jsonl" "$dir/b.jsonl"
claim 'with a bar for each result, a mark for each file and the ground' \
    test "$(grep -c '<rect' "$dir/two.svg")" -eq $((4 + 3 + 2 + 1))
line 'a<b&c' 1 1.0 >"$dir/odd.jsonl"
claim 'odd names' "$tool" --plot "$dir/odd.svg" "$dir/odd.jsonl"
claim 'are written as XML has them' grep -q 'a&lt;b&amp;c' "$dir/odd.svg"
claim 'a profile is drawn' "$tool" --plot "$dir/by-op.svg" "$dir/by-op.jsonl"
claim 'as parts of one bar a case' sh -c \
    'test "$(grep -c "<title>(waiting)</title>" "$1")" -eq 2' - "$dir/by-op.svg"
claim 'two of them' "$tool" --plot "$dir/both.svg" "$dir/by-op.jsonl" \
    "$dir/by-op.jsonl"
claim 'as two bars' sh -c \
    'test "$(grep -c "<title>(waiting)</title>" "$1")" -eq 4' - "$dir/both.svg"
cat "$dir/measured.jsonl" "$dir/by-op.jsonl" >"$dir/all.jsonl"
claim 'a page' "$tool" --report "$dir/page.svg" "$dir/all.jsonl"
says 'has the limits' grep -q '<td>limit/int8</td>' "$dir/page.svg"
says 'results beside theirs' grep -q 'mul_mat/q4_0.* % of ' "$dir/page.svg"
if knows_cores; then
    says 'where threads may run' grep -q ' on [0-9]* processor' "$dir/page.svg"
else
    skip 'there is no /sys/devices/system/cpu'
fi
says 'and where time went' grep -q '<title>RMS_NORM</title>' "$dir/page.svg"
mkdir "$dir/folder"
claim 'a page in a folder' "$tool" --report "$dir/folder" "$dir/odd.jsonl"
says 'is report.html, with names as XML has them' \
    grep -q 'a&lt;b&amp;c' "$dir/folder/report.html"
for drawing in one two odd by-op both page; do
    if command -v xmllint >/dev/null 2>&1; then
        claim "$drawing.svg is well-formed" xmllint --noout "$dir/$drawing.svg"
    else
        n=$((n + 1))
        echo "ok $n # SKIP no xmllint"
    fi
done

# What is refused
echo 'no JSON' >>"$dir/b.jsonl"
echo '{"name": "x"}' >"$dir/other.jsonl"
line none 1 0 >"$dir/zero.jsonl"
: >"$dir/empty.jsonl"
refuse 1 'a line that is no JSON' "$tool" --compare "$dir/a.jsonl" "$dir/b.jsonl"
says 'its number is named' grep -q 'b.jsonl, line 5: is not JSON' "$dir/err"
for file in other zero empty none; do
    refuse 1 "results that are not usable: $file" \
        "$tool" --compare "$dir/a.jsonl" "$dir/$file.jsonl"
done
line else 1 1.0 >"$dir/else.jsonl"
refuse 1 'nothing in common' "$tool" --compare "$dir/a.jsonl" "$dir/else.jsonl"
refuse 1 'a drawing that cannot be written' \
    "$tool" --plot "$dir/no/such.svg" "$dir/a.jsonl"
refuse 1 'an unknown case' "$tool" -k 'mul_mat/q9/*'
refuse 1 'a model that is not there' "$tool" -m "$dir/none.gguf"
refuse 1 'a model that is a text' "$tool" -m "$top_srcdir/tests/tools/bench.sh"
refuse 1 'an unknown device' "$tool" --device none
refuse 1 'a type of longer blocks than rows' \
    "$tool" --size 96x10 -k 'mul_mat/q4_K/*'
refuse 2 'several devices' "$tool" --device CPU,CPU
refuse 2 'a size that is none' "$tool" --size 256
refuse 2 'no number' "$tool" -p 12,x
refuse 2 'no threads' "$tool" -t 0
refuse 2 'one file to compare' "$tool" --compare "$dir/a.jsonl"
refuse 2 'a file without a purpose' "$tool" "$dir/a.jsonl"
refuse 2 'an unknown option' "$tool" --frobnicate
claim '--help' "$tool" --help
claim '--version' "$tool" --version
echo "1..$n"
