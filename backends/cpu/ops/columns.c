/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/columns.c - the rows of a product's second operand as columns.
 */
#include "backends/cpu/ops/columns.h"

#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/rows.h"

/* The type's layout is the same at every level, but for the offset. */
static const struct gb_layout *
layout_of(const struct ggml_tensor *a)
{
    return &gb_cpu_kernels()->weight(a->type)->layout;
}

bool
gb_cpu_is_real(enum ggml_type type)
{
    return gb_cpu_kernels()->weight(type)->layout.piece == 0;
}

/* Are B's rows columns already? */
static bool
is_in_place(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    return gb_cpu_is_real(a->type) && b->type == GGML_TYPE_F32;
}

bool
gb_cpu_can_multiply(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    return gb_cpu_kernels()->weight(a->type) != NULL && gb_cpu_is_dense(a) &&
           gb_cpu_is_dense(b) &&
           (b->type == GGML_TYPE_F32 || b->type == layout_of(a)->activation);
}

size_t
gb_cpu_columns_bytes(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    if (is_in_place(a, b))
        return 0;
    return (size_t)ggml_nrows(b) * gb_column_bytes(layout_of(a), b->ne[0]);
}

int64_t
gb_cpu_columns_tiles(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    return is_in_place(a, b) ? 0 : gb_cpu_tiles_by_rows(b);
}

/* Where row ROW of B, counted through all dimensions, goes. */
static char *
column_place(const struct gb_cpu_task *task, const struct ggml_tensor *a,
             const struct ggml_tensor *b, int64_t row)
{
    return (char *)task->shared +
           (size_t)row * gb_column_bytes(layout_of(a), b->ne[0]);
}

void
gb_cpu_columns_prepare(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *a = task->node->src[0];
    const struct ggml_tensor *b = task->node->src[1];
    const struct gb_layout *layout = &task->k->weight(a->type)->layout;
    const struct gb_cpu_row_range range = gb_cpu_tile_rows(b, tile);

    for (int64_t row = range.first; row < range.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(b, row);

        task->k->column(layout, b->ne[0],
                        gb_cpu_row_ptr(b, at.i1, at.i2, at.i3), b->type,
                        column_place(task, a, b, row));
    }
}

const void *
gb_cpu_column_at(const struct gb_cpu_task *task, int64_t i1, int64_t i2,
                 int64_t i3)
{
    const struct ggml_tensor *a = task->node->src[0];
    const struct ggml_tensor *b = task->node->src[1];

    if (is_in_place(a, b))
        return gb_cpu_row_ptr(b, i1, i2, i3);
    return column_place(
        task, a, b, i1 + b->ne[1] * (i2 + b->ne[2] * i3));
}
