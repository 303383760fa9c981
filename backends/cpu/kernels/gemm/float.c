/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm/float.c - GEMM micro-kernel of float panels.
 *
 * The register tile has MR = VF_ROWS vectors of rows and NR = VF_COLS columns.
 * A step loads one value (or pair of BF16 values) of each row, spreads that of
 * each column over all lanes, and takes one fused multiply-add for each: sums
 * stay in registers for as long as a panel is (KC values).
 *
 *     for each unit j of KC
 *         VF_ROWS loads of weights        w[v] = panel v, unit j
 *         for each of NR columns          y = column c, unit j, in all lanes
 *             VF_ROWS FMA                 acc[v][c] += w[v] * y
 *
 * A broadcast from memory is a load, so a step has VF_ROWS + NR loads for
 * VF_ROWS * NR FMA.  With AVX-512, 32 x 12: 14 loads for 24 FMA, and 24 of 32
 * registers are sums; a core that does two of each in a cycle is limited by the
 * FMA.
 */
#include "backends/cpu/kernels/gemm/float.h"

#include "lib/base/attr.h"

#define MR (VF_ROWS * VF_LEN)

/* NR, columns of a tile: gathered ones each take an address in a register, and
 * there are 16 registers for addresses on x86. */
#define COLS_GATHERED 6
#define COLS_MAX      (VF_COLS > COLS_GATHERED ? VF_COLS : COLS_GATHERED)
#define COLS_OF(kind)                                                         \
    ((kind) == GATHERED               ? COLS_GATHERED                         \
     : (kind) == PAIRS && !VF_PAIRS   ? 0                                     \
                                      : VF_COLS)

#define LINE    64 /* bytes in one of the cache */
#define FETCHED 32 /* units of a column ahead */

/* How many columns are addressed from one register: the address, plus the
 * distance once and twice, which x86 addressing can add.  So 12 columns take
 * four registers and one for the distance. */
#define FROM_ONE 3

/* What differs; constants where a tile is computed. */
enum kind {
    GATHERED, /* columns of floats, one address each */
    STRIDED,  /* the same, each as far from the one before */
    PACKED,   /* packed columns of floats */
    PAIRS,    /* and of pairs */
};

/* The register tile. */
typedef vf sums[VF_ROWS][COLS_MAX];

/* How far the weights of the next panels have been prefetched: row by row. */
struct fetched {
    const char *row;
    int64_t rows; /* that are left */
    size_t at;    /* byte of the row */
};

/* Where a tile's columns are: packed, or columns with an address each (or one
 * for FROM_ONE of them). */
struct tile_columns {
    const float *packed;
    const float *columns[COLS_GATHERED]; /* STRIDED: each FROM_ONE'th */
    int64_t col_stride;
    struct fetched *fetched;
};

_Static_assert(COLS_GATHERED * FROM_ONE >= VF_COLS, "addresses");

/* Unit J of column C of the tile, by the tile's kind; for PAIRS the bits of
 * both values. */
GB_INLINE float
unit_at(enum kind kind, const struct tile_columns *g, int c, int64_t j)
{
    return kind == GATHERED  ? g->columns[c][j]
           : kind == STRIDED ? g->columns[c / FROM_ONE]
                                         [c % FROM_ONE * g->col_stride + j]
                             : g->packed[VF_LEN * c + j];
}

/* N units of k: the inner loop at the head of this file.  X[v] is panel v,
 * whose units are STEP floats apart. */
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

/* Prefetch two more cache lines of the weights that become the next panels.
 * Few at a time, for loads of the product need the same line-fill buffers. */
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

/* The columns' addresses, VF_LEN units further: packed columns have the next
 * units of all columns behind these. */
GB_INLINE void
go_on(enum kind kind, int cols, struct tile_columns *g)
{
    if (kind != STRIDED) {
        g->packed += VF_LEN * cols;
        return;
    }
#pragma GCC unroll 8
    for (int i = 0; i < COLS_GATHERED; i++)
        if (i * FROM_ONE < cols)
            g->columns[i] += VF_LEN;
}

/* Strided columns are many streams, so their next units are fetched: of
 * this tile, of which LEFT are left, or of the next one. */
GB_INLINE void
fetch_columns(int cols, const struct gb_float_tile *tile,
              const struct tile_columns *g, int64_t left)
{
    const float *at = g->columns[0] + FETCHED;

    if (left <= FETCHED)
        at += cols * tile->col_stride - tile->units;
#pragma GCC unroll 16
    for (int c = 0; c < cols; c++, at += tile->col_stride)
        GB_PREFETCH(at);
}

/* All steps; gathered columns are taken at once, others VF_LEN units
 * at a time. */
GB_INLINE void
add_all(enum kind kind, int cols, const struct gb_float_tile *tile,
        const float **x, struct tile_columns g, sums acc)
{
    int64_t left = tile->units;

    for (; kind != GATHERED && left >= VF_LEN; left -= VF_LEN) {
        if (kind == STRIDED)
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
compute_tile(enum kind kind, int cols, const struct gb_float_tile *tile,
             int64_t row, const struct tile_columns *g, float *const *dst)
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

/* Functions of their own, so that the compiler has all registers for each;
 * empty ones for tiles that the variant never has. */
#define TILE(kind, n)                                                         \
    static void tile_##kind##_##n(const struct gb_float_tile *tile,           \
                                  int64_t row, const struct tile_columns *g,  \
                                  float *const *dst)                          \
    {                                                                         \
        if (n <= COLS_OF(kind))                                               \
            compute_tile(kind, n, tile, row, g, dst);                         \
    }
#define NAME(kind, n) [n - 1] = tile_##kind##_##n,
#define EACH(X, kind)                                                         \
    X(kind, 1) X(kind, 2) X(kind, 3) X(kind, 4) X(kind, 5) X(kind, 6)         \
    X(kind, 7) X(kind, 8) X(kind, 9) X(kind, 10) X(kind, 11) X(kind, 12)

EACH(TILE, GATHERED)
EACH(TILE, STRIDED)
EACH(TILE, PACKED)
EACH(TILE, PAIRS)

static tile_fn *const tiles_of[][12] = {
    [GATHERED] = { EACH(NAME, GATHERED) },
    [STRIDED] = { EACH(NAME, STRIDED) },
    [PACKED] = { EACH(NAME, PACKED) },
    [PAIRS] = { EACH(NAME, PAIRS) },
};

_Static_assert(COLS_MAX <= 12, "tiles");

/* Packed columns, else columns of one stride, else any. */
static enum kind
kind_of(const struct gb_float_tile *tile)
{
    if (tile->packed != NULL)
        return tile->in_pairs ? PAIRS : PACKED;
    return tile->col_stride > 0 ? STRIDED : GATHERED;
}

/* Unit 0 of column C.  The list of strided ones, which is in no near cache, is
 * not read. */
static const float *
column_at(const struct gb_float_tile *tile, int64_t c)
{
    const float *first = tile->columns[tile->col_stride > 0 ? 0 : c];

    return first + c * tile->col_stride + tile->from;
}

/* Addresses of the COLS columns from column C on.  Not returned: a struct that
 * is copied waits for the stores before it, which are a tile's. */
static void
find_columns(const struct gb_float_tile *tile, int64_t c, int64_t cols,
             struct tile_columns *g)
{
    const int64_t step = tile->col_stride > 0 ? FROM_ONE : 1;

    if (tile->packed != NULL)
        g->packed = (const float *)(const void *)(
                        tile->packed + (size_t)c * tile->pitch) +
                    cols * tile->from;
    else
        for (int64_t i = 0; i * step < cols; i++)
            g->columns[i] = column_at(tile, c + i * step);
}

/* All rows of the panels by all columns.  Columns are the outer loop: KC by NR
 * of them are read again for each MR rows, so they are what stays nearest,
 * while the panels come from the L2 cache. */
void
GB_K(gemm_float_tile)(const struct gb_float_tile *tile)
{
    const enum kind kind = kind_of(tile);
    tile_fn *const *const tiles = tiles_of[kind];
    const int64_t step = COLS_OF(kind);
    struct fetched fetched = {
        .row = tile->next,
        .rows = tile->next == NULL ? 0 : tile->rows,
    };
    struct tile_columns g = {
        .col_stride = tile->col_stride,
        .fetched = &fetched,
    };

    for (int64_t c = 0; c < tile->cols; c += step) {
        const int64_t left = tile->cols - c;
        const int64_t cols = left < step ? left : step;

        find_columns(tile, c, cols, &g);
        for (int64_t r = 0; r < tile->rows; r += MR)
            tiles[cols - 1](tile, r, &g, tile->dst + c);
    }
}
