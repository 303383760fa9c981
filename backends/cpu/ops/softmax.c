/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/softmax.c - softmax of rows, with a scale and a mask, and its
 * gradient.
 */
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/params.h"
#include "backends/cpu/ops/rows.h"
#include "backends/cpu/ops/slope.h"

#include <math.h>

/*
 * Softmax over dimension 0.
 *
 *   src0   F32, rows dense, any other strides
 *   src1   mask, F32 or F16, rows dense, [n0, n1 or more], or NULL for none;
 *          the same for all heads and batches
 *   params scale, max_bias
 *
 * With s = scale * x + slope(head) * mask:
 *     dst = exp(s - max s) / sum(exp(s - max s))     over each row.
 * A row whose s are all -inf gives zeros, not NaN.
 *
 * max_bias 0 means slopes of 1; see ops/slope.h.  The largest s is taken off so
 * that no exponential overflows; it cancels in the quotient.
 *
 * Threads   tiles are rows.
 * Accuracy  exponentials of about 2 ulp, their sum joined in double.
 * Source    slope: "Train Short, Test Long" (arXiv 2108.12409), section 3.
 */
static bool
soft_max_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *mask = node->src[1];

    if (!gb_cpu_is_plain(a) || !gb_cpu_is_plain(node) ||
        !gb_cpu_same_from(a, node, 0))
        return false;
    return mask == NULL ||
           ((mask->type == GGML_TYPE_F32 || mask->type == GGML_TYPE_F16) &&
            gb_is_dense(mask) && mask->ne[0] == a->ne[0] &&
            mask->ne[1] >= a->ne[1] && mask->ne[2] > 0 && mask->ne[3] > 0);
}

/* Three passes over a row: the largest score, the exponentials and their sum,
 * and the division, which is a multiplication with the sum's reciprocal. */
static enum ggml_status
soft_max_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *mask = node->src[1];
    const int64_t n = node->ne[0];
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(node, tile);

    for (int64_t row = rows.first; row < rows.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(node, row);
        float *const dst = (void *)gb_cpu_row_ptr(node, at.i1, at.i2, at.i3);
        struct gb_scores scores = {
            .x = (void *)gb_cpu_row_ptr(a, at.i1, at.i2, at.i3),
            .scale = gb_cpu_param_f32(node, 0),
            .slope = gb_cpu_slope(
                gb_cpu_param_f32(node, 1), node->ne[2], at.i2),
        };
        float max;
        double sum;

        if (mask != NULL) {
            scores.mask = gb_cpu_row_ptr(mask, at.i1, 0, 0);
            scores.mask_type = mask->type;
        }
        max = task->k->scores_max(n, &scores);
        /* With nothing but -inf any shift gives zeros, but -inf itself. */
        sum = task->k->scores_exp_sum(
            n, dst, &scores, max > -INFINITY ? max : 0.0f);
        if (sum != 0.0)
            task->k->scale_f32(n, dst, dst, (float)(1.0 / sum));
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_soft_max = {
    .n_src = 1,
    .can_run = soft_max_can_run,
    .tiles = gb_cpu_tiles_by_rows,
    .run = soft_max_run,
    .by_rows = true,
};

/*
 * SOFT_MAX_BACK: dst = scale * y * (dy - sum of y * dy), over each row.
 *
 *   src0   dy, the gradient of the result, F32, rows dense, any other strides
 *   src1   y, the result of SOFT_MAX, likewise
 *   params scale; max_bias, which must be 0
 *
 * Accuracy  the sum is joined in double.
 */
static bool
soft_max_back_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *const operands[] = {
        node, node->src[0], node->src[1]
    };

    for (int i = 0; i < 3; i++)
        if (!gb_cpu_is_plain(operands[i]) ||
            !gb_cpu_same_from(operands[i], node, 0))
            return false;
    return gb_cpu_param_f32(node, 1) == 0.0f;
}

static enum ggml_status
soft_max_back_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(node, tile);
    const float scale = gb_cpu_param_f32(node, 0);
    const int64_t n = node->ne[0];

    for (int64_t row = rows.first; row < rows.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(node, row);
        float *const dst = (void *)gb_cpu_row_ptr(node, at.i1, at.i2, at.i3);
        const float *dy =
            (void *)gb_cpu_row_ptr(node->src[0], at.i1, at.i2, at.i3);
        const float *y =
            (void *)gb_cpu_row_ptr(node->src[1], at.i1, at.i2, at.i3);
        const float sum = (float)task->k->sum_prod_f32(n, y, dy);

        task->k->soft_max_back_f32(n, dst, dy, y, sum, scale);
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_soft_max_back = {
    .n_src = 2,
    .can_run = soft_max_back_can_run,
    .tiles = gb_cpu_tiles_by_rows,
    .run = soft_max_back_run,
};
