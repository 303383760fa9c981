/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/optable.c - the rows, by operation: one array that is indexed with
 * the operation's number.  Operations that are not in optable.def have no row,
 * and nodes of theirs are refused, but for views, which compute nothing.
 */
#include "config.h"

#include "backends/cpu/ops/op.h"

/* Each row is the last thing in its operation's file. */
#define GB_CPU_OP(op, row) extern const struct gb_cpu_op gb_cpu_op_##row;
#include "backends/cpu/ops/optable.def"
#undef GB_CPU_OP

const struct gb_cpu_op *const gb_cpu_ops[GGML_OP_COUNT] = {
#define GB_CPU_OP(op, row) [GGML_OP_##op] = &gb_cpu_op_##row,
#include "backends/cpu/ops/optable.def"
#undef GB_CPU_OP
};
