/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/activations.c - the rows of a product's second operand, packed as
 * columns, and the tile sizes of products with few columns.
 *
 * Row (i1, i2, i3) of B becomes column i1 + ne[1] * (i2 + ne[2] * i3) in the
 * shared memory: columns are contiguous whatever the strides of B, and nb has
 * the bytes from one to the next along dimensions 1 to 3.
 *
 * Threads   a tile of the prepare phase has whole rows of B.
 * Accuracy  rounding to q8 activations is that of packing.h; F32 rows for float
 *           weights keep their bits.
 */
#include "backends/cpu/ops/activations.h"

#include "backends/cpu/kernels/api/divide.h"
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/rows.h"
#include "backends/cpu/repack/repack.h"
#include "lib/base/checked.h"

#include <string.h>

bool
gb_cpu_can_multiply(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    const struct gb_format_kernels *weight = gb_cpu_kernels()->format(a->type);
    int64_t products;

    /* Counted with k + 1, as tile sizes are, so that these never divide by
     * 0. */
    return weight != NULL && a->ne[0] == b->ne[0] && gb_is_dense(a) &&
           gb_is_dense(b) &&
           (b->type == GGML_TYPE_F32 ||
            b->type == weight->format->activation) &&
           gb_mul_count((a->ne[0] + 1) * a->ne[1],
                        b->ne[1] * b->ne[2] * b->ne[3] + 1, &products);
}

const struct gb_format_kernels *
gb_cpu_weight_kernels(const struct gb_cpu_kernels *k,
                      const struct ggml_tensor *a)
{
    return gb_cpu_in_repack_buffer(a) ? k->repacked(a->type)
                                      : k->format(a->type);
}

void
gb_cpu_activations_init(struct gb_cpu_activations *columns,
                        const struct ggml_tensor *b,
                        const struct gb_format *format, enum gb_path path)
{
    columns->format = format;
    columns->path = path;
    columns->in_place =
        path != GB_PATH_GEMM_PACKED && path != GB_PATH_TILES &&
        format->sub_block == 0 && b->type == GGML_TYPE_F32;
    if (columns->in_place) {
        memcpy(columns->nb, b->nb, sizeof(columns->nb));
        return;
    }
    /* Longer rows do not fit; SIZE_MAX stays SIZE_MAX through the products
     * below, and the plan is refused for lack of memory. */
    columns->nb[1] = b->ne[0] <= GB_CPU_LONGEST_ROW
                         ? gb_path_activation_bytes(format, path, b->ne[0])
                         : SIZE_MAX;
    for (int i = 2; i < GGML_MAX_DIMS; i++)
        columns->nb[i] =
            gb_mul_or_max(columns->nb[i - 1], (size_t)b->ne[i - 1]);
}

size_t
gb_cpu_activations_bytes(const struct gb_cpu_activations *columns,
                         const struct ggml_tensor *b)
{
    return columns->in_place
               ? 0
               : gb_mul_or_max(columns->nb[3], (size_t)b->ne[3]);
}

int64_t
gb_cpu_activations_tiles(const struct gb_cpu_activations *columns,
                         const struct ggml_tensor *b)
{
    return columns->in_place ? 0 : gb_cpu_tiles_by_rows(b);
}

void
gb_cpu_activations_pack(const struct gb_cpu_task *task,
                        const struct gb_cpu_activations *columns, int64_t tile)
{
    const struct ggml_tensor *b = task->node->src[1];
    const struct gb_cpu_row_range range = gb_cpu_tile_rows(b, tile);

    for (int64_t row = range.first; row < range.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(b, row);

        task->k->pack_activations(
            columns->format, columns->path, b->ne[0],
            gb_cpu_row_ptr(b, at.i1, at.i2, at.i3), b->type,
            (char *)task->shared + (size_t)row * columns->nb[1]);
    }
}

/*
 * Tile sizes of GEMV and skinny GEMM, in weights.  About TILES_WANTED tiles let
 * a handful of threads share a product evenly.  Fewer than MIN_TILE_WEIGHTS
 * multiplications are not worth taking a tile from the counter.  A large matrix
 * has tiles of MAX_TILE_WEIGHTS weights: they are read in long contiguous runs,
 * and there are still enough of them.  ROWS_MULTIPLE results are one cache line
 * of 64 bytes.
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

    /* A graph has many small products, each a single tile: they are spared the
     * divisions. */
    if (gb_mul_or_max((size_t)rows, of_row) > MIN_TILE_WEIGHTS) {
        const int64_t fewest = (int64_t)(MIN_TILE_WEIGHTS / of_row);

        rows = gb_cpu_min(rows / TILES_WANTED, MAX_TILE_WEIGHTS / k);
        rows = rows < fewest ? fewest : rows;
    }
    return rows / ROWS_MULTIPLE * ROWS_MULTIPLE + ROWS_MULTIPLE;
}
