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
    /* The d and, if there are minima, m of N blocks: one of 256 values, or up
     * to eight of 32. */
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

/* A row that is multiplied with a column. */
struct row {
    const char *block;  /* the next one */
    const char *record; /* the column's next ones: a record, */
    const float *scale; /* what its sums are multiplied with, */
    const float *sum;   /* and its sum */
    qf acc[4];          /* so many additions are in flight */
    qf side;            /* what the minima add */
};

/* The products of values 32 * g to 32 * g + 31 of a block with a record. */
GB_INLINE qs
dot_32(const struct gb_blocks *b, const char *block, int g,
       const struct gb_record32 *y)
{
    const q32 codes = b->codes(block, g);
    qs s = dot_codes(b, qs_first(y->first_high), codes, q32_load(y->high));

    if (y->has_low != 0)
        s = dot_codes(b, qs_add_256(qs_first(y->first_low), s), codes,
                      q32_load(y->low));
    return s;
}

/* The same with two records. */
GB_INLINE qs
dot_16_and_16(const struct gb_blocks *b, const char *block, int g,
              const struct gb_record16 *y)
{
    const q32 codes = b->codes(block, g);
    qs s = dot_codes(b, qs_first2(y[0].first_high, y[1].first_high), codes,
                     q32_load2(y[0].high, y[1].high));

    if (y->has_low != 0)
        s = dot_codes(
            b, qs_add_256(qs_first2(y[0].first_low, y[1].first_low), s),
            codes, q32_load2(y[0].low, y[1].low));
    return s;
}

/* The products of scales for the next N blocks; what the minima add is
 * added. */
GB_INLINE void
scale_blocks(const struct gb_blocks *b, struct row *row, int n, float *scales)
{
    const struct gb_layout *layout = b->layout;
    const int records =
        layout->values == 32 ? 8 : layout->values / layout->piece;
    float d[GB_GROUP_SCALES];
    float m[GB_GROUP_SCALES];

    b->scales(row->block, n, d, m);
#pragma GCC unroll 2
    for (int i = 0; i < records; i += 8) {
        qf_store(scales + i,
                 qf_mul(qf_load(d + i), qf_load(row->scale + i)));
        if (layout->has_min)
            row->side =
                qf_fma(qf_load(m + i), qf_load(row->sum + i), row->side);
    }
    row->scale += records;
    row->sum += records;
}

/* The next N blocks, no more than are taken at a time. */
GB_INLINE void
add_blocks(const struct gb_blocks *b, struct row *row, int n)
{
    const struct gb_layout *layout = b->layout;
    const int groups = layout->values / 32;
    float scales[GB_GROUP_SCALES];

    scale_blocks(b, row, n, scales);
    /* Unrolled, so that a sum is always the same register. */
#pragma GCC unroll 8
    for (int i = 0; i < blocks_at_a_time(b); i++) {
        if (i == n)
            break;
#pragma GCC unroll 8
        for (int g = 0; g < groups; g++) {
            const void *y = row->record;
            qf *acc = &row->acc[(i + g) % 4];

            if (layout->piece == 32) {
                *acc = qf_add(*acc, dot_32(b, row->block, g, y),
                              scales[i * groups + g]);
                row->record += sizeof(struct gb_record32);
            } else {
                *acc = qf_add2(*acc, dot_16_and_16(b, row->block, g, y),
                               scales + 2 * (i * groups + g));
                row->record += 2 * sizeof(struct gb_record16);
            }
        }
        row->block += layout->bytes;
    }
}

GB_INLINE float
dot_of_row(const struct gb_blocks *b, int64_t k, const char *x,
           const char *column)
{
    const struct gb_layout *layout = b->layout;
    const int at_a_time = blocks_at_a_time(b);
    int64_t left = k / layout->values;
    struct row row = {
        .block = x,
        .record = column,
        .acc = { qf_zero(), qf_zero(), qf_zero(), qf_zero() },
        .side = qf_zero(),
    };
    float sum;

    row.scale =
        (const float *)(const void *)(column + gb_column_offset(layout, k));
    row.sum = row.scale + gb_column_list(layout, k);
    for (; left >= at_a_time; left -= at_a_time)
        add_blocks(b, &row, at_a_time);
    if (left > 0)
        add_blocks(b, &row, (int)left);
    sum = (qf_sum(row.acc[0]) + qf_sum(row.acc[1])) +
          (qf_sum(row.acc[2]) + qf_sum(row.acc[3]));
    return layout->has_min ? sum + qf_sum(row.side) : sum;
}

/*
 * gb_dots_fn for blocks.  Row after row: weights come from memory, and the
 * processor fetches ahead what is read in order.  Two and four rows side by
 * side share the work on the column, which is a third faster from the second
 * cache, and come from memory at half the speed.
 */
GB_INLINE void
gb_block_dots(const struct gb_blocks *b, int64_t k, int64_t rows,
              const void *x, size_t pitch, const void *column, float *dst)
{
    for (int64_t r = 0; r < rows; r++)
        dst[r] = dot_of_row(b, k, (const char *)x + (size_t)r * pitch, column);
}

/* The codes, scales and minima of N blocks of row R; where they go is moved
 * on. */
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
        vq4_turn(panel->codes + i * VF_LEN, panel->rows + i, GB_PANEL_K);
}

#endif
