/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/generate.c - values from numbers: steps, and waves of a time.
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
    return node->type == GGML_TYPE_F32 && gb_is_dense(node);
}

/* dst[i] = start + step * i */
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

/* Parameters: dim, max_period.  The times are the first row of src0. */
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
 * Cosines, then as many sines, of the time at falling frequencies; zeros behind
 * them where dim is odd.
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
