/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/loss.c - cross entropy with its gradient, and the optimiser's step.
 *
 * All tensors are F32.  Rows run over the classes, R is the number of rows, and
 * softmax is that of one row.
 *
 * CROSS_ENTROPY_LOSS:
 *     dst = -1/R * sum over rows and classes of labels * log(softmax(logits))
 *   src0   logits, rows dense
 *   src1   labels, the probabilities of the classes; the shape of src0, rows
 *          dense
 *   dst    one element
 *
 * CROSS_ENTROPY_LOSS_BACK:
 *     dst = (softmax(logits) - labels) * gradient / R
 *   This is the gradient for labels whose sum in each row is 1.
 *   src0   the gradient of the loss, one element
 *   src1   logits, src2 labels: as above
 *   dst    the shape of src1, rows dense
 *
 * OPT_STEP_ADAMW: one step of AdamW; its formula is in
 * kernels/elementwise/optimize.c.
 *   src0   the parameters, changed in place: dst is a view of them
 *   src1   their gradient
 *   src2   first moment, changed
 *   src3   second moment, changed
 *   src4   [7]: alpha, beta1, beta2, eps, wd, beta1h, beta2h
 *
 * Threads   tiles are whole rows.  The loss of each tile goes to the shared
 *           memory, and finish adds them in the order of the tiles.
 * Accuracy  exponentials in F32; the loss is added up in double and rounded
 *           once.
 * Source    AdamW: "Decoupled Weight Decay Regularization" (arXiv 1711.05101),
 *           algorithm 2.
 */
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/rows.h"
#include "lib/base/checked.h"

#include <math.h>

/* Is T F32 with dense rows, and of NODE's shape? */
static bool
is_row_operand(const struct ggml_tensor *t, const struct ggml_tensor *node)
{
    return t->type == GGML_TYPE_F32 && gb_is_dense(t) &&
           ggml_are_same_shape(t, node);
}

/* The shape of labels is that of logits; the result is one number. */
static bool
cross_entropy_can_run(const struct ggml_tensor *node)
{
    return node->type == GGML_TYPE_F32 && ggml_is_scalar(node) &&
           is_row_operand(node->src[0], node->src[0]) &&
           is_row_operand(node->src[1], node->src[0]);
}

/* Tiles of rows of logits.  Rows without elements have no loss, and their
 * number has no limit: no tiles. */
static int64_t
logit_tiles(const struct ggml_tensor *node)
{
    return ggml_is_empty(node->src[0]) ? 0
                                       : gb_cpu_tiles_by_rows(node->src[0]);
}

/* Bytes of shared memory: one double for each tile. */
static size_t
cross_entropy_shared(const struct ggml_tensor *node)
{
    return gb_mul_or_max((size_t)logit_tiles(node), sizeof(double));
}

/* log(sum of exp(x - MAX)), for MAX the largest x, which is finite:
 * exponentials are 1 at most and one of them is 1, so that neither overflow nor
 * log(0) can occur. */
static double
log_sum_exp(const struct gb_cpu_kernels *k, int64_t n, const float *x,
            float max)
{
    float unused[GB_CPU_BUFFER]; /* the kernel stores exponentials too */
    double sum = 0.0;

    for (int64_t i = 0; i < n; i += GB_CPU_BUFFER) {
        const int64_t len = n - i < GB_CPU_BUFFER ? n - i : GB_CPU_BUFFER;

        sum += k->exp_sum_f32(len, unused, x + i, max);
    }
    return log(sum);
}

/*
 * The sum over the rows of a tile.  With l the labels, m the largest logit and
 * log softmax(x) = x - m - log(sum of exp(x - m)), a row's is
 *     sum(l * (x - m)) - sum(l) * log(sum of exp(x - m))
 * A label of 0 adds nothing, even if its logit is -infinity.
 */
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

/* The mean over the rows, from the sums of the tiles in their order. */
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

/* Logits and labels have the shape of the node, the gradient is one number. */
static bool
cross_entropy_back_can_run(const struct ggml_tensor *node)
{
    return node->src[0]->type == GGML_TYPE_F32 &&
           ggml_is_scalar(node->src[0]) && is_row_operand(node, node) &&
           is_row_operand(node->src[1], node) &&
           is_row_operand(node->src[2], node);
}

/* Passes over each row of a tile: maximum, exponentials and their sum, softmax,
 * difference to the labels. */
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

/* Parameters, gradient and both moments have the shape of the node; the moments, src2
 * and src3, are written. */
static bool
adamw_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *params = node->src[4];

    if (!is_row_operand(node, node))
        return false;
    for (int i = 0; i < 4; i++)
        if (!is_row_operand(node->src[i], node) ||
            (i >= 2 && !gb_cpu_has_places(node->src[i])))
            return false;
    return params->type == GGML_TYPE_F32 && ggml_is_contiguous(params) &&
           ggml_nelements(params) == 7;
}

/* One step for the rows of a tile. */
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
};
