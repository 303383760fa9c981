#!/bin/sh
# SPDX-License-Identifier: MIT
# Options of the smaller programs, names of new files, and a device that
# ggmlbackend-conformance has to find fault with.
conformance=$top_builddir/ggmlbackend-conformance
gguf=$top_builddir/ggmlbackend-gguf
info=$top_builddir/ggmlbackend-info
dir=usage-tool-$$
mkdir "$dir" || exit 99
trap 'rm -rf "$dir"' EXIT
. "$top_srcdir/tests/tools/claim.sh"
"$top_builddir/examples/make-tiny-model" "$dir/tiny.gguf" || exit 99

# ggmlbackend-conformance
claim 'conformance --help' "$conformance" --help
says 'goes to standard output' grep -q '^Usage' "$dir/out"
claim 'conformance --version' "$conformance" --version
refuse 2 'an unknown option' 'no option --frobnicate' "$conformance" --frobnicate
refuse 2 'an argument' "unexpected argument 'x'" "$conformance" x
refuse 2 'an unknown operation' "no operation 'nothing'" "$conformance" -o nothing
refuse 2 'a seed that is none' "'x' is not a whole number" "$conformance" --seed x
refuse 1 'an unknown device' "no device 'none', only .*CPU.*ggmlbackend-info" \
    "$conformance" --device none
for part in '' / 1 1/ /2 0/2 3/2 0x1/2 1/0x2 +1/2 ' 1/2' 1/2x -1/2 1/2/3 \
    1/99999999999999999999; do
    refuse 2 "no part '$part'" "^ggmlbackend-conformance: --part: " \
        "$conformance" --part "$part"
done
claim 'a list of devices' "$conformance" --list-devices
says 'has the CPU' grep -q '^CPU$' "$dir/out"
claim 'another seed, and a line for each case' "$conformance" --seed 7 -v -o DIAG
says 'with its shapes' test "$(grep -c '^passed DIAG -> f32\[' "$dir/err")" -eq 14
if [ -f "$top_builddir/.libs/libggml-sim.so" ]; then
    GGMLBACKEND_MODULE_PATH=$top_builddir/.libs
    export GGMLBACKEND_MODULE_PATH
    claim 'an operation that a device has not' \
        env GGMLBACKEND_SIM=devices=1,without_ops=DIAG \
        "$conformance" -v -o DIAG -d Sim0
    says 'is told' test "$(grep -c '^unsupported DIAG' "$dir/err")" -eq 14
    says 'and counted' grep -q '^DIAG  *0  *0  *14$' "$dir/out"
    refuse 1 'a device without memory' 'FAILED DIAG .*: there is no memory for it' \
        env GGMLBACKEND_SIM=devices=1,memory=4K "$conformance" -o DIAG -d Sim0
    unset GGMLBACKEND_MODULE_PATH
else
    skip 'no module of the simulated device'
fi

# What computes wrongly: another function comes between.
echo '#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "ggml.h"
int ggml_backend_graph_compute(void *backend, struct ggml_cgraph *graph)
{
    struct ggml_tensor *t = ggml_graph_node(graph, ggml_graph_n_nodes(graph) - 1);
    const char *how = getenv("HOW");
    float *x = t->data;
    (void)backend;
    memset(x, 0, ggml_nbytes(t));
    if (strcmp(how, "fails") == 0)
        return -1;
    if (strcmp(how, "nan") == 0)
        memset(x, 0xff, ggml_nbytes(t));
    if (strcmp(how, "inf") == 0)
        for (size_t i = 0; i < ggml_nbytes(t) / 4; i++)
            x[i] = 1e30f * 1e30f;
    if (strcmp(how, "before") == 0)
        ((char *)x)[-1] = 0;
    if (strcmp(how, "behind") == 0)
        ((char *)x)[ggml_nbytes(t)] = 0;
    return 0;
}' >"$dir/wrong.c"
wrong=$(pwd)/$dir/wrong.so
if [ -f "$top_builddir/.libs/libggmlbackend.so.0" ] &&
    $CC -w -shared -fPIC -I"$top_srcdir/include" -o "$wrong" "$dir/wrong.c" \
        2>/dev/null && env LD_PRELOAD="$wrong" "$info" --version >"$dir/out" 2>&1
then
    for how in fails nan inf zero; do
        refuse 1 "a device that computes wrongly: $how" '^FAILED EXP' \
            env LD_PRELOAD="$wrong" HOW=$how "$conformance" -o EXP
    done
else
    skip 'no function can come between'
fi

# ggmlbackend-info
refuse 2 'info with an argument' "unexpected argument 'x'" "$info" x
claim 'info --env' "$info" --env
says 'says what each variable is' grep -q "^    .*, default '.*': " "$dir/out"

# ggmlbackend-gguf
refuse 2 'show without a file' 'show takes 1 file, not 0' "$gguf" show
refuse 2 'show of two' 'show takes 1 file, not 2' "$gguf" show a b
refuse 2 'check of two' 'check takes 1 file, not 2' "$gguf" check a b
refuse 2 'convert without a type' 'needs --type TYPE; types: f32' "$gguf" convert a b
refuse 2 'convert of one' 'convert takes 2 files, not 1' "$gguf" convert --type f16 a
refuse 2 'a type of no weights' 'i32 is no type of weights; types: ' \
    "$gguf" convert --type i32 "$dir/tiny.gguf" "$dir/x"
claim 'a type in capitals, and a file of this folder' \
    sh -c 'tool=$(cd "${1%/*}" && pwd)/${1##*/} && cd "$2" &&
        "$tool" convert --type F16 tiny.gguf here.gguf' - "$gguf" "$dir"
claim 'is as one by its path' sh -c '"$1" convert --type f16 "$2/tiny.gguf" \
    "$2/there.gguf" && cmp "$2/here.gguf" "$2/there.gguf"' - "$gguf" "$dir"
claim 'a name that somebody has taken before' sh -c 'cd "$2" &&
    : >.ggmlbackend-$$-0 && echo $$ >pid &&
    exec "$(cd "${1%/*}" && pwd)/${1##*/}" convert --type f16 tiny.gguf z.gguf' \
    - "$gguf" "$dir"
says 'stays as it is' \
    sh -c 'f=$1/.ggmlbackend-$(cat "$1/pid")-0; test -f "$f" && ! test -s "$f"' \
    - "$dir"
says 'and the file is whole' cmp "$dir/z.gguf" "$dir/there.gguf"
claim 'signals that are ignored stay so' sh -c 'trap "" HUP TERM
    "$1" convert --type f16 "$2/tiny.gguf" "$2/nohup.gguf"' - "$gguf" "$dir"
says 'and the file is the same' cmp "$dir/nohup.gguf" "$dir/there.gguf"
echo "1..$n"
