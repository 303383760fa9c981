/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/optable.c - the rows, by operation.
 */
#include "config.h"

#include "backends/cpu/ops/op.h"

static const struct gb_cpu_op *const rows[GGML_OP_COUNT] = {
#define GB_CPU_OP(op, row) [GGML_OP_##op] = &gb_cpu_op_##row,
#include "backends/cpu/ops/optable.def"
#undef GB_CPU_OP
};

const struct gb_cpu_op *
gb_cpu_op_find(const struct ggml_tensor *node)
{
    const unsigned op = (unsigned)node->op;

    return op < GGML_OP_COUNT ? rows[op] : NULL;
}
