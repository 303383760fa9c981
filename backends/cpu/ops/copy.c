/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/copy.c - element k of one tensor becomes element k of another.
 *
 * DUP CPY CONT.  With k the number of an element in index order, dimension 0
 * the fastest:
 *     dst[k] = src0[k], converted to the type of dst
 *
 *   src0   any type; any strides, quantised types with dense rows
 *   dst    as many elements, perhaps in another shape; likewise.  The pairs of
 *          types are those of gb_cpu_can_convert() (line.h)
 *
 * Both sides are walked run by run, a run being elements that are one behind
 * the other in memory (walk.h).
 *
 * A transposed source would be read a few bytes at a time out of each of many
 * rows, with a miss of cache and TLB for each.  If both sides have the same
 * shape it is copied in blocks of 64 rows by 256 bytes instead, whole cache
 * lines of each row of either side, which stay in the first cache while they
 * are transposed.
 *
 * Threads   a tile is a range of elements in index order, or for a transposed
 *           source a band of 64 rows of one matrix.
 * Accuracy  one rounding to the type of dst; bits are copied if the type is the
 *           same.
 */
#include "backends/cpu/kernels/api/divide.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/rows.h"
#include "backends/cpu/ops/walk.h"

#include <string.h>

/* A block of a transposed copy: its rows, and the bytes of each, four cache
 * lines; together 16 KiB.  Smaller sides than BLOCK_LEAST are not worth it. */
#define BLOCK_ROWS      64
#define BLOCK_ROW_BYTES 256
#define BLOCK_LEAST     16

/* Can T be walked in whole blocks of BLOCK elements: dense rows, and runs that
 * are a multiple of BLOCK? */
static bool
has_whole_blocks(const struct ggml_tensor *t, int64_t block)
{
    return gb_is_dense(t) && gb_cpu_joined(t).ne[0] % block == 0;
}

/* With a quantised type on either side both must be walked in its blocks: tiles
 * are a multiple of these, and a block cannot be split between two runs. */
static bool
copy_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const int64_t a_block = ggml_blck_size(a->type);
    const int64_t d_block = ggml_blck_size(node->type);
    const int64_t block = a_block > d_block ? a_block : d_block;

    if (ggml_nelements(a) != ggml_nelements(node) ||
        !gb_cpu_can_convert(a->type, node->type))
        return false;
    return block == 1 ||
           (has_whole_blocks(a, block) && has_whole_blocks(node, block));
}

/* Is the source strided along dimension 0 but dense along dimension 1, of dst's
 * shape, and with sides that are long enough? */
static bool
is_transposed(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];

    return ggml_are_same_shape(a, node) && ggml_blck_size(a->type) == 1 &&
           ggml_blck_size(node->type) == 1 && !gb_is_dense(a) &&
           a->nb[1] == ggml_type_size(a->type) && a->ne[0] >= BLOCK_LEAST &&
           a->ne[1] >= BLOCK_LEAST;
}

/* Bands of BLOCK_ROWS rows in one matrix of a transposed copy. */
static int64_t
bands_of(const struct ggml_tensor *node)
{
    return gb_cpu_ceil_div(node->ne[1], BLOCK_ROWS);
}

/* Bands of a transposed copy, else ranges of GB_CPU_TILE_ELEMENTS elements. */
static int64_t
copy_tiles(const struct ggml_tensor *node)
{
    const int64_t n = ggml_nelements(node);

    if (is_transposed(node))
        return bands_of(node) * node->ne[2] * node->ne[3];
    return (n + GB_CPU_TILE_ELEMENTS - 1) / GB_CPU_TILE_ELEMENTS;
}

/*
 * Copy one band of a transposed source, a block at a time.  If the types are
 * the same and dst has dense rows, blocks are transposed right into dst; else
 * into a buffer, from which rows are converted and scattered.
 */
static void
copy_band(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const int64_t row = tile % bands_of(node) * BLOCK_ROWS;
    const int64_t matrix = tile / bands_of(node);
    const int64_t i2 = matrix % node->ne[2];
    const int64_t i3 = matrix / node->ne[2];
    const int64_t n_rows = gb_cpu_min(node->ne[1] - row, BLOCK_ROWS);
    const size_t size = ggml_type_size(a->type);
    const int64_t step = BLOCK_ROW_BYTES / (int64_t)size;
    const char *from = gb_cpu_row_ptr(a, row, i2, i3);
    const bool is_move = a->type == node->type && gb_is_dense(node);
    uint64_t block[BLOCK_ROWS * BLOCK_ROW_BYTES / sizeof(uint64_t)];

    for (int64_t col = 0; col < node->ne[0]; col += step) {
        const int64_t n_cols = gb_cpu_min(node->ne[0] - col, step);
        const char *cols = from + (size_t)col * a->nb[0];
        struct gb_cpu_line line = {
            .data = (char *)block,
            .stride = size,
            .type = a->type,
        };

        if (is_move) {
            char *to = gb_cpu_row_ptr(node, row, i2, i3) + (size_t)col * size;

            task->k->transpose(size, n_rows, n_cols, to, node->nb[1], cols,
                          a->nb[0]);
            continue;
        }
        task->k->transpose(size, n_rows, n_cols, block, BLOCK_ROW_BYTES, cols,
                      a->nb[0]);
        for (int64_t j = 0; j < n_rows; j++) {
            const struct gb_cpu_line to =
                gb_cpu_line_at(node, row + j, i2, i3);

            gb_cpu_line_copy(task->k, &to, col, &line, 0, n_cols);
            line.data += BLOCK_ROW_BYTES;
        }
    }
}

/* Copy the elements of one tile: each time as many as are left in the current
 * run of either side. */
static void
copy_range(const struct gb_cpu_task *task, int64_t tile)
{
    const int64_t first = tile * GB_CPU_TILE_ELEMENTS;
    const int64_t all = ggml_nelements(task->node) - first;
    struct gb_cpu_walk from = gb_cpu_walk_begin(task->node->src[0], first);
    struct gb_cpu_walk to = gb_cpu_walk_begin(task->node, first);
    int64_t left = all < GB_CPU_TILE_ELEMENTS ? all : GB_CPU_TILE_ELEMENTS;
    const size_t size = ggml_type_size(to.type);
    /* Permuted heads have short runs: types and strides are compared only
     * once. */
    const bool is_move = from.type == to.type &&
                         ggml_blck_size(to.type) == 1 &&
                         from.shape.nb[0] == size && to.shape.nb[0] == size;

    while (left > 0) {
        const int64_t from_left = gb_cpu_walk_left(&from);
        const int64_t to_left = gb_cpu_walk_left(&to);
        const int64_t run = from_left < to_left ? from_left : to_left;
        const int64_t n = run < left ? run : left;
        const struct gb_cpu_line src = gb_cpu_walk_line(&from);
        const struct gb_cpu_line dst = gb_cpu_walk_line(&to);

        /* A client's node may overlap its source in memory. */
        if (is_move)
            memmove(dst.data + (size_t)to.at[0] * size,
                    src.data + (size_t)from.at[0] * size, (size_t)n * size);
        else
            gb_cpu_line_copy(task->k, &dst, to.at[0], &src, from.at[0], n);
        gb_cpu_walk_advance(&from, n);
        gb_cpu_walk_advance(&to, n);
        left -= n;
    }
}

static enum ggml_status
copy_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];

    /* A copy of a tensor onto itself has nothing to do. */
    if (node->data == a->data && node->type == a->type &&
        ggml_are_same_shape(node, a) && ggml_are_same_stride(node, a))
        return GGML_STATUS_SUCCESS;
    if (is_transposed(node))
        copy_band(task, tile);
    else
        copy_range(task, tile);
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_copy = {
    .n_src = 1,
    .can_run = copy_can_run,
    .tiles = copy_tiles,
    .run = copy_run,
};
