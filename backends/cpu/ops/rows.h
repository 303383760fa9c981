/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/rows.h - walking the rows of strided tensors, tile by tile.
 *
 * A row is what lies along dimension 0.  Rows have numbers in index order,
 *
 *     row = i1 + ne[1] * (i2 + ne[2] * i3),
 *
 * whatever the strides are.  A tile is a range of consecutive numbers.  Where a
 * tile begins follows from the shape alone, so that tile T of one node and tile
 * T of another of the same shape are the same rows.
 */
#ifndef GB_CPU_OPS_ROWS_H
#define GB_CPU_OPS_ROWS_H

#include "backends/cpu/ops/place.h"

#include "ggml.h"

#include <stddef.h>
#include <stdint.h>

/* Elements that a tile of rows aims at: large enough to hide the counter, small
 * enough to share out among cores. */
#define GB_CPU_TILE_ELEMENTS 16384

/* Rows of NODE in one tile: as many as have together about GB_CPU_TILE_ELEMENTS
 * elements, and at least one however long it is. */
static inline int64_t
gb_cpu_rows_per_tile(const struct ggml_tensor *node)
{
    const int64_t ne0 = node->ne[0] > 0 ? node->ne[0] : 1;
    const int64_t rows = GB_CPU_TILE_ELEMENTS / ne0;

    return rows > 0 ? rows : 1;
}

/* The tiles of a node that is computed row by row; the last one may have fewer
 * rows than the others.  No tile where there is no row. */
static inline int64_t
gb_cpu_tiles_by_rows(const struct ggml_tensor *node)
{
    const int64_t rows = node->ne[1] * node->ne[2] * node->ne[3];
    int64_t per_tile;

    /* Small nodes are many: they are spared the divisions. */
    if (rows > 0 && rows * node->ne[0] <= GB_CPU_TILE_ELEMENTS)
        return 1;
    per_tile = gb_cpu_rows_per_tile(node);
    return (rows + per_tile - 1) / per_tile;
}

/* Everything in one tile: for operations that cannot be divided, or never pay
 * for it. */
static inline int64_t
gb_cpu_one_tile(const struct ggml_tensor *node)
{
    (void)node;
    return 1;
}

/* Rows [first, last) of a tile. */
struct gb_cpu_row_range {
    int64_t first;
    int64_t last;
};

/* The rows of tile TILE.  A node that gb_cpu_tiles_by_rows() puts into one tile
 * gives all its rows, again without a division. */
static inline struct gb_cpu_row_range
gb_cpu_tile_rows(const struct ggml_tensor *node, int64_t tile)
{
    const int64_t rows = node->ne[1] * node->ne[2] * node->ne[3];
    struct gb_cpu_row_range range = { 0, rows };
    int64_t per_tile;

    if (rows * node->ne[0] <= GB_CPU_TILE_ELEMENTS)
        return range;
    per_tile = gb_cpu_rows_per_tile(node);
    range.first = tile * per_tile;
    range.last = range.first + per_tile < rows ? range.first + per_tile : rows;
    return range;
}

/* Row ROW's indices along dimensions 1 to 3. */
struct gb_cpu_row {
    int64_t i1, i2, i3;
};

static inline struct gb_cpu_row
gb_cpu_row_at(const struct ggml_tensor *node, int64_t row)
{
    struct gb_cpu_row at = { row, 0, 0 };

    if (row >= node->ne[1]) {
        at.i1 = row % node->ne[1];
        at.i2 = row / node->ne[1] % node->ne[2];
        at.i3 = row / node->ne[1] / node->ne[2];
    }
    return at;
}

/* From row AT to the next one, with carries from dimension to dimension.  A
 * loop over rows is spared the divisions of gb_cpu_row_at() so. */
static inline void
gb_cpu_row_advance(const struct ggml_tensor *node, struct gb_cpu_row *at)
{
    if (++at->i1 < node->ne[1])
        return;
    at->i1 = 0;
    if (++at->i2 < node->ne[2])
        return;
    at->i2 = 0;
    at->i3++;
}

/* I % N, mostly without a division: index I of what repeats every N. */
static inline int64_t
gb_cpu_wrap(int64_t i, int64_t n)
{
    if (i < n)
        return i;
    return n == 1 ? 0 : i % n;
}

/* The first byte of the row of T at (i1, i2, i3). */
static inline char *
gb_cpu_row_ptr(const struct ggml_tensor *t, int64_t i1, int64_t i2, int64_t i3)
{
    return gb_cpu_place(t->data, (size_t)i1 * t->nb[1] +
                                     (size_t)i2 * t->nb[2] +
                                     (size_t)i3 * t->nb[3]);
}

#endif
