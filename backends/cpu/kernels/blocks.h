/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/blocks.h - products and unpacking of rows of blocks, for a type
 * that says how one block is read.
 */
#ifndef GB_CPU_KERNELS_BLOCKS_H
#define GB_CPU_KERNELS_BLOCKS_H

#include "backends/cpu/kernels/panel.h"

#include <string.h>

/* Value e of a block is d[e / piece] * (code - offset) + m[e / piece]. */
struct gb_blocks {
    const struct gb_layout *layout;
    /* The d and, if there are minima, m of N blocks: one of 256 values, or up to
     * eight of 32. */
    void (*scales)(const void *blocks, int n, float *d, float *m);
    /* The codes of values 32 * g to 32 * g + 31. */
    q32 (*codes)(const void *block, int g);
};

#define GB_GROUP_SCALES 16 /* of the blocks that are taken at a time, at most */

/* Blocks that are taken at a time, when there are as many. */
GB_INLINE int
blocks_at_a_time(const struct gb_blocks *b)
{
    return b->layout->values == 32 ? 8 : 1;
}

GB_INLINE qs
dot_codes(const struct gb_blocks *b, qs s, q32 codes, q32 a)
{
    return b->layout->steps == 0 ? qs_dot_wide(s, codes, a)
                                 : qs_dot(s, codes, a);
}

/* Up to four rows that are multiplied with the same column. */
struct rows {
    int n;
    const char *block; /* the first row's next one */
    size_t pitch;
    const char *record; /* the column's next ones: a record, */
    const float *scale; /* what its sums are multiplied with, */
    const float *sum;   /* and its sum */
    qf acc[4];
    qf side[4]; /* what the minima add */
};

/* For some blocks of each row, in the order of records. */
typedef float row_scales[4][GB_GROUP_SCALES];

/* Values 32 * g to 32 * g + 31 of the next blocks; their scale is at AT. */
GB_INLINE void
add_32(const struct gb_blocks *b, struct rows *rows, int g, int at,
       row_scales scales)
{
    const struct gb_record32 *y = (const void *)rows->record;
    const q32 high = q32_load(y->high);

#pragma GCC unroll 4
    for (int r = 0; r < rows->n; r++) {
        const q32 codes = b->codes(rows->block + (size_t)r * rows->pitch, g);
        qs s = dot_codes(b, qs_first(y->first_high), codes, high);

        if (y->has_low != 0)
            s = dot_codes(b, qs_add_256(qs_first(y->first_low), s), codes,
                          q32_load(y->low));
        rows->acc[r] = qf_add(rows->acc[r], s, scales[r][at]);
    }
    rows->record += sizeof(*y);
}

/* The same with two scales. */
GB_INLINE void
add_16_and_16(const struct gb_blocks *b, struct rows *rows, int g, int at,
              row_scales scales)
{
    const struct gb_record16 *y = (const void *)rows->record;
    const q32 high = q32_load2(y[0].high, y[1].high);

#pragma GCC unroll 4
    for (int r = 0; r < rows->n; r++) {
        const q32 codes = b->codes(rows->block + (size_t)r * rows->pitch, g);
        qs s = dot_codes(
            b, qs_first2(y[0].first_high, y[1].first_high), codes, high);

        if (y->has_low != 0)
            s = dot_codes(
                b, qs_add_256(qs_first2(y[0].first_low, y[1].first_low), s),
                codes, q32_load2(y[0].low, y[1].low));
        rows->acc[r] = qf_add2(rows->acc[r], s, scales[r] + at);
    }
    rows->record += 2 * sizeof(*y);
}

/* The products of scales for N blocks of each row, and what the minima add. */
GB_INLINE void
scale_blocks(const struct gb_blocks *b, struct rows *rows, int n,
             row_scales scales)
{
    const struct gb_layout *layout = b->layout;
    const int records = layout->values == 32
                            ? 8
                            : layout->values / layout->piece;

#pragma GCC unroll 4
    for (int r = 0; r < rows->n; r++) {
        float d[GB_GROUP_SCALES];
        float m[GB_GROUP_SCALES];

        b->scales(rows->block + (size_t)r * rows->pitch, n, d, m);
#pragma GCC unroll 2
        for (int i = 0; i < records; i += 8) {
            qf_store(scales[r] + i,
                     qf_mul(qf_load(d + i), qf_load(rows->scale + i)));
            if (layout->has_min)
                rows->side[r] = qf_fma(
                    qf_load(m + i), qf_load(rows->sum + i), rows->side[r]);
        }
    }
    rows->scale += records;
    rows->sum += records;
}

/* N blocks of each row, no more than are taken at a time. */
GB_INLINE void
add_blocks(const struct gb_blocks *b, struct rows *rows, int n)
{
    const struct gb_layout *layout = b->layout;
    row_scales scales;

    scale_blocks(b, rows, n, scales);
    for (int i = 0; i < n; i++, rows->block += layout->bytes) {
#pragma GCC unroll 8
        for (int g = 0; g < layout->values / 32; g++) {
            if (layout->piece == 32)
                add_32(b, rows, g, i + g, scales);
            else
                add_16_and_16(b, rows, g, 2 * g, scales);
        }
    }
}

/* dst[r] = the products of N rows with a column, N at most 4. */
GB_INLINE void
dots_of_rows(const struct gb_blocks *b, int n, int64_t k, const char *x,
             size_t pitch, const char *column, float *dst)
{
    const struct gb_layout *layout = b->layout;
    const int at_a_time = blocks_at_a_time(b);
    int64_t left = k / layout->values;
    struct rows rows = {
        .n = n, .block = x, .pitch = pitch, .record = column
    };

    rows.scale =
        (const float *)(const void *)(column + gb_column_offset(layout, k));
    rows.sum = rows.scale + gb_column_list(layout, k);
    for (int r = 0; r < n; r++) {
        rows.acc[r] = qf_zero();
        rows.side[r] = qf_zero();
    }
    for (; left >= at_a_time; left -= at_a_time)
        add_blocks(b, &rows, at_a_time);
    if (left > 0)
        add_blocks(b, &rows, (int)left);
    for (int r = 0; r < n; r++)
        dst[r] = qf_sum(rows.acc[r]) +
                 (layout->has_min ? qf_sum(rows.side[r]) : 0.0f);
}

/* gb_dots_fn for blocks. */
GB_INLINE void
gb_block_dots(const struct gb_blocks *b, int64_t k, int64_t rows,
              const void *x, size_t pitch, const void *column, float *dst)
{
    const char *row = x;
    int64_t r = 0;

    for (; r + 4 <= rows; r += 4, row += 4 * pitch)
        dots_of_rows(b, 4, k, row, pitch, column, dst + r);
    for (; r < rows; r++, row += pitch)
        dots_of_rows(b, 1, k, row, pitch, column, dst + r);
}

/* The codes, scales and minima of N blocks of row R; where they go is moved on. */
GB_INLINE void
unpack_blocks(const struct gb_blocks *b, const char *block, int n,
              uint8_t *codes, float *scales, float *mins)
{
    const struct gb_layout *layout = b->layout;
    const int pieces = n * (layout->values / layout->piece);
    float d[GB_GROUP_SCALES];
    float m[GB_GROUP_SCALES];

    b->scales(block, n, d, m);
    for (int i = 0; i < n; i++, block += layout->bytes) {
#pragma GCC unroll 8
        for (int g = 0; g < layout->values / 32; g++, codes += 32)
            q32_store(codes, b->codes(block, g));
    }
    for (int j = 0; j < pieces; j++) {
        scales[j * VF_LEN] = d[j];
        if (layout->has_min)
            mins[j * VF_LEN] = m[j];
    }
}

/* A row of zeros in its place. */
static inline void
unpack_nothing(const struct gb_layout *layout, int64_t k, uint8_t *codes,
               float *scales, float *mins)
{
    memset(codes, 0, (size_t)k);
    for (int64_t j = 0; j < k / layout->piece; j++) {
        scales[j * VF_LEN] = 0.0f;
        if (layout->has_min)
            mins[j * VF_LEN] = 0.0f;
    }
}

/* gb_unpack_fn for blocks. */
GB_INLINE void
gb_block_unpack(const struct gb_blocks *b, int64_t k, int64_t rows,
                const void *x, size_t pitch, const struct gb_panel *panel)
{
    const struct gb_layout *layout = b->layout;
    const int at_a_time = blocks_at_a_time(b);
    const int64_t blocks = k / layout->values;

    for (int64_t r = 0; r < VF_LEN; r++) {
        const char *row = (const char *)x + (size_t)r * pitch;
        uint8_t *codes = panel->rows + r * GB_PANEL_K;

        if (r >= rows) {
            unpack_nothing(layout, k, codes, panel->scales + r,
                           panel->mins + r);
            continue;
        }
        for (int64_t i = 0; i < blocks; i += at_a_time) {
            const int64_t left = blocks - i;
            const int64_t piece = i * layout->values / layout->piece;

            unpack_blocks(b, row + (size_t)i * layout->bytes,
                          left < at_a_time ? (int)left : at_a_time,
                          codes + i * layout->values,
                          panel->scales + piece * VF_LEN + r,
                          panel->mins + piece * VF_LEN + r);
        }
    }
    for (int64_t i = 0; i < k; i += 4 * VF_LEN)
        vq_transpose(panel->codes + i * VF_LEN, panel->rows + i, GB_PANEL_K);
}

#endif
