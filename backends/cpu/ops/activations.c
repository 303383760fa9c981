/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/activations.c - the rows of a product's second operand as columns.
 */
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/activations.h"

#include "backends/cpu/kernels/api/divide.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/rows.h"
#include "lib/base/checked.h"

#include <string.h>

/* The type's layout is the same at every level, but for the offset. */
static const struct gb_format *
format_of(const struct ggml_tensor *a)
{
    return gb_cpu_kernels()->format(a->type)->format;
}

enum gb_path
gb_cpu_path(const struct ggml_tensor *a, int64_t cols)
{
    return gb_path_of(format_of(a), cols);
}

/* Are B's rows columns already? */
static bool
is_in_place(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    return gb_cpu_is_float(a->type) && b->type == GGML_TYPE_F32;
}

bool
gb_cpu_can_multiply(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    int64_t products;

    return a->ne[0] == b->ne[0] &&
           gb_cpu_kernels()->format(a->type) != NULL && gb_is_dense(a) &&
           gb_is_dense(b) &&
           (b->type == GGML_TYPE_F32 || b->type == format_of(a)->activation) &&
           gb_mul_count((a->ne[0] + 1) * a->ne[1],
                        b->ne[1] * b->ne[2] * b->ne[3] + 1, &products);
}

static size_t
bytes_of_one(const struct ggml_tensor *a, const struct ggml_tensor *b,
             enum gb_path path)
{
    return b->ne[0] <= GB_CPU_LONGEST_ROW
               ? gb_path_activation_bytes(format_of(a), path, b->ne[0])
               : SIZE_MAX;
}

size_t
gb_cpu_activations_bytes(const struct ggml_tensor *a, const struct ggml_tensor *b,
                     enum gb_path path)
{
    if (is_in_place(a, b))
        return 0;
    return gb_mul_or_max((size_t)ggml_nrows(b), bytes_of_one(a, b, path));
}

int64_t
gb_cpu_activations_tiles(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    return is_in_place(a, b) ? 0 : gb_cpu_tiles_by_rows(b);
}

void
gb_cpu_activations_pack(const struct gb_cpu_task *task, enum gb_path path,
                       int64_t tile)
{
    const struct ggml_tensor *a = task->node->src[0];
    const struct ggml_tensor *b = task->node->src[1];
    const struct gb_format *format = task->k->format(a->type)->format;
    const struct gb_cpu_row_range range = gb_cpu_tile_rows(b, tile);
    const size_t bytes = bytes_of_one(a, b, path);

    for (int64_t row = range.first; row < range.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(b, row);
        const void *from = gb_cpu_row_ptr(b, at.i1, at.i2, at.i3);
        char *to = (char *)task->shared + (size_t)row * bytes;

        task->k->pack_activations(format, path, b->ne[0], from, b->type, to);
    }
}

/*
 * Some tiles for each of a few threads; but a tile is worth a thread's trouble,
 * and where there are many, memory is read in long pieces.
 */
#define TILES_WANTED     16
#define MIN_TILE_WEIGHTS 16384 /* times columns */
#define MAX_TILE_WEIGHTS 131072
#define ROWS_MULTIPLE    16

int64_t
gb_cpu_gemv_rows(const struct ggml_tensor *a, int64_t cols)
{
    const int64_t k = a->ne[0] + 1;
    const size_t of_row = gb_mul_or_max((size_t)k, (size_t)cols);
    int64_t rows = a->ne[1];

    /* Small products are many: they are spared the divisions. */
    if (gb_mul_or_max((size_t)rows, of_row) > MIN_TILE_WEIGHTS) {
        const int64_t fewest = (int64_t)(MIN_TILE_WEIGHTS / of_row);

        rows = gb_cpu_min(rows / TILES_WANTED, MAX_TILE_WEIGHTS / k);
        rows = rows < fewest ? fewest : rows;
    }
    return rows / ROWS_MULTIPLE * ROWS_MULTIPLE + ROWS_MULTIPLE;
}

void
gb_cpu_activations_of(const struct gb_cpu_task *task, enum gb_path path,
                  struct gb_cpu_activations *columns)
{
    const struct ggml_tensor *a = task->node->src[0];
    const struct ggml_tensor *b = task->node->src[1];

    if (is_in_place(a, b)) {
        columns->data = b->data;
        memcpy(columns->nb, b->nb, sizeof(columns->nb));
        return;
    }
    columns->data = task->shared;
    columns->nb[1] = bytes_of_one(a, b, path);
    for (int i = 2; i < GGML_MAX_DIMS; i++)
        columns->nb[i] = columns->nb[i - 1] * (size_t)b->ne[i - 1];
}
