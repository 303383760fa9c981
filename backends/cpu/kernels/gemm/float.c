/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm/float.c - GEMM micro-kernel of float panels.
 *
 * The register tile has MR = VF_ROWS vectors of rows and NR = VF_COLS columns.  A
 * step loads one value (or pair of BF16 values) of each row, spreads that of each
 * column over all lanes, and takes one fused multiply-add for each: sums stay in
 * registers for as long as a panel is (KC values).
 */
#include "backends/cpu/kernels/gemm/float.h"

#include "lib/base/attr.h"

#define MR (VF_ROWS * VF_LEN)

/* Columns of a tile: packed ones, and those that lie elsewhere, each of which
 * takes an address in a register. */
#define COLS_GATHERED 6
#define GROUP_MAX   (VF_COLS > COLS_GATHERED ? VF_COLS : COLS_GATHERED)

#define LINE    64 /* bytes in one of the cache */
#define FETCHED 32 /* units of a column ahead */

/* Columns that are found from one address by their distance. */
#define FROM_ONE 3

/* What differs; constants where a tile is computed. */
enum kind {
    GATHERED,  /* columns of floats where they lie */
    APART,  /* the same, each as far from the one before */
    PACKED, /* packed columns of floats */
    PAIRS,  /* and of pairs */
};

typedef vf sums[VF_ROWS][GROUP_MAX];

/* How far weights have been fetched. */
struct fetched {
    const char *row;
    int64_t rows; /* that are left */
    size_t at;    /* byte of the row */
};

/* Where a tile's columns are: one of both. */
struct tile_columns {
    const float *packed;
    const float *columns[COLS_GATHERED]; /* APART: every FROM_ONE'th */
    int64_t apart;
    struct fetched *fetched;
};

_Static_assert(COLS_GATHERED * FROM_ONE >= VF_COLS, "addresses");

GB_INLINE float
unit_at(enum kind kind, const struct tile_columns *g, int c, int64_t j)
{
    return kind == GATHERED   ? g->columns[c][j]
           : kind == APART ? g->columns[c / FROM_ONE]
                                       [c % FROM_ONE * g->apart + j]
                           : g->packed[VF_LEN * c + j];
}

/* N steps. */
GB_INLINE void
add_units(enum kind kind, int cols, int64_t n, const float *const *x,
          int64_t step, const struct tile_columns *g, sums acc)
{
    for (int64_t j = 0; j < n; j++) {
        vf w[VF_ROWS];

#pragma GCC unroll 8
        for (int v = 0; v < VF_ROWS; v++)
            w[v] = vf_load(x[v] + step * j);
#pragma GCC unroll 16
        for (int c = 0; c < cols; c++) {
            const vf y = vf_set1(unit_at(kind, g, c, j));

#pragma GCC unroll 8
            for (int v = 0; v < VF_ROWS; v++)
                acc[v][c] = kind == PAIRS ? vf_dot_pairs(acc[v][c], w[v], y)
                                          : vf_fma(w[v], y, acc[v][c]);
        }
    }
}

/* A little more with every step, for loads need the same buffers. */
GB_INLINE void
fetch(const struct gb_float_tile *tile, struct fetched *done)
{
    if (done->rows <= 0)
        return;
    GB_PREFETCH_FAR(done->row + done->at);
    GB_PREFETCH_FAR(done->row + done->at + LINE);
    done->at += 2 * LINE;
    if (done->at >= tile->next_bytes) {
        done->at = 0;
        done->row += tile->next_pitch;
        done->rows--;
    }
}

/* VF_LEN units further. */
GB_INLINE void
go_on(enum kind kind, int cols, struct tile_columns *g)
{
    if (kind != APART) {
        g->packed += VF_LEN * cols;
        return;
    }
#pragma GCC unroll 8
    for (int i = 0; i < COLS_GATHERED; i++)
        if (i * FROM_ONE < cols)
            g->columns[i] += VF_LEN;
}

/* Columns that lie apart are many streams, so their next units are fetched: of
 * this tile, of which LEFT are left, or of the next one. */
GB_INLINE void
fetch_columns(int cols, const struct gb_float_tile *tile, const struct tile_columns *g,
              int64_t left)
{
    const float *at = g->columns[0] + FETCHED;

    if (left <= FETCHED)
        at += cols * tile->apart - tile->units;
#pragma GCC unroll 16
    for (int c = 0; c < cols; c++, at += tile->apart)
        GB_PREFETCH(at);
}

/* All steps; columns that lie anywhere are taken at once, others VF_LEN units
 * at a time. */
GB_INLINE void
add_all(enum kind kind, int cols, const struct gb_float_tile *tile,
        const float **x, struct tile_columns g, sums acc)
{
    int64_t left = tile->units;

    for (; kind != GATHERED && left >= VF_LEN; left -= VF_LEN) {
        if (kind == APART)
            fetch_columns(cols, tile, &g, left);
        add_units(kind, cols, VF_LEN, x, tile->step, &g, acc);
        fetch(tile, g.fetched);
        go_on(kind, cols, &g);
#pragma GCC unroll 8
        for (int v = 0; v < VF_ROWS; v++)
            x[v] += VF_LEN * tile->step;
    }
    add_units(kind, cols, left, x, tile->step, &g, acc);
}

/* COLS columns and the rows from ROW on.  What is written in the end is
 * fetched first: so many stores would fill the buffer in which they wait. */
GB_INLINE void
compute_tile(enum kind kind, int cols, const struct gb_float_tile *tile, int64_t row,
      const struct tile_columns *g, float *const *dst)
{
    const int64_t to = tile->dst_row + row;
    const float *x[VF_ROWS];
    int64_t rest[VF_ROWS];
    sums acc;

#pragma GCC unroll 8
    for (int v = 0; v < VF_ROWS; v++) {
        rest[v] = tile->rows - row - v * VF_LEN;
        rest[v] = rest[v] < 0 ? 0 : rest[v] > VF_LEN ? VF_LEN : rest[v];
        x[v] = tile->panels + (row / VF_LEN + v) * tile->panel_step;
    }
#pragma GCC unroll 16
    for (int c = 0; c < cols; c++)
#pragma GCC unroll 8
        for (int v = 0; v < VF_ROWS; v++) {
            acc[v][c] = tile->is_first
                            ? vf_zero()
                            : vf_load_n(dst[c] + to + v * VF_LEN, rest[v]);
            GB_PREFETCH_TO(dst[c] + to + v * VF_LEN);
        }
    add_all(kind, cols, tile, x, *g, acc);
#pragma GCC unroll 16
    for (int c = 0; c < cols; c++)
#pragma GCC unroll 8
        for (int v = 0; v < VF_ROWS; v++)
            vf_store_n(dst[c] + to + v * VF_LEN, acc[v][c], rest[v]);
}

typedef void tile_fn(const struct gb_float_tile *tile, int64_t row,
                      const struct tile_columns *g, float *const *dst);

/* N columns, or fewer where there never are so many. */
#define MOST(n, most) ((n) < (most) ? (n) : (most))

#define LYING_STRIP(n)                                                      \
    static void gathered_##n(const struct gb_float_tile *tile, int64_t row,        \
                          const struct tile_columns *g, float *const *dst)         \
    {                                                                       \
        compute_tile(GATHERED, MOST(n, COLS_GATHERED), tile, row, g, dst);             \
    }

#define GROUP_STRIP(n)                                                      \
    static void regular_##n(const struct gb_float_tile *tile, int64_t row,        \
                          const struct tile_columns *g, float *const *dst)         \
    {                                                                       \
        if (tile->packed == NULL)                                          \
            compute_tile(APART, MOST(n, VF_COLS), tile, row, g, dst);             \
        else if (VF_PAIRS && tile->in_pairs)                               \
            compute_tile(PAIRS, MOST(n, VF_COLS), tile, row, g, dst);             \
        else                                                                \
            compute_tile(PACKED, MOST(n, VF_COLS), tile, row, g, dst);            \
    }

LYING_STRIP(1)
LYING_STRIP(2)
LYING_STRIP(3)
LYING_STRIP(4)
LYING_STRIP(5)
LYING_STRIP(6)
GROUP_STRIP(1)
GROUP_STRIP(2)
GROUP_STRIP(3)
GROUP_STRIP(4)
GROUP_STRIP(5)
GROUP_STRIP(6)
GROUP_STRIP(7)
GROUP_STRIP(8)
GROUP_STRIP(9)
GROUP_STRIP(10)
GROUP_STRIP(11)
GROUP_STRIP(12)

static tile_fn *const strips_lying[] = {
    gathered_1, gathered_2, gathered_3, gathered_4, gathered_5, gathered_6,
};

static tile_fn *const strips_group[] = {
    regular_1, regular_2, regular_3, regular_4,  regular_5,  regular_6,
    regular_7, regular_8, regular_9, regular_10, regular_11, regular_12,
};

_Static_assert(sizeof(strips_lying) / sizeof(tile_fn *) >= COLS_GATHERED &&
                   sizeof(strips_group) / sizeof(tile_fn *) >= VF_COLS,
               "tiles");

/* Unit 0 of column C.  Where columns are apart the list of them, which is in no
 * near cache, is not read. */
static const float *
column_at(const struct gb_float_tile *tile, int64_t c)
{
    const float *first = tile->columns[tile->apart > 0 ? 0 : c];

    return first + c * tile->apart + tile->from;
}

/* The tile of COLS columns from column C on.  Not returned: a struct that is
 * copied waits for the stores before it, which are a tile's. */
static void
find_columns(const struct gb_float_tile *tile, int64_t c, int64_t cols,
           struct tile_columns *g)
{
    const int64_t step = tile->apart > 0 ? FROM_ONE : 1;

    if (tile->packed != NULL)
        g->packed = (const float *)(const void *)(
                        tile->packed + (size_t)c * tile->pitch) +
                    cols * tile->from;
    else
        for (int64_t i = 0; i * step < cols; i++)
            g->columns[i] = column_at(tile, c + i * step);
}

void
GB_K(gemm_float_tile)(const struct gb_float_tile *tile)
{
    const bool is_gathered = tile->packed == NULL && tile->apart == 0;
    tile_fn *const *const tiles = is_gathered ? strips_lying : strips_group;
    const int64_t step = is_gathered ? COLS_GATHERED : VF_COLS;
    struct fetched fetched = {
        .row = tile->next,
        .rows = tile->next == NULL ? 0 : tile->rows,
    };
    struct tile_columns g = { .apart = tile->apart, .fetched = &fetched };

    for (int64_t c = 0; c < tile->cols; c += step) {
        const int64_t left = tile->cols - c;
        const int64_t cols = left < step ? left : step;

        find_columns(tile, c, cols, &g);
        for (int64_t r = 0; r < tile->rows; r += MR)
            tiles[cols - 1](tile, r, &g, tile->dst + c);
    }
}
