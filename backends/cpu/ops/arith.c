/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/arith.c - two operands, element by element, the second one repeated.
 *
 * With a = src0, b = src1 and b's index taken modulo b's size in each
 * dimension:
 *     dst = a + b, a - b, a * b, a / b         ADD and ADD1, SUB, MUL, DIV
 *     dst = a * s * (1 + b * (1 - s)),         SILU_BACK: a is the gradient of
 *     s = 1 / (1 + exp(-b))                    silu(b)
 *
 *   src0   a float type with any strides, or a quantised one with dense rows
 *   src1   a float type with any strides; each ne[d] divides that of src0
 *   dst    the shape of src0; types and strides as for src0; may be src0
 *
 * Threads   tiles are whole rows of dst.
 * Accuracy  computed in F32; the result is rounded once, to the type of dst.
 */
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/rows.h"

#include <string.h>

/* A contiguous row kernel: N floats of A and B to DST, which may be either. */
typedef void (*binary_fn)(
    int64_t n, float *dst, const float *a, const float *b);

static bool
arith_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    return gb_cpu_can_read(a) && gb_cpu_is_float(b->type) &&
           gb_cpu_can_write(node) && gb_cpu_same_from(a, node, 0) &&
           (gb_cpu_same_from(b, a, 0) || ggml_can_repeat(b, a));
}

/* The contiguous row kernel of an operation. */
static binary_fn
kernel_of(const struct gb_cpu_kernels *k, enum ggml_op op)
{
    switch ((int)op) {
    case GGML_OP_SUB:
        return k->sub_f32;
    case GGML_OP_MUL:
        return k->mul_f32;
    case GGML_OP_DIV:
        return k->div_f32;
    case GGML_OP_SILU_BACK:
        return k->silu_back_f32;
    default:
        return k->add_f32;
    }
}

/*
 * N floats of the endless sequence that repeats the NE elements of LINE, from
 * number FIRST on.  Used in place where they are dense F32 and do not wrap
 * around, else copied to BUFFER.  A row that wraps around is not quantised, so
 * that any element may be the first.
 */
static const float *
read_repeated(const struct gb_cpu_kernels *k, const struct gb_cpu_line *line,
              int64_t ne, int64_t first, int64_t n, float *buffer)
{
    int64_t at = first % ne;

    if (at + n <= ne)
        return gb_cpu_line_read(k, line, at, n, buffer);
    for (int64_t done = 0; done < n;) {
        const int64_t len = ne - at < n - done ? ne - at : n - done;
        const float *values =
            gb_cpu_line_read(k, line, at, len, buffer + done);

        if (values != buffer + done)
            memcpy(buffer + done, values, (size_t)len * sizeof(float));
        done += len;
        at = 0;
        /* A single value fills the rest without further reads. */
        if (ne == 1)
            for (; done < n; done++)
                buffer[done] = buffer[0];
    }
    return buffer;
}

/*
 * One row of N elements: D = compute(A, B), B having B_NE elements that repeat.
 * Operands that are not dense F32 pass through buffers of 2 KiB each, which
 * stay in the first cache.
 */
static void
arith_row(const struct gb_cpu_kernels *k, binary_fn compute, int64_t n,
          const struct gb_cpu_line *d, const struct gb_cpu_line *a,
          const struct gb_cpu_line *b, int64_t b_ne)
{
    float a_buffer[GB_CPU_BUFFER];
    float b_buffer[GB_CPU_BUFFER];
    float d_buffer[GB_CPU_BUFFER];

    for (int64_t i = 0; i < n; i += GB_CPU_BUFFER) {
        const int64_t len = n - i < GB_CPU_BUFFER ? n - i : GB_CPU_BUFFER;
        const float *x = gb_cpu_line_read(k, a, i, len, a_buffer);
        const float *y = read_repeated(k, b, b_ne, i, len, b_buffer);
        float *const to = gb_cpu_line_target(d, i, d_buffer);

        compute(len, to, x, y);
        gb_cpu_line_write(k, d, i, len, to);
    }
}

/* Rows [first, last) where the rows of all three are dense F32 and equally
 * long, as in most nodes: no buffers, and no divisions to find the next row. */
static void
arith_plain(const struct ggml_tensor *node, binary_fn compute,
            struct gb_cpu_row_range rows)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    struct gb_cpu_row at = gb_cpu_row_at(node, rows.first);

    /* A single row, as in decode: no addresses to compute. */
    if (rows.last == 1) {
        compute(node->ne[0], node->data, a->data, b->data);
        return;
    }
    for (int64_t row = rows.first; row < rows.last; row++) {
        compute(node->ne[0],
                (void *)gb_cpu_row_ptr(node, at.i1, at.i2, at.i3),
                (void *)gb_cpu_row_ptr(a, at.i1, at.i2, at.i3),
                (void *)gb_cpu_row_ptr(b, gb_cpu_wrap(at.i1, b->ne[1]),
                                       gb_cpu_wrap(at.i2, b->ne[2]),
                                       gb_cpu_wrap(at.i3, b->ne[3])));
        gb_cpu_row_advance(node, &at);
    }
}

static enum ggml_status
arith_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    const binary_fn compute = kernel_of(task->k, node->op);
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(node, tile);

    if (b->ne[0] == node->ne[0] && gb_cpu_is_plain(node) &&
        gb_cpu_is_plain(a) && gb_cpu_is_plain(b)) {
        arith_plain(node, compute, rows);
        return GGML_STATUS_SUCCESS;
    }
    for (int64_t row = rows.first; row < rows.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(node, row);
        const struct gb_cpu_line d =
            gb_cpu_line_at(node, at.i1, at.i2, at.i3);
        const struct gb_cpu_line x = gb_cpu_line_at(a, at.i1, at.i2, at.i3);
        const struct gb_cpu_line y = gb_cpu_line_at(
            b, at.i1 % b->ne[1], at.i2 % b->ne[2], at.i3 % b->ne[3]);

        arith_row(task->k, compute, node->ne[0], &d, &x, &y, b->ne[0]);
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_arith = {
    .n_src = 2,
    .can_run = arith_can_run,
    .tiles = gb_cpu_tiles_by_rows,
    .run = arith_run,
    .by_rows = true,
};
