/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/norm.c - rows brought to mean 0 and length 1, or to length 1 alone.
 *
 * NORM RMS_NORM RMS_NORM_BACK, over rows of n elements:
 *
 *     NORM            dst = (x - mean(x)) / sqrt(mean((x - mean(x))^2) + eps)
 *     RMS_NORM        dst = x * f,  f = 1 / sqrt(mean(x^2) + eps)
 *     RMS_NORM_BACK   dst = f * (dz - x * sum(x * dz) / (sum(x^2) + n * eps)),
 *                     the gradient of RMS_NORM for x, dz being that of its
 *                     result
 *
 *   src0   x (RMS_NORM_BACK: dz), F32, rows dense, any other strides
 *   src1   RMS_NORM_BACK: x, likewise
 *   dst    F32, the same shape, likewise; may be src0
 *   params eps
 *
 * GROUP_NORM: as NORM, over elements of several rows and channels; see there.
 *
 * Threads   tiles are rows; of GROUP_NORM a group of channels of a batch.
 * Accuracy  sums are joined in double; the variance is summed around the mean,
 *           in a second pass, since the difference of two large sums would lose
 *           its digits.
 * Sources   "Layer Normalization" (arXiv 1607.06450), "Root Mean Square Layer
 *           Normalization" (1910.07467), "Group Normalization" (1803.08494).
 */
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/params.h"
#include "backends/cpu/ops/rows.h"

#include <math.h>

/* All tensors, as far as they are there, are F32 of the same shape with dense
 * rows. */
static bool
norm_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *const operands[] = {
        node, node->src[0], node->src[1]
    };

    for (int i = 0; i < 3; i++)
        if (operands[i] != NULL &&
            (!gb_cpu_is_plain(operands[i]) ||
             !gb_cpu_same_from(operands[i], node, 0)))
            return false;
    return node->op != GGML_OP_RMS_NORM_BACK || node->src[1] != NULL;
}

/* 1 / sqrt(SUM_SQ / N + EPS), by one division: short rows wait for little
 * else. */
static float
factor_of(double sum_sq, int64_t n, float eps)
{
    return (float)sqrt((double)n / (sum_sq + (double)n * eps));
}

/* NORM of one row: sum, then squares of what is left without the mean. */
static void
norm_row(const struct gb_cpu_kernels *k, int64_t n, float *dst, const float *x,
         float eps)
{
    const float mean = (float)(k->sum_f32(n, x) / (double)n);
    const double sum_sq = k->sum_sq_dev_f32(n, x, mean);

    k->shift_scale_f32(n, dst, x, mean, factor_of(sum_sq, n, eps));
}

/* RMS_NORM of one row. */
static void
rms_norm_row(const struct gb_cpu_kernels *k, int64_t n, float *dst,
             const float *x, float eps)
{
    k->scale_f32(n, dst, x, factor_of(k->sum_sq_f32(n, x), n, eps));
}

/* RMS_NORM_BACK of one row: the part of DZ along X is taken off, since a longer
 * X gives the same result (but for eps), and the rest is scaled as X was. */
static void
rms_norm_back_row(const struct gb_cpu_kernels *k, int64_t n, float *dst,
                  const float *dz, const float *x, float eps)
{
    const double sum_sq = k->sum_sq_f32(n, x);
    const double along = k->sum_prod_f32(n, x, dz);

    k->sub_scaled_f32(n, dst, dz, x,
                      (float)(along / (sum_sq + (double)n * eps)),
                      factor_of(sum_sq, n, eps));
}

static enum ggml_status
norm_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *b = node->src[1];
    const float eps = gb_cpu_param_f32(node, 0);
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(node, tile);
    struct gb_cpu_row at = gb_cpu_row_at(node, rows.first);

    for (int64_t row = rows.first; row < rows.last; row++) {
        float *const dst = (void *)gb_cpu_row_ptr(node, at.i1, at.i2, at.i3);
        const float *x =
            (void *)gb_cpu_row_ptr(node->src[0], at.i1, at.i2, at.i3);

        if (node->op == GGML_OP_NORM)
            norm_row(task->k, node->ne[0], dst, x, eps);
        else if (node->op == GGML_OP_RMS_NORM)
            rms_norm_row(task->k, node->ne[0], dst, x, eps);
        else
            rms_norm_back_row(
                task->k, node->ne[0], dst, x,
                (void *)gb_cpu_row_ptr(b, at.i1, at.i2, at.i3), eps);
        gb_cpu_row_advance(node, &at);
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_norm = {
    .n_src = 1,
    .can_run = norm_can_run,
    .tiles = gb_cpu_tiles_by_rows,
    .run = norm_run,
    .by_rows = true,
};

/*
 * GROUP_NORM: x [width, height, channels, batches] in groups of channels, each
 * group of each batch brought to mean 0 and variance 1 as a whole.
 *
 *   params n_groups, eps
 *
 * Channels (dimension 2) of one group are the channels by the groups, rounded
 * up; the last group may have fewer, and some groups none.
 */
static int64_t
channels_per_group(const struct ggml_tensor *node)
{
    const int64_t groups = gb_cpu_param_i32(node, 0);

    return (node->ne[2] + groups - 1) / groups;
}

/* Groups that have channels. */
static int64_t
group_count(const struct ggml_tensor *node)
{
    const int64_t per_group = channels_per_group(node);

    return (node->ne[2] + per_group - 1) / per_group;
}

static bool
group_norm_can_run(const struct ggml_tensor *node)
{
    return norm_can_run(node) && gb_cpu_param_i32(node, 0) > 0;
}

/* A tile is a group of a batch: its mean needs all of it. */
static int64_t
group_norm_tiles(const struct ggml_tensor *node)
{
    return ggml_is_empty(node) ? 0 : group_count(node) * node->ne[3];
}

/* Rows of one group: channels [first, last) of batch i3. */
struct group {
    int64_t first, last, i3;
};

/* The mean over the group's elements of x, or of (x - mean)^2 with MEAN
 * given. */
static double
group_mean(const struct gb_cpu_kernels *k, const struct ggml_tensor *a,
           const struct group *group, const float *mean)
{
    const int64_t rows = (group->last - group->first) * a->ne[1];
    double sum = 0.0;

    for (int64_t row = 0; row < rows; row++) {
        const float *x = (void *)gb_cpu_row_ptr(
            a, row % a->ne[1], group->first + row / a->ne[1], group->i3);

        sum += mean == NULL ? k->sum_f32(a->ne[0], x)
                            : k->sum_sq_dev_f32(a->ne[0], x, *mean);
    }
    return sum / (double)(rows * a->ne[0]);
}

static enum ggml_status
group_norm_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const int64_t per_group = channels_per_group(node);
    const int64_t first = tile % group_count(node) * per_group;
    const int64_t behind = first + per_group;
    const struct group group = {
        .first = first,
        .last = behind < node->ne[2] ? behind : node->ne[2],
        .i3 = tile / group_count(node),
    };
    const float mean = (float)group_mean(task->k, a, &group, NULL);
    const double variance = group_mean(task->k, a, &group, &mean);
    const float factor =
        (float)(1.0 / sqrt(variance + gb_cpu_param_f32(node, 1)));

    for (int64_t i2 = group.first; i2 < group.last; i2++)
        for (int64_t i1 = 0; i1 < node->ne[1]; i1++)
            task->k->shift_scale_f32(
                node->ne[0], (void *)gb_cpu_row_ptr(node, i1, i2, group.i3),
                (void *)gb_cpu_row_ptr(a, i1, i2, group.i3), mean, factor);
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_group_norm = {
    .n_src = 1,
    .can_run = group_norm_can_run,
    .tiles = group_norm_tiles,
    .run = group_norm_run,
};
