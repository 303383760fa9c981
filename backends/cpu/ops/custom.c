/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/custom.c - functions that the client gives.
 *
 * With f the client's function, its pointer a parameter of the node:
 *   MAP_UNARY        f(n, dst row, src0 row), for each row of n floats
 *   MAP_BINARY       f(n, dst row, src0 row, src1 row), likewise
 *   MAP_CUSTOMi_F32  f(dst, src0, ...) with i sources, once
 *   MAP_CUSTOMi      f(dst, src0, ..., ith, nth, userdata), nth calls in
 *                    parallel, with ith from 0 to nth - 1
 *
 * MAP_UNARY and MAP_BINARY take F32 of one shape with dense rows.  The others
 * hand tensors of any type and strides to the function, which must know.
 *
 * Threads   one, in a single tile; for MAP_CUSTOMi as many as the client wants
 *           and there are, so that nth depends on the number of threads.
 *
 * A function may read and write anything (lib/op/ops.def says so), so no other
 * node runs at the same time, and what was prepared before it is prepared again.
 */
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/rows.h"

#include <string.h>

/* The parameters of MAP_CUSTOM1 to MAP_CUSTOM3, in the order of bytes that
 * ggml/op-custom.h documents; other operations have the function alone. */
struct custom {
    union {
        ggml_unary_op_f32_t unary;
        ggml_binary_op_f32_t binary;
        ggml_custom1_op_f32_t custom1_f32;
        ggml_custom2_op_f32_t custom2_f32;
        ggml_custom3_op_f32_t custom3_f32;
        ggml_custom1_op_t custom1;
        ggml_custom2_op_t custom2;
        ggml_custom3_op_t custom3;
    } call;
    int n_tasks; /* calls that the client wants, or GGML_N_TASKS_MAX */
    void *userdata;
};

_Static_assert(sizeof(struct custom) <= GGML_MAX_OP_PARAMS,
               "parameters of custom operations");

/* Copied, since op_params need not be aligned for pointers. */
static struct custom
custom_of(const struct ggml_tensor *node)
{
    struct custom custom;

    memcpy(&custom, node->op_params, sizeof(custom));
    return custom;
}

/* How many sources the client's function is given. */
static int
sources_of(const struct ggml_tensor *node)
{
    switch ((int)node->op) {
    case GGML_OP_MAP_BINARY:
    case GGML_OP_MAP_CUSTOM2_F32:
    case GGML_OP_MAP_CUSTOM2:
        return 2;
    case GGML_OP_MAP_CUSTOM3_F32:
    case GGML_OP_MAP_CUSTOM3:
        return 3;
    default:
        return 1;
    }
}

/* Are all sources and the function there?  Any member of the union may be
 * asked: all begin at the same byte. */
static bool
custom_f32_can_run(const struct ggml_tensor *node)
{
    for (int i = 0; i < sources_of(node); i++)
        if (node->src[i] == NULL)
            return false;
    return custom_of(node).call.unary != NULL;
}

/* F32 of one shape, with dense rows that an int can count. */
static bool
map_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *const operands[] = {
        node, node->src[0], node->src[1]
    };

    for (int i = 0; i < 3; i++)
        if (operands[i] != NULL &&
            (operands[i]->type != GGML_TYPE_F32 ||
             !gb_is_dense(operands[i]) ||
             !ggml_are_same_shape(operands[i], node)))
            return false;
    return custom_f32_can_run(node) && node->ne[0] <= INT32_MAX;
}

static enum ggml_status
map_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct custom custom = custom_of(node);
    const int n = (int)node->ne[0];

    (void)tile;
    for (int64_t row = 0; row < ggml_nrows(node); row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(node, row);
        float *const dst = (void *)gb_cpu_row_ptr(node, at.i1, at.i2, at.i3);
        const float *a =
            (void *)gb_cpu_row_ptr(node->src[0], at.i1, at.i2, at.i3);

        if (node->op == GGML_OP_MAP_UNARY)
            custom.call.unary(n, dst, a);
        else
            custom.call.binary(
                n, dst, a,
                (void *)gb_cpu_row_ptr(node->src[1], at.i1, at.i2, at.i3));
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_map = {
    .n_src = 1,
    .can_run = map_can_run,
    .tiles = gb_cpu_one_tile,
    .run = map_run,
};

static enum ggml_status
custom_f32_run(const struct gb_cpu_task *task, int64_t tile)
{
    struct ggml_tensor *const node = task->node;
    const struct custom custom = custom_of(node);

    (void)tile;
    switch ((int)node->op) {
    case GGML_OP_MAP_CUSTOM1_F32:
        custom.call.custom1_f32(node, node->src[0]);
        break;
    case GGML_OP_MAP_CUSTOM2_F32:
        custom.call.custom2_f32(node, node->src[0], node->src[1]);
        break;
    default:
        custom.call.custom3_f32(node, node->src[0], node->src[1],
                                node->src[2]);
        break;
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_custom_f32 = {
    .n_src = 1,
    .can_run = custom_f32_can_run,
    .tiles = gb_cpu_one_tile,
    .run = custom_f32_run,
};

/* The number of calls is above 0, or stands for as many as there are
 * threads. */
static bool
custom_can_run(const struct ggml_tensor *node)
{
    const int n_tasks = custom_of(node).n_tasks;

    return custom_f32_can_run(node) &&
           (n_tasks > 0 || n_tasks == GGML_N_TASKS_MAX);
}

/* The calls that the client wants: an upper bound, since a plan takes no more
 * tiles than there are threads. */
static int64_t
custom_tiles(const struct ggml_tensor *node)
{
    const int n_tasks = custom_of(node).n_tasks;

    return n_tasks == GGML_N_TASKS_MAX ? GGML_MAX_N_THREADS : n_tasks;
}

/* Call ITH of NTH; tiles behind the last call have nothing to do. */
static enum ggml_status
custom_run(const struct gb_cpu_task *task, int64_t tile)
{
    struct ggml_tensor *const node = task->node;
    const struct custom custom = custom_of(node);
    const int64_t wanted = custom_tiles(node);
    const int nth =
        wanted < task->n_threads ? (int)wanted : task->n_threads;
    const int ith = (int)tile;

    if (ith >= nth)
        return GGML_STATUS_SUCCESS;
    switch ((int)node->op) {
    case GGML_OP_MAP_CUSTOM1:
        custom.call.custom1(node, node->src[0], ith, nth, custom.userdata);
        break;
    case GGML_OP_MAP_CUSTOM2:
        custom.call.custom2(node, node->src[0], node->src[1], ith, nth,
                            custom.userdata);
        break;
    default:
        custom.call.custom3(node, node->src[0], node->src[1], node->src[2],
                            ith, nth, custom.userdata);
        break;
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_custom = {
    .n_src = 1,
    .can_run = custom_can_run,
    .tiles = custom_tiles,
    .run = custom_run,
    .tiles_by_threads = true,
};
