#!/bin/sh
# SPDX-License-Identifier: MIT
# Every input of the corpora, and some thousand made from them, do no harm.
. "$top_srcdir/fuzz/replay-one.sh"
# Sizes that no machine has are refused by the library, not by AddressSanitizer.
ASAN_OPTIONS="allocator_may_return_null=1:$ASAN_OPTIONS"
export ASAN_OPTIONS
echo 1..4
replay 1 gguf -random=20000 gguf
replay 2 row -random=20000 row
replay 3 graph -random=20000 graph
# Nodes are many choices, which few inputs of the corpus have near them.
replay 4 operations -noise=50000 operations
