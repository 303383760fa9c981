/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/blocks.h - unpacking of rows of blocks, for a type that says how
 * one block is read.
 */
#ifndef GB_CPU_KERNELS_BLOCKS_H
#define GB_CPU_KERNELS_BLOCKS_H

#include "backends/cpu/kernels/panel.h"
#include "backends/cpu/simd/q64.h"

#include <string.h>

/* Value e of a block is d[e / piece] * (code - offset) + m[e / piece]. */
struct gb_blocks {
    const struct gb_layout *layout;
    /* The d and, if there are minima, m of N blocks: one of 256 values, or up
     * to eight of 32. */
    void (*scales)(const void *blocks, int n, float *d, float *m);
    /* The codes of values 32 * g to 32 * g + 31; blocks of 256 in plain order
     * may do without. */
    q32 (*codes)(const void *block, int g);
    /* For few columns, which take groups: a block of 256 values, or N of 32,
     * which are 8 but at the end of a row.  Types of plain order may do without
     * the first, those with one block in a group without both. */
    /* The codes of step I in the layout's order: a unit of 64, or two. */
    void (*units)(const void *group, int i, int n, q64 *u);
    /* Eight d and, if there are minima, m of a group, or twice eight. */
    void (*group_scales)(const void *group, int n, qf *d, qf *m);
};

#define GB_GROUP_SCALES 16 /* of the blocks that are taken at a time, at most */

/* Blocks that are taken at a time, when there are as many. */
GB_INLINE int
blocks_at_a_time(const struct gb_blocks *b)
{
    return b->layout->values == 32 ? 8 : 1;
}

GB_INLINE void
codes_of_block(const struct gb_blocks *b, const void *block, uint8_t *codes)
{
    if (b->codes != NULL) {
#pragma GCC unroll 8
        for (int g = 0; g < b->layout->values / 32; g++)
            q32_store(codes + 32 * g, b->codes(block, g));
        return;
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        q64 u;

        b->units(block, i, 1, &u);
        q64_store(codes + 64 * i, u);
    }
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
        codes_of_block(b, block, codes);
        codes += layout->values;
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

/* Values of 32 codes, whose scales are from D on and minima from M on. */
GB_INLINE void
floats_of_codes(const struct gb_layout *layout, q32 codes, const float *d,
                const float *m, float *dst)
{
    int8_t values[32];

    q32_store(values, q32_add(codes, q32_set1(-layout->offset)));
#pragma GCC unroll 8
    for (int j = 0; j < 32; j += VF_LEN) {
        const int piece = j / layout->piece;
        vf v = vf_mul(vf_from_i8(values + j), vf_set1(d[piece]));

        if (layout->has_min)
            v = vf_add(v, vf_set1(m[piece]));
        vf_store(dst + j, v);
    }
}

/* gb_floats_fn for blocks: to the bit what lib/type/ makes of them. */
GB_INLINE void
gb_block_floats(const struct gb_blocks *b, int64_t n, float *dst,
                const void *x)
{
    const struct gb_layout *layout = b->layout;
    const int at_a_time = blocks_at_a_time(b);
    const int groups = layout->values / 32;
    const char *block = x;

    for (int64_t left = n / layout->values; left > 0; left -= at_a_time) {
        const int blocks = left < at_a_time ? (int)left : at_a_time;
        uint8_t codes[256];
        float d[GB_GROUP_SCALES];
        float m[GB_GROUP_SCALES];

        b->scales(block, blocks, d, m);
        for (int i = 0; i < blocks; i++, block += layout->bytes) {
            codes_of_block(b, block, codes);
#pragma GCC unroll 8
            for (int g = 0; g < groups; g++, dst += 32) {
                const int piece = (groups * i + g) * 32 / layout->piece;

                floats_of_codes(layout, q32_load(codes + 32 * g), d + piece,
                                m + piece, dst);
            }
        }
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
