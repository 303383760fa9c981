#!/bin/sh
# SPDX-License-Identifier: MIT
# Every input of the corpora, and some thousand made from them, do no harm.
echo 1..3
n=0
for target in gguf row graph; do
    n=$((n + 1))
    if "$top_builddir/fuzz/replay-$target" -random=20000 \
        "$top_srcdir/fuzz/corpus/$target" >"fuzz-$target.out" 2>&1; then
        sed 's/^/# /' "fuzz-$target.out"
        echo "ok $n - $target"
    else
        tail -n 20 "fuzz-$target.out" | sed 's/^/# /'
        echo "not ok $n - $target"
    fi
    rm -f "fuzz-$target.out"
done
