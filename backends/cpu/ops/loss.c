/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/loss.c - cross entropy with its gradient, and the optimiser's step.
 */
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/rows.h"
#include "lib/base/checked.h"

#include <math.h>

/* F32 with dense rows, of NODE's shape. */
static bool
is_row_operand(const struct ggml_tensor *t, const struct ggml_tensor *node)
{
    return t->type == GGML_TYPE_F32 && gb_is_dense(t) &&
           ggml_are_same_shape(t, node);
}

/*
 * dst = -(1 / rows) * sum of labels * log_softmax(logits): src0 are the logits,
 * src1 the labels.  A label of 0 adds nothing, whatever its logit.
 */
static bool
cross_entropy_can_run(const struct ggml_tensor *node)
{
    return node->type == GGML_TYPE_F32 && ggml_is_scalar(node) &&
           is_row_operand(node->src[0], node->src[0]) &&
           is_row_operand(node->src[1], node->src[0]);
}

/* Rows without elements, of which there may be any number, have no loss. */
static int64_t
logit_tiles(const struct ggml_tensor *node)
{
    return ggml_is_empty(node->src[0]) ? 0
                                       : gb_cpu_tiles_by_rows(node->src[0]);
}

/* One sum a tile. */
static size_t
cross_entropy_shared(const struct ggml_tensor *node)
{
    return gb_mul_or_max((size_t)logit_tiles(node), sizeof(double));
}

/* ln of the sum of exp(x - max). */
static double
log_sum_exp(const struct gb_cpu_kernels *k, int64_t n, const float *x,
            float max)
{
    float unused[GB_CPU_PIECE];
    double sum = 0.0;

    for (int64_t i = 0; i < n; i += GB_CPU_PIECE) {
        const int64_t len = n - i < GB_CPU_PIECE ? n - i : GB_CPU_PIECE;

        sum += k->exp_sum_f32(len, unused, x + i, max);
    }
    return log(sum);
}

static enum ggml_status
cross_entropy_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct gb_cpu_kernels *k = task->k;
    const struct ggml_tensor *logits = task->node->src[0];
    const struct ggml_tensor *labels = task->node->src[1];
    const int64_t n = logits->ne[0];
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(logits, tile);
    double sum = 0.0;

    for (int64_t row = rows.first; row < rows.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(logits, row);
        const float *x =
            (void *)gb_cpu_row_ptr(logits, at.i1, at.i2, at.i3);
        const float *weights =
            (void *)gb_cpu_row_ptr(labels, at.i1, at.i2, at.i3);
        const float max = k->max_f32(n, x);

        sum += k->sum_weighted_f32(n, weights, x, max) -
               k->sum_f32(n, weights) * log_sum_exp(k, n, x, max);
    }
    ((double *)task->shared)[tile] = sum;
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
cross_entropy_finish(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const double *parts = task->shared;
    double sum = 0.0;

    (void)tile;
    for (int64_t i = 0; i < logit_tiles(node); i++)
        sum += parts[i];
    *(float *)node->data = (float)(-sum / (double)ggml_nrows(node->src[0]));
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_cross_entropy = {
    .n_src = 2,
    .can_run = cross_entropy_can_run,
    .tiles = logit_tiles,
    .shared = cross_entropy_shared,
    .run = cross_entropy_run,
    .finish = cross_entropy_finish,
};

/*
 * dst = (softmax(logits) - labels) * gradient / rows: src0 is the gradient, one
 * number, src1 the logits, src2 the labels.
 */
static bool
cross_entropy_back_can_run(const struct ggml_tensor *node)
{
    return node->src[0]->type == GGML_TYPE_F32 &&
           ggml_is_scalar(node->src[0]) && is_row_operand(node, node) &&
           is_row_operand(node->src[1], node) &&
           is_row_operand(node->src[2], node);
}

static enum ggml_status
cross_entropy_back_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct gb_cpu_kernels *k = task->k;
    const struct ggml_tensor *node = task->node;
    const int64_t n = node->ne[0];
    const float gradient = *(const float *)node->src[0]->data;
    const float factor = gradient / (float)ggml_nrows(node);
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(node, tile);

    for (int64_t row = rows.first; row < rows.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(node, row);
        float *const dst = (void *)gb_cpu_row_ptr(node, at.i1, at.i2, at.i3);
        const float *x =
            (void *)gb_cpu_row_ptr(node->src[1], at.i1, at.i2, at.i3);
        const float *labels =
            (void *)gb_cpu_row_ptr(node->src[2], at.i1, at.i2, at.i3);
        const double sum = k->exp_sum_f32(n, dst, x, k->max_f32(n, x));

        k->scale_f32(n, dst, dst, (float)(1.0 / sum));
        k->sub_scaled_f32(n, dst, dst, labels, 1.0f, factor);
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_cross_entropy_back = {
    .n_src = 3,
    .can_run = cross_entropy_back_can_run,
    .tiles = gb_cpu_tiles_by_rows,
    .run = cross_entropy_back_run,
};

/* src0 weights, src1 gradient, src2 and src3 moments, src4 seven numbers;
 * weights and moments are changed where they are. */
static bool
adamw_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *params = node->src[4];

    if (!is_row_operand(node, node))
        return false;
    for (int i = 0; i < 4; i++)
        if (!is_row_operand(node->src[i], node))
            return false;
    return params->type == GGML_TYPE_F32 && ggml_is_contiguous(params) &&
           ggml_nelements(params) == 7;
}

static enum ggml_status
adamw_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(node, tile);

    for (int64_t row = rows.first; row < rows.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(node, row);
        /* The node is a view of the parameters, in their memory. */
        const struct ggml_tensor *of[4] = {
            node, node->src[1], node->src[2], node->src[3]
        };
        float *operands[4];

        for (int i = 0; i < 4; i++)
            operands[i] = (void *)gb_cpu_row_ptr(of[i], at.i1, at.i2, at.i3);
        task->k->adamw_f32(node->ne[0], operands[0], operands[2], operands[3],
                           operands[1], node->src[4]->data);
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_adamw = {
    .n_src = 5,
    .can_run = adamw_can_run,
    .tiles = gb_cpu_tiles_by_rows,
    .run = adamw_run,
    .stands_alone = true,
};
