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

#define STRIP (VF_ROWS * VF_LEN)

/* Columns of a tile: packed ones, and those that lie elsewhere, each of which
 * takes an address in a register. */
#define GROUP_LYING 6
#define GROUP_MAX   (VF_COLS > GROUP_LYING ? VF_COLS : GROUP_LYING)

#define LINE    64 /* bytes in one of the cache */
#define FETCHED 32 /* units of a column ahead */

/* Columns that are found from one address by their distance. */
#define FROM_ONE 3

/* What differs; constants where a tile is computed. */
enum kind {
    LYING,  /* columns of floats where they lie */
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
struct group {
    const float *packed;
    const float *columns[GROUP_LYING]; /* APART: every FROM_ONE'th */
    int64_t apart;
    struct fetched *fetched;
};

_Static_assert(GROUP_LYING * FROM_ONE >= VF_COLS, "addresses");

GB_INLINE float
unit_at(enum kind kind, const struct group *g, int c, int64_t j)
{
    return kind == LYING   ? g->columns[c][j]
           : kind == APART ? g->columns[c / FROM_ONE]
                                       [c % FROM_ONE * g->apart + j]
                           : g->packed[VF_LEN * c + j];
}

/* N steps. */
GB_INLINE void
add_units(enum kind kind, int cols, int64_t n, const float *const *x,
          int64_t step, const struct group *g, sums acc)
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
fetch(const struct gb_float_tile *reals, struct fetched *done)
{
    if (done->rows <= 0)
        return;
    GB_PREFETCH_FAR(done->row + done->at);
    GB_PREFETCH_FAR(done->row + done->at + LINE);
    done->at += 2 * LINE;
    if (done->at >= reals->next_bytes) {
        done->at = 0;
        done->row += reals->next_pitch;
        done->rows--;
    }
}

/* VF_LEN units further. */
GB_INLINE void
go_on(enum kind kind, int cols, struct group *g)
{
    if (kind != APART) {
        g->packed += VF_LEN * cols;
        return;
    }
#pragma GCC unroll 8
    for (int i = 0; i < GROUP_LYING; i++)
        if (i * FROM_ONE < cols)
            g->columns[i] += VF_LEN;
}

/* Columns that lie apart are many streams, so their next units are fetched: of
 * this tile, of which LEFT are left, or of the next one. */
GB_INLINE void
fetch_columns(int cols, const struct gb_float_tile *reals, const struct group *g,
              int64_t left)
{
    const float *at = g->columns[0] + FETCHED;

    if (left <= FETCHED)
        at += cols * reals->apart - reals->units;
#pragma GCC unroll 16
    for (int c = 0; c < cols; c++, at += reals->apart)
        GB_PREFETCH(at);
}

/* All steps; columns that lie anywhere are taken at once, others VF_LEN units
 * at a time. */
GB_INLINE void
add_all(enum kind kind, int cols, const struct gb_float_tile *reals,
        const float **x, struct group g, sums acc)
{
    int64_t left = reals->units;

    for (; kind != LYING && left >= VF_LEN; left -= VF_LEN) {
        if (kind == APART)
            fetch_columns(cols, reals, &g, left);
        add_units(kind, cols, VF_LEN, x, reals->step, &g, acc);
        fetch(reals, g.fetched);
        go_on(kind, cols, &g);
#pragma GCC unroll 8
        for (int v = 0; v < VF_ROWS; v++)
            x[v] += VF_LEN * reals->step;
    }
    add_units(kind, cols, left, x, reals->step, &g, acc);
}

/* COLS columns and the rows from ROW on.  What is written in the end is
 * fetched first: so many stores would fill the buffer in which they wait. */
GB_INLINE void
strip(enum kind kind, int cols, const struct gb_float_tile *reals, int64_t row,
      const struct group *g, float *const *dst)
{
    const int64_t to = reals->dst_row + row;
    const float *x[VF_ROWS];
    int64_t rest[VF_ROWS];
    sums acc;

#pragma GCC unroll 8
    for (int v = 0; v < VF_ROWS; v++) {
        rest[v] = reals->rows - row - v * VF_LEN;
        rest[v] = rest[v] < 0 ? 0 : rest[v] > VF_LEN ? VF_LEN : rest[v];
        x[v] = reals->panels + (row / VF_LEN + v) * reals->panel_step;
    }
#pragma GCC unroll 16
    for (int c = 0; c < cols; c++)
#pragma GCC unroll 8
        for (int v = 0; v < VF_ROWS; v++) {
            acc[v][c] = reals->is_first
                            ? vf_zero()
                            : vf_load_n(dst[c] + to + v * VF_LEN, rest[v]);
            GB_PREFETCH_TO(dst[c] + to + v * VF_LEN);
        }
    add_all(kind, cols, reals, x, *g, acc);
#pragma GCC unroll 16
    for (int c = 0; c < cols; c++)
#pragma GCC unroll 8
        for (int v = 0; v < VF_ROWS; v++)
            vf_store_n(dst[c] + to + v * VF_LEN, acc[v][c], rest[v]);
}

typedef void strip_fn(const struct gb_float_tile *reals, int64_t row,
                      const struct group *g, float *const *dst);

/* N columns, or fewer where there never are so many. */
#define MOST(n, most) ((n) < (most) ? (n) : (most))

#define LYING_STRIP(n)                                                      \
    static void lying_##n(const struct gb_float_tile *reals, int64_t row,        \
                          const struct group *g, float *const *dst)         \
    {                                                                       \
        strip(LYING, MOST(n, GROUP_LYING), reals, row, g, dst);             \
    }

#define GROUP_STRIP(n)                                                      \
    static void group_##n(const struct gb_float_tile *reals, int64_t row,        \
                          const struct group *g, float *const *dst)         \
    {                                                                       \
        if (reals->packed == NULL)                                          \
            strip(APART, MOST(n, VF_COLS), reals, row, g, dst);             \
        else if (VF_PAIRS && reals->in_pairs)                               \
            strip(PAIRS, MOST(n, VF_COLS), reals, row, g, dst);             \
        else                                                                \
            strip(PACKED, MOST(n, VF_COLS), reals, row, g, dst);            \
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

static strip_fn *const strips_lying[] = {
    lying_1, lying_2, lying_3, lying_4, lying_5, lying_6,
};

static strip_fn *const strips_group[] = {
    group_1, group_2, group_3, group_4,  group_5,  group_6,
    group_7, group_8, group_9, group_10, group_11, group_12,
};

_Static_assert(sizeof(strips_lying) / sizeof(strip_fn *) >= GROUP_LYING &&
                   sizeof(strips_group) / sizeof(strip_fn *) >= VF_COLS,
               "strips");

/* Unit 0 of column C.  Where columns are apart the list of them, which is in no
 * near cache, is not read. */
static const float *
column_at(const struct gb_float_tile *reals, int64_t c)
{
    const float *first = reals->columns[reals->apart > 0 ? 0 : c];

    return first + c * reals->apart + reals->from;
}

/* The tile of COLS columns from column C on.  Not returned: a struct that is
 * copied waits for the stores before it, which are a tile's. */
static void
find_group(const struct gb_float_tile *reals, int64_t c, int64_t cols,
           struct group *g)
{
    const int64_t step = reals->apart > 0 ? FROM_ONE : 1;

    if (reals->packed != NULL)
        g->packed = (const float *)(const void *)(
                        reals->packed + (size_t)c * reals->pitch) +
                    cols * reals->from;
    else
        for (int64_t i = 0; i * step < cols; i++)
            g->columns[i] = column_at(reals, c + i * step);
}

void
GB_K(gemm_float_tile)(const struct gb_float_tile *reals)
{
    const bool is_lying = reals->packed == NULL && reals->apart == 0;
    strip_fn *const *const strips = is_lying ? strips_lying : strips_group;
    const int64_t step = is_lying ? GROUP_LYING : VF_COLS;
    struct fetched fetched = {
        .row = reals->next,
        .rows = reals->next == NULL ? 0 : reals->rows,
    };
    struct group g = { .apart = reals->apart, .fetched = &fetched };

    for (int64_t c = 0; c < reals->cols; c += step) {
        const int64_t left = reals->cols - c;
        const int64_t cols = left < step ? left : step;

        find_group(reals, c, cols, &g);
        for (int64_t r = 0; r < reals->rows; r += STRIP)
            strips[cols - 1](reals, r, &g, reals->dst + c);
    }
}
