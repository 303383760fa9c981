/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/generate.c - tensors made of numbers: ranges, and embeddings of
 * times.
 *
 * ARANGE, with parameters start, stop and step:
 *     dst[i] = start + step * i
 *   dst    F32 [n]; n is the builder's, which has used stop
 *
 * TIMESTEP_EMBEDDING, with parameters dim and max_period, and h = dim / 2:
 *     phi[i, j] = src0[j] * max_period^(-i / h)        0 <= i < h
 *     dst[i, j] = cos(phi[i, j]), dst[h + i, j] = sin(phi[i, j]), the rest 0
 *   src0   times, F32 [n] or more, any stride; the first row counts
 *   dst    F32 [dim or more, n], rows dense
 *
 * Threads   ARANGE is one tile; TIMESTEP_EMBEDDING has tiles of whole rows.
 * Accuracy  ARANGE in F32, as the formula stands, so that errors do not add up;
 *           phases, cosines and sines in double, rounded once.
 * Source    "Attention Is All You Need" (arXiv 1706.03762), section 3.5, with
 *           the cosines in front.
 */
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/params.h"
#include "backends/cpu/ops/rows.h"

#include <math.h>
#include <string.h>

static bool
arange_can_run(const struct ggml_tensor *node)
{
    return node->type == GGML_TYPE_F32 && gb_is_dense(node) &&
           node->ne[1] == 1 && node->ne[2] == 1 && node->ne[3] == 1;
}

/* The whole range in one tile: ranges of graphs are short. */
static enum ggml_status
arange_run(const struct gb_cpu_task *task, int64_t tile)
{
    const float start = gb_cpu_param_f32(task->node, 0);
    const float step = gb_cpu_param_f32(task->node, 2);
    float *const dst = task->node->data;

    (void)tile;
    for (int64_t i = 0; i < task->node->ne[0]; i++)
        dst[i] = start + step * (float)i;
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_arange = {
    .can_run = arange_can_run,
    .tiles = gb_cpu_one_tile,
    .run = arange_run,
};

/* dim values fit a row of dst, and there is a time for each row. */
static bool
timestep_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const int32_t dim = gb_cpu_param_i32(node, 0);

    return a->type == GGML_TYPE_F32 && node->type == GGML_TYPE_F32 &&
           gb_is_dense(node) && dim >= 0 && dim <= node->ne[0] &&
           node->ne[2] == 1 && node->ne[3] == 1 && !ggml_is_empty(a) &&
           a->ne[0] >= node->ne[1];
}

/*
 * One row of N values: the cosines of TIME at DIM / 2 frequencies, which fall
 * from 1 to nearly 1 / MAX_PERIOD in equal ratios, then the sines, then zeros.
 */
static void
timestep_row(float *dst, int64_t n, float time, int32_t dim,
             int32_t max_period)
{
    const int64_t half = dim / 2;

    for (int64_t i = 0; i < half; i++) {
        const double phase =
            time * exp(-log(max_period) * (double)i / (double)half);

        dst[i] = (float)cos(phase);
        dst[half + i] = (float)sin(phase);
    }
    for (int64_t i = 2 * half; i < n; i++)
        dst[i] = 0.0f;
}

static enum ggml_status
timestep_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(node, tile);

    for (int64_t row = rows.first; row < rows.last; row++) {
        float time;

        memcpy(&time, (const char *)a->data + (size_t)row * a->nb[0],
               sizeof(time));
        timestep_row((void *)gb_cpu_row_ptr(node, row, 0, 0), node->ne[0],
                     time, gb_cpu_param_i32(node, 0),
                     gb_cpu_param_i32(node, 1));
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_timestep = {
    .n_src = 1,
    .can_run = timestep_can_run,
    .tiles = gb_cpu_tiles_by_rows,
    .run = timestep_run,
};
