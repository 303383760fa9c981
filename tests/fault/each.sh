#!/bin/sh
# SPDX-License-Identifier: MIT
# Each program with one call of one function failing, for each call of each.
#
# FAULT_STEP=N takes every Nth call alone, the first one always.  Whatever fails:
# no signal, no hang, no success with another result, a message, nothing left behind.
step=${FAULT_STEP:-11}
case "$CC $CFLAGS" in
*-fsanitize*)
    echo '1..0 # SKIP: sanitizers take the calls for themselves'
    exit 0
    ;;
esac
library=$PWD/tests/fault/fail-nth.so
# Where it cannot be preloaded the dynamic linker says so and goes on.
if ! [ -f "$library" ] || [ -n "$(env LD_PRELOAD="$library" env 2>&1 >/dev/null)" ]; then
    echo '1..0 # SKIP: there is no library to preload'
    exit 0
fi

# Libtool's scripts would be preloaded, too.
build=$top_builddir
bin=$build
[ -x "$build/.libs/ggmlbackend-gguf" ] && bin=$build/.libs
LD_LIBRARY_PATH=$build/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
LC_ALL=C
GGMLBACKEND_N_THREADS=2
export LD_LIBRARY_PATH LC_ALL GGMLBACKEND_N_THREADS

top=$(pwd)/fault-$$
mkdir "$top" "$top/in" "$top/work" || exit 99
trap 'rm -rf "$top"' EXIT
"$build/examples/make-tiny-model" "$top/in/tiny.gguf" || exit 99
"$build/examples/make-tiny-model" -a gemma3 -p default "$top/in/gemma3.gguf" ||
    exit 99
"$build/examples/make-tiny-model" -t q8_0 "$top/in/q8_0.gguf" || exit 99
# What comes from standard input: cases for ggmlbackend-bench --serve.
for i in 0 1 2 3 4 5 6; do
    echo "$i 0 1"
done >"$top/in/stdin"
for value in 1 2; do
    echo '{"name": "x", "threads": 1, "supported": true, "unit": "GOP/s",' \
        "\"work\": 1e9, \"seconds\": [$value, $value.5]}" >"$top/in/$value.jsonl"
done
cd "$top/work" || exit 99
n=0
n_runs=0

# once ENVIRONMENT…: the command, in a folder that has an older file named out.
once() {
    echo old >out
    timeout 60 env "$@" LD_PRELOAD="$library" $command >../stdout 2>../stderr <../in/stdin
    status=$?
    n_runs=$((n_runs + 1))
}

# What was written, less what differs each time: free memory, times, whether paths are
# whole, and whether the model's file could be mapped.
result() {
    sed 's/[0-9]* of [0-9]* MiB free//; s/"memory_free": [0-9]*//
        s/"value": .*"work": /"work": /; s/"seconds": \[.*//
        s/"mapped": [a-z]*//; s/"[a-z]*_tokens_per_second": [0-9.]*//g; s/"library": .*"device"/"device"/' \
        ../stdout
    cat out
}

# ggmlbackend-info tells what there is and what there is not: that some module could
# not be loaded is its result, where it is said.
is_said() {
    case $command in
    */ggmlbackend-info*) [ -s ../stderr ] || grep -q '^refused: ' ../stdout ;;
    *) false ;;
    esac
}

# Sets why to what is wrong with the last run, or to nothing.
judge() {
    why=
    if [ $status -eq 124 ]; then
        why='it hangs'
    elif [ $status -gt 2 ]; then
        why="it ends with $status"
    elif [ $status -ne 0 ] && ! [ -s ../stderr ]; then
        why='it fails without a message'
    elif [ $status -ne 0 ] && [ "$(cat out)" != old ]; then
        why='it fails, and out is not what it was'
    elif [ $status -eq 0 ]; then
        result >../got
        cmp -s ../got ../wanted || is_said ||
            why='it succeeds with another result'
    fi
    [ "$(echo * .[!.]*)" = 'out .[!.]*' ] || why="$why, and leaves $(echo * .[!.]*)"
    rm -f .[!.]*
}

# The calls of function $1, of which there are $2.
fail_each() {
    nth=1
    while [ $nth -le "$2" ]; do
        once FAIL_CALL="$1" FAIL_NTH=$nth
        judge
        if [ -n "$why" ]; then
            bad=$((bad + 1))
            echo "# $1 number $nth of $2: $why: $(head -n 1 ../stderr)"
        fi
        nth=$((nth + step))
    done
}

# What is written does not arrive: calls of write are the C library's own.
fail_output() {
    [ -c /dev/full ] && [ -s ../wanted.stdout ] || return
    echo old >out
    $command >/dev/full 2>../stderr </dev/null
    status=$?
    if [ $status -ne 1 ] || ! [ -s ../stderr ]; then
        bad=$((bad + 1))
        echo "# a full standard output: status $status: $(head -n 1 ../stderr)"
    fi
}

# each COMMAND…: one test.
each() {
    name=$*
    program=$1
    shift
    command="$bin/$program $*"
    n=$((n + 1))
    bad=0
    rm -f ../counts
    once FAIL_COUNTS=../counts
    result >../wanted
    cp ../stdout ../wanted.stdout
    if [ $status -ne 0 ]; then
        echo "not ok $n - $name: status $status"
        return
    fi
    before=$n_runs
    if [ -s ../counts ]; then
        while read -r call count; do
            fail_each "$call" "$count"
        done <../counts
    fi
    if [ $n_runs -eq "$before" ]; then
        bad=$((bad + 1))
        echo '# no call was seen, so none failed'
    fi
    fail_output
    [ $bad -eq 0 ] || printf 'not '
    echo "ok $n - $name: $((n_runs - before)) runs, $bad findings"
}

each ggmlbackend-gguf show ../in/tiny.gguf
each ggmlbackend-gguf show --json ../in/tiny.gguf
each ggmlbackend-gguf check ../in/tiny.gguf
each ggmlbackend-gguf check --json --no-mmap ../in/tiny.gguf
each ggmlbackend-gguf convert --type q8_0 ../in/tiny.gguf out
each ggmlbackend-gguf convert --no-mmap --type f16 ../in/tiny.gguf out
each ggmlbackend-gguf types
each ggmlbackend-info
each ggmlbackend-info --json
if [ -f "$build/.libs/libggml-sim.so" ]; then
    GGMLBACKEND_MODULE_PATH=$build/.libs
    export GGMLBACKEND_MODULE_PATH
    each ggmlbackend-info --env
    each ggmlbackend-info --list
    unset GGMLBACKEND_MODULE_PATH
else
    for option in --env --list; do
        n=$((n + 1))
        echo "ok $n # SKIP ggmlbackend-info $option: no module of the simulated device"
    done
fi
each ggmlbackend-run -m ../in/tiny.gguf -p the -n 2
each ggmlbackend-run --no-mmap --no-flash-attn --temp 1 -m ../in/tiny.gguf -p the -n 2
each ggmlbackend-run -m ../in/tiny.gguf --perplexity ../in/1.jsonl -c 16
each ggmlbackend-run --chat --json -m ../in/gemma3.gguf -p the -n 2
each ggmlbackend-run --repack on -m ../in/q8_0.gguf -p the -n 2
each ggmlbackend-conformance --list
each ggmlbackend-conformance -o DIAG
each ggmlbackend-conformance --json -o ARGMAX
each ggmlbackend-bench --compare --json --plot out ../in/1.jsonl ../in/2.jsonl
each ggmlbackend-bench --compare ../in/1.jsonl ../in/2.jsonl
each ggmlbackend-bench --serve -t 1 --size 64x4 -k op/rope -k unary/neg \
    -k convert/f16/f32 -k get_rows/f32 -k copy/get/4KiB -k mul_mat/f32/64x4/n=1 \
    -k mul_mat_id/f32/*/n=1
each ggmlbackend-bench --serve -t 1 -m ../in/tiny.gguf -p 2,3 -g 2,3 -k model/* \
    -k tiny/adds -k attention/f16/kv=512/n=1 -k op/add

# A signal between any two steps of a convert leaves nothing behind either.
n=$((n + 1))
bad=0
command="$bin/ggmlbackend-gguf convert --type q8_0 ../in/tiny.gguf out"
for call in fsync rename fclose fdopen stat; do
    once FAIL_CALL=$call FAIL_NTH=1 FAIL_SIGNAL=15
    if [ $status -ne 143 ] || [ "$(cat out)" != old ] ||
        [ "$(echo * .[!.]*)" != 'out .[!.]*' ]; then
        bad=$((bad + 1))
        echo "# a signal in $call: status $status, $(echo * .[!.]*)"
    fi
    rm -f .[!.]*
done
[ $bad -eq 0 ] || printf 'not '
echo "ok $n - ggmlbackend-gguf convert, ended by a signal"
echo "# $n_runs runs"
echo "1..$n"
