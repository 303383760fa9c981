#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs of calls within calls give right numbers or refusals, and end.  With
# -fsanitize=thread they also have no race and take their locks in one order.
. "$top_srcdir/fuzz/replay-one.sh"
TSAN_OPTIONS="detect_deadlocks=1:second_deadlock_stack=1:$TSAN_OPTIONS"
export TSAN_OPTIONS
echo 1..1
replay 1 reentry -random=1000 'calls within calls'
