/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/unary.c - functions of one operand, element by element.
 *
 * UNARY SQR SQRT LOG SIN COS SCALE CLAMP LEAKY_RELU:
 *
 *     dst[i0, i1, i2, i3] = f(src0[i0, i1, i2, i3])
 *
 *   src0   F32, F16 or BF16, any strides
 *   dst    a float type, the same shape, any strides; may be src0
 *   params UNARY: which function; SCALE: factor; CLAMP: least, largest;
 *          LEAKY_RELU: slope of negative values
 *
 * Dense F32 is computed where it lies; other types and strides pass through
 * buffers in the L1 cache.  Halves are computed in F32 and rounded once.
 *
 * Threads   tiles are rows (ops/rows.h).
 * Accuracy  that of the kernels (kernels/elementwise).
 */
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/params.h"
#include "backends/cpu/ops/rows.h"

typedef void (*unary_fn)(int64_t n, float *dst, const float *x);

/* The function's number indexes a table, so it is checked here. */
static bool
unary_can_run(const struct ggml_tensor *node)
{
    if (node->op == GGML_OP_UNARY &&
        (uint32_t)gb_cpu_param_i32(node, 0) >= GGML_UNARY_OP_COUNT)
        return false;
    return gb_cpu_is_float(node->src[0]->type) &&
           gb_cpu_is_float(node->type) &&
           gb_cpu_same_from(node, node->src[0], 0);
}

/* The function of a UNARY node. */
static unary_fn
function_of(const struct gb_cpu_kernels *k, const struct ggml_tensor *node)
{
    const unary_fn functions[GGML_UNARY_OP_COUNT] = {
        [GGML_UNARY_OP_ABS] = k->abs_f32,
        [GGML_UNARY_OP_SGN] = k->sgn_f32,
        [GGML_UNARY_OP_NEG] = k->neg_f32,
        [GGML_UNARY_OP_STEP] = k->step_f32,
        [GGML_UNARY_OP_TANH] = k->tanh_f32,
        [GGML_UNARY_OP_ELU] = k->elu_f32,
        [GGML_UNARY_OP_RELU] = k->relu_f32,
        [GGML_UNARY_OP_SIGMOID] = k->sigmoid_f32,
        [GGML_UNARY_OP_GELU] = k->gelu_f32,
        [GGML_UNARY_OP_GELU_QUICK] = k->gelu_quick_f32,
        [GGML_UNARY_OP_SILU] = k->silu_f32,
        [GGML_UNARY_OP_HARDSWISH] = k->hardswish_f32,
        [GGML_UNARY_OP_HARDSIGMOID] = k->hardsigmoid_f32,
        [GGML_UNARY_OP_EXP] = k->exp_f32,
    };

    return functions[gb_cpu_param_i32(node, 0)];
}

/* dst = NODE's function of N values. */
static void
compute(const struct gb_cpu_kernels *k, const struct ggml_tensor *node,
        int64_t n, float *dst, const float *x)
{
    switch ((int)node->op) {
    case GGML_OP_SQR:
        k->sqr_f32(n, dst, x);
        break;
    case GGML_OP_SQRT:
        k->sqrt_f32(n, dst, x);
        break;
    case GGML_OP_LOG:
        k->log_f32(n, dst, x);
        break;
    case GGML_OP_SIN:
        k->sin_f32(n, dst, x);
        break;
    case GGML_OP_COS:
        k->cos_f32(n, dst, x);
        break;
    case GGML_OP_SCALE:
        k->scale_f32(n, dst, x, gb_cpu_param_f32(node, 0));
        break;
    case GGML_OP_CLAMP:
        k->clamp_f32(n, dst, x, gb_cpu_param_f32(node, 0),
                     gb_cpu_param_f32(node, 1));
        break;
    case GGML_OP_LEAKY_RELU:
        k->leaky_relu_f32(n, dst, x, gb_cpu_param_f32(node, 0));
        break;
    default:
        function_of(k, node)(n, dst, x);
        break;
    }
}

/* One row, through buffers where it cannot be used where it lies. */
static void
unary_row(const struct gb_cpu_task *task, const struct gb_cpu_line *d,
          const struct gb_cpu_line *a)
{
    const int64_t n = task->node->ne[0];
    float x_buffer[GB_CPU_BUFFER];
    float d_buffer[GB_CPU_BUFFER];

    for (int64_t i = 0; i < n; i += GB_CPU_BUFFER) {
        const int64_t len = n - i < GB_CPU_BUFFER ? n - i : GB_CPU_BUFFER;
        const float *x = gb_cpu_line_read(task->k, a, i, len, x_buffer);
        float *const to = gb_cpu_line_target(d, i, d_buffer);

        compute(task->k, task->node, len, to, x);
        gb_cpu_line_write(task->k, d, i, len, to);
    }
}

/* Rows in place are spared the buffers and their loop. */
static enum ggml_status
unary_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(node, tile);
    const bool is_plain = gb_cpu_is_plain(node) && gb_cpu_is_plain(a);
    struct gb_cpu_row at = gb_cpu_row_at(node, rows.first);

    for (int64_t row = rows.first; row < rows.last; row++) {
        const struct gb_cpu_line d =
            gb_cpu_line_at(node, at.i1, at.i2, at.i3);
        const struct gb_cpu_line x = gb_cpu_line_at(a, at.i1, at.i2, at.i3);

        if (is_plain)
            compute(task->k, node, node->ne[0], (void *)d.data,
                    (void *)x.data);
        else
            unary_row(task, &d, &x);
        gb_cpu_row_advance(node, &at);
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_unary = {
    .n_src = 1,
    .can_run = unary_can_run,
    .tiles = gb_cpu_tiles_by_rows,
    .run = unary_run,
    .by_rows = true,
};
