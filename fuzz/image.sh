#!/bin/sh
# SPDX-License-Identifier: MIT
# Modules with some of their words changed are looked at without harm.
. "$top_srcdir/fuzz/replay-one.sh"
GGMLBACKEND_FUZZ_MODULE=$top_builddir/tests/loader/modules/good.so
export GGMLBACKEND_FUZZ_MODULE
echo 1..1
replay 1 image -random=20000 image
