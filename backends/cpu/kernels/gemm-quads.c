/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm-quads.c - panels of quantised weights times columns.
 *
 * One step takes a quad of each row of a panel and a quad of a column, which
 * all rows share: sums of integers, one a row and column, stay in registers for
 * a piece and then join the float sums, times both scales.
 */
#include "backends/cpu/kernels/gemm.h"
#include "lib/type/blocks.h"

#include <stdatomic.h>

/* What differs by type; constants where a strip is computed. */
struct kind {
    int piece;
    int steps;
    int has_min;
};

/* Where the parts of a record and of lower halves are, behind their codes. */
#define AT_D         offsetof(struct gb_record_end, d)
#define AT_SUM       offsetof(struct gb_record_end, sum)
#define AT_FIRST     offsetof(struct gb_record_end, first)
#define AT_LOW_FIRST offsetof(struct gb_low_end, first)

GB_INLINE float
float_at(const char *p)
{
    float x;

    memcpy(&x, p, sizeof(x));
    return x;
}

GB_INLINE int32_t
int_at(const char *p)
{
    int32_t x;

    memcpy(&x, p, sizeof(x));
    return x;
}

/* Add N quads' products to the sums. */
GB_INLINE void
add_quads(int n, bool is_wide, const uint8_t *const *codes,
          const char *const *records, vi s[VQ_ROWS][VQ_COLS])
{
#pragma GCC unroll 8
    for (int q = 0; q < n; q++) {
        vq w[VQ_ROWS];

#pragma GCC unroll 8
        for (int v = 0; v < VQ_ROWS; v++)
            w[v] = vq_load(codes[v] + 4 * VF_LEN * q);
#pragma GCC unroll 8
        for (int c = 0; c < VQ_COLS; c++) {
            const vq a = vq_spread(records[c] + 4 * q);

#pragma GCC unroll 8
            for (int v = 0; v < VQ_ROWS; v++)
                s[v][c] = is_wide ? vi_dot_wide(s[v][c], w[v], a)
                                  : vi_dot(s[v][c], w[v], a);
        }
    }
}

/* The same for N quads whose products fit sums of 16 bits. */
GB_INLINE void
add_quads_halves(int n, const uint8_t *const *codes,
                 const char *const *records, vi s[VQ_ROWS][VQ_COLS])
{
    vh h[VQ_ROWS][VQ_COLS];

#pragma GCC unroll 8
    for (int q = 0; q < n; q++) {
        vq w[VQ_ROWS];

#pragma GCC unroll 8
        for (int v = 0; v < VQ_ROWS; v++)
            w[v] = vq_load(codes[v] + 4 * VF_LEN * q);
#pragma GCC unroll 8
        for (int c = 0; c < VQ_COLS; c++) {
            const vq a = vq_spread(records[c] + 4 * q);

#pragma GCC unroll 8
            for (int v = 0; v < VQ_ROWS; v++)
                h[v][c] = q == 0 ? vh_dot(w[v], a)
                                 : vh_dot_more(h[v][c], w[v], a);
        }
    }
#pragma GCC unroll 8
    for (int c = 0; c < VQ_COLS; c++)
#pragma GCC unroll 8
        for (int v = 0; v < VQ_ROWS; v++)
            s[v][c] = vi_add_pairs(s[v][c], h[v][c]);
}

_Static_assert(VQ_COLS % 2 == 0, "columns have partners");

/* The same for N quads, a multiple of four, by two columns at a time. */
GB_INLINE void
add_quads_tiles(int n, bool is_wide, const uint8_t *const *codes,
                const char *const *records, vi s[VQ_ROWS][VQ_COLS])
{
    vi2 t[VQ_ROWS][VQ_COLS / 2];

#pragma GCC unroll 8
    for (int c = 0; c < VQ_COLS; c += 2)
#pragma GCC unroll 8
        for (int v = 0; v < VQ_ROWS; v++)
            t[v][c / 2] = vi2_join(s[v][c], s[v][c + 1]);
#pragma GCC unroll 2
    for (int q = 0; q < n; q += 4) {
        va2 a[VQ_COLS / 2];

#pragma GCC unroll 8
        for (int c = 0; c < VQ_COLS; c += 2)
            a[c / 2] = va2_load(records[c] + 4 * q, records[c + 1] + 4 * q);
#pragma GCC unroll 8
        for (int v = 0; v < VQ_ROWS; v++) {
            const vq4 w = vq4_load(codes[v] + 4 * VF_LEN * q);

#pragma GCC unroll 8
            for (int c = 0; c < VQ_COLS / 2; c++)
                t[v][c] = is_wide ? vi2_dot_wide(t[v][c], w, a[c])
                                  : vi2_dot(t[v][c], w, a[c]);
        }
    }
#pragma GCC unroll 8
    for (int c = 0; c < VQ_COLS; c++)
#pragma GCC unroll 8
        for (int v = 0; v < VQ_ROWS; v++)
            s[v][c] = vi2_sums(t[v][c / 2], c % 2);
}

/* Add the products of one piece. */
GB_INLINE void
add_piece(const struct kind *kind, const uint8_t *const *panels,
          const char *const *records, vi s[VQ_ROWS][VQ_COLS])
{
    const bool in_halves = VQ_HALVES && kind->steps > 1;
    const int step = in_halves ? kind->steps : 1;

    if (VQ_TILES) {
        add_quads_tiles(kind->piece / 4, kind->steps == 0, panels,
                        records, s);
        return;
    }
#pragma GCC unroll 8
    for (int q = 0; q < kind->piece / 4; q += step) {
        const uint8_t *codes[VQ_ROWS];
        const char *quads[VQ_COLS];

#pragma GCC unroll 8
        for (int v = 0; v < VQ_ROWS; v++)
            codes[v] = panels[v] + 4 * VF_LEN * q;
#pragma GCC unroll 8
        for (int c = 0; c < VQ_COLS; c++)
            quads[c] = records[c] + 4 * q;
        if (in_halves)
            add_quads_halves(step, codes, quads, s);
        else
            add_quads(step, kind->steps == 0, codes, quads, s);
    }
}

/* Which pieces of the strip's part of COLUMN have lower halves. */
GB_INLINE uint64_t
marks_of(const struct gb_strip *strip, int piece, const void *column)
{
    const struct gb_marks *marks =
        (const void *)((const char *)column + strip->marks);
    uint64_t pieces = marks[0].pieces;

    if (strip->k > GB_MARKED)
        pieces |= (uint64_t)marks[1].pieces << GB_MARKED / piece;
    return pieces;
}

/* The lower halves of piece P of the strip's part of COLUMN. */
GB_INLINE const char *
low_of(const struct gb_strip *strip, int piece, const void *column, int64_t p)
{
    static const char none[GB_QK + sizeof(struct gb_low_end)];
    const uint64_t marks = marks_of(strip, piece, column);
    const uint64_t bit = (uint64_t)1 << p;
    const struct gb_marks *at =
        (const void *)((const char *)column + strip->marks);
    const int place = at->before + __builtin_popcountll(marks & (bit - 1));

    if ((marks & bit) == 0)
        return none;
    return (const char *)column + strip->lows +
           place * (piece + (int)sizeof(struct gb_low_end));
}

/* The same for the lower halves.  One column that has any is enough for all:
 * with and without them a sum comes out the same. */
GB_INLINE void
add_low(const struct gb_strip *strip, const struct kind *kind,
        int64_t p, const uint8_t *const *panels, const void *const *columns,
        vi s[VQ_ROWS][VQ_COLS])
{
    const int piece = kind->piece;
    const char *low[VQ_COLS];

#pragma GCC unroll 8
    for (int c = 0; c < VQ_COLS; c++) {
        vi first;

        low[c] = low_of(strip, piece, columns[c], p);
        first = vi_set1(int_at(low[c] + piece + AT_LOW_FIRST));
#pragma GCC unroll 8
        for (int v = 0; v < VQ_ROWS; v++)
            s[v][c] = vi_add_256(first, s[v][c]);
    }
    add_piece(kind, panels, low, s);
}

/* The sums times FACTOR. */
GB_INLINE void
floats(float factor, vi s[VQ_ROWS][VQ_COLS],
       vf f[VQ_ROWS][VQ_COLS])
{
#pragma GCC unroll 8
    for (int c = 0; c < VQ_COLS; c++)
#pragma GCC unroll 8
        for (int v = 0; v < VQ_ROWS; v++) {
            f[v][c] = vf_from_vi(s[v][c]);
            if (factor != 1.0f)
                f[v][c] = vf_mul(f[v][c], vf_set1(factor));
        }
}

/* VQ_COLS columns. */
GB_INLINE void
tile(const struct gb_strip *strip, const struct kind *kind,
     const void *const *columns, float *const *dst)
{
    const int piece = kind->piece;
    const int64_t pieces = strip->k / kind->piece;
    vf acc[VQ_ROWS][VQ_COLS];
    int64_t rest[VQ_ROWS];
    const char *records[VQ_COLS];
    const uint8_t *codes[VQ_ROWS];
    uint64_t marks = 0;

#pragma GCC unroll 8
    for (int c = 0; c < VQ_COLS; c++)
        marks |= marks_of(strip, piece, columns[c]);
#pragma GCC unroll 8
    for (int v = 0; v < VQ_ROWS; v++) {
        rest[v] = strip->rows - v * VF_LEN;
        rest[v] = rest[v] < 0 ? 0 : rest[v] > VF_LEN ? VF_LEN : rest[v];
        codes[v] = strip->panels[v].codes;
    }
#pragma GCC unroll 8
    for (int c = 0; c < VQ_COLS; c++) {
        records[c] = (const char *)columns[c] + strip->from;
#pragma GCC unroll 8
        for (int v = 0; v < VQ_ROWS; v++)
            acc[v][c] =
                strip->is_first
                    ? vf_zero()
                    : vf_load_n(dst[c] + strip->dst_row + v * VF_LEN, rest[v]);
    }
    for (int64_t p = 0; p < pieces; p++) {
        vi s[VQ_ROWS][VQ_COLS];
        vf f[VQ_ROWS][VQ_COLS];
        vf d[VQ_ROWS];

#pragma GCC unroll 8
        for (int c = 0; c < VQ_COLS; c++)
#pragma GCC unroll 8
            for (int v = 0; v < VQ_ROWS; v++)
                s[v][c] = vi_set1(int_at(records[c] + piece + AT_FIRST));
        add_piece(kind, codes, records, s);
        if ((marks >> p & 1) != 0) {
            /* Weights are read again: kept for this, they would fill the
             * registers of all the pieces that need it not. */
            atomic_signal_fence(memory_order_seq_cst);
            add_low(strip, kind, p, codes, columns, s);
            floats(1.0f / 256.0f, s, f);
        } else {
            floats(1.0f, s, f);
        }
#pragma GCC unroll 8
        for (int v = 0; v < VQ_ROWS; v++) {
            d[v] = vf_load(strip->panels[v].scales + p * VF_LEN);
            codes[v] += kind->piece * VF_LEN;
        }
#pragma GCC unroll 8
        for (int c = 0; c < VQ_COLS; c++) {
            const vf scale = vf_set1(float_at(records[c] + piece + AT_D));

#pragma GCC unroll 8
            for (int v = 0; v < VQ_ROWS; v++)
                acc[v][c] =
                    vf_fma(f[v][c], vf_mul(d[v], scale), acc[v][c]);
        }
        if (kind->has_min) {
#pragma GCC unroll 8
            for (int v = 0; v < VQ_ROWS; v++)
                d[v] = vf_load(strip->panels[v].mins + p * VF_LEN);
#pragma GCC unroll 8
            for (int c = 0; c < VQ_COLS; c++) {
                const vf sum = vf_set1(
                    float_at(records[c] + piece + AT_SUM));

#pragma GCC unroll 8
                for (int v = 0; v < VQ_ROWS; v++)
                    acc[v][c] = vf_fma(d[v], sum, acc[v][c]);
            }
        }
#pragma GCC unroll 8
        for (int c = 0; c < VQ_COLS; c++)
            records[c] += piece + (int)sizeof(struct gb_record_end);
    }
#pragma GCC unroll 8
    for (int c = 0; c < VQ_COLS; c++)
#pragma GCC unroll 8
        for (int v = 0; v < VQ_ROWS; v++)
            vf_store_n(dst[c] + strip->dst_row + v * VF_LEN, acc[v][c],
                       rest[v]);
}

/* All columns, the last ones more than once where they do not fill a tile: the
 * same sum is then written again. */
GB_INLINE void
all_columns(const struct gb_strip *strip, const struct kind *kind)
{
    for (int64_t c = 0; c < strip->cols; c += VQ_COLS) {
        const int64_t left = strip->cols - c;
        const void *columns[VQ_COLS];
        float *dst[VQ_COLS];

        for (int i = 0; i < VQ_COLS; i++) {
            const int64_t from = c + (i < left ? i : left - 1);

            columns[i] = strip->columns[from];
            dst[i] = strip->dst[from];
        }
        tile(strip, kind, columns, dst);
    }
}

/* Every kind that a type is of: KIND(name, piece, steps, has_min). */
#define KINDS                  \
    KIND(wide_32, 32, 0, 0)    \
    KIND(steps1_32, 32, 1, 0)  \
    KIND(steps4_32, 32, 4, 0)  \
    KIND(mins4_32, 32, 4, 1)   \
    KIND(steps8_32, 32, 8, 0)  \
    KIND(mins8_32, 32, 8, 1)   \
    KIND(steps1_16, 16, 1, 0)  \
    KIND(steps2_16, 16, 2, 0)  \
    KIND(steps4_16, 16, 4, 0)  \
    KIND(mins4_16, 16, 4, 1)

#define KIND(name, ...)                                        \
    static void strip_##name(const struct gb_strip *strip)     \
    {                                                          \
        all_columns(strip, &(const struct kind){ __VA_ARGS__ }); \
    }
KINDS
#undef KIND

static const struct {
    struct kind kind;
    void (*strip)(const struct gb_strip *strip);
} kinds[] = {
#define KIND(name, ...) { { __VA_ARGS__ }, strip_##name },
    KINDS
#undef KIND
};

void
GB_K(gemm_quads)(const struct gb_layout *layout, const struct gb_strip *strip)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const struct kind *kind = &kinds[i].kind;

        if (kind->piece == layout->piece && kind->steps == layout->steps &&
            kind->has_min == layout->has_min)
            kinds[i].strip(strip);
    }
}
