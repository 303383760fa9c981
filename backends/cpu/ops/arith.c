/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/arith.c - two operands, element by element, the second one repeated.
 *
 * ADD ADD1 SUB MUL DIV SILU_BACK.  Rows of any float type and stride, and
 * quantised ones where they are dense, are computed in F32 and rounded once.
 */
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/rows.h"

#include <string.h>

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
 * N elements from FIRST on of LINE, whose NE elements repeat for ever, as
 * floats: where they lie or in BUFFER.
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
        /* One value alone, and what is there already, fill the rest faster. */
        if (ne == 1)
            for (; done < n; done++)
                buffer[done] = buffer[0];
    }
    return buffer;
}

/* One row, through buffers where it cannot be used where it lies. */
static void
arith_row(const struct gb_cpu_kernels *k, binary_fn compute, int64_t n,
          const struct gb_cpu_line *d, const struct gb_cpu_line *a,
          const struct gb_cpu_line *b, int64_t b_ne)
{
    float a_buffer[GB_CPU_PIECE];
    float b_buffer[GB_CPU_PIECE];
    float d_buffer[GB_CPU_PIECE];

    for (int64_t i = 0; i < n; i += GB_CPU_PIECE) {
        const int64_t len = n - i < GB_CPU_PIECE ? n - i : GB_CPU_PIECE;
        const float *x = gb_cpu_line_read(k, a, i, len, a_buffer);
        const float *y = read_repeated(k, b, b_ne, i, len, b_buffer);
        float *const to = gb_cpu_line_target(d, i, d_buffer);

        compute(len, to, x, y);
        gb_cpu_line_write(k, d, i, len, to);
    }
}

/* Rows [first, last) where the rows of all three are dense F32. */
static void
arith_plain(const struct ggml_tensor *node, binary_fn compute,
            struct gb_cpu_row_range rows)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    struct gb_cpu_row at = gb_cpu_row_at(node, rows.first);

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
