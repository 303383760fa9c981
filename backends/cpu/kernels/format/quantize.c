/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/quantize.c - rows of floats as blocks of 32 codes, which
 * caches of keys and values have.
 *
 * The bits are those that lib/type/ makes, so each step rounds as its step
 * does.  They are ggml's too, but that its vectors for x86-64 round ties of
 * q8_0 and q8_1 to even numbers: of whole eighths one block in 30 differs, by
 * 2 % of its error at most.
 *
 * Sixteen blocks go together, one step after the other: what a block waits for,
 * extremes over the lanes of a vector and two divisions, is under way for
 * others at the same time.
 */
#include "backends/cpu/kernels/api/prototypes.h"
#include "backends/cpu/kernels/gemm/panel.h"
#include "lib/type/blocks.h"
#include "lib/type/iq4.h"
#include "lib/type/search.h"

#include <math.h>
#include <string.h>

#define BLOCKS 16 /* at a time, a multiple of VF_LEN and of four */

_Static_assert(BLOCKS % VF_LEN == 0, "blocks fill vectors");

/* What is known of each block. */
struct group {
    int n;
    float max[BLOCKS];
    float min[BLOCKS];
    float inverse[BLOCKS]; /* of the scale, 0 for none */
    uint16_t d[BLOCKS];    /* the scale as a half float */
    uint16_t m[BLOCKS];    /* and the minimum, where there is one */
};

/* Up to BLOCKS blocks of what is LEFT. */
GB_INLINE int
blocks_of(int64_t left)
{
    return left < BLOCKS ? (int)left : BLOCKS;
}

/* The extremes, 0 being one of the values of each block, or not. */
GB_INLINE void
find_extremes(struct group *g, const float *x, bool with_zero)
{
    for (int i = 0; i < g->n; i += 4) {
        vf high[4];
        vf low[4];

#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) {
            const float *block = x + (i + j < g->n ? i + j : i) * GB_QK;

            high[j] = with_zero ? vf_zero() : vf_set1(block[0]);
            low[j] = high[j];
#pragma GCC unroll 8
            for (int k = 0; k < GB_QK; k += VF_LEN) {
                high[j] = vf_max(vf_load(block + k), high[j]);
                low[j] = vf_min(vf_load(block + k), low[j]);
            }
            low[j] = vf_neg(low[j]);
        }
        vf_store_max4(g->max + i, high);
        vf_store_max4(g->min + i, low);
    }
    for (int i = 0; i < BLOCKS; i += VF_LEN)
        vf_store(g->min + i, vf_neg(vf_load(g->min + i)));
}

/* The largest magnitudes as max. */
GB_INLINE void
find_magnitudes(struct group *g, const float *x)
{
    for (int i = 0; i < g->n; i += 4) {
        vf top[4];

#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) {
            const float *block = x + (i + j < g->n ? i + j : i) * GB_QK;

            top[j] = vf_zero();
#pragma GCC unroll 8
            for (int k = 0; k < GB_QK; k += VF_LEN)
                top[j] = vf_max(vf_abs(vf_load(block + k)), top[j]);
        }
        vf_store_max4(g->max + i, top);
    }
}

/* The first value of a block that is A or B, and one of them is there. */
static float
first_of(const float *x, float a, float b)
{
    while (*x != a && *x != b)
        x++;
    return *x;
}

/* The values of largest magnitude, of equals the first, in the place of max. */
GB_INLINE void
find_largest(struct group *g, const float *x)
{
    find_extremes(g, x, true);
    for (int i = 0; i < BLOCKS; i += VF_LEN) {
        const vf max = vf_load(g->max + i);
        const vf min = vf_load(g->min + i);
        const vf low = vf_neg(min);
        const vm is_tie = vm_and(vf_eq(max, low), vf_gt(max, vf_zero()));

        vf_store(g->max + i, vf_select(vf_gt(max, low), max, min));
        if (!vm_any(is_tie))
            continue;
        for (int j = i; j < i + VF_LEN && j < g->n; j++)
            if (g->max[j] < 0.0f)
                g->max[j] = first_of(x + j * GB_QK, g->max[j], -g->max[j]);
    }
}

/* The scales are vector V / PARTS for blocks I on. */
GB_INLINE void
set_scales(struct group *g, int i, vf v, float parts)
{
    const vf d = vf_div(v, vf_set1(parts));
    const vf inverse = vf_div(vf_set1(1.0f), d);

    vf_store_f16(g->d + i, d);
    vf_store(g->inverse + i,
             vf_select(vf_eq(d, vf_zero()), vf_zero(), inverse));
}

GB_INLINE void
set_scales_by_max(struct group *g, float parts)
{
    for (int i = 0; i < BLOCKS; i += VF_LEN)
        set_scales(g, i, vf_load(g->max + i), parts);
}

/* Codes of (x - min) * inverse + shift, between 0 and TOP, without a
 * fraction. */
GB_INLINE void
code_block(const float *x, float min, float inverse, float shift, int top,
           uint8_t *codes)
{
#pragma GCC unroll 8
    for (int j = 0; j < GB_QK; j += VF_LEN) {
        vf v = vf_sub(vf_load(x + j), vf_set1(min));

        v = vf_add(vf_mul(v, vf_set1(inverse)), vf_set1(shift));
        v = vf_min(vf_max(v, vf_zero()), vf_set1((float)top));
        vf_store_i8_trunc((int8_t *)codes + j, v);
    }
}

/* The low four bits of codes j and j + 16 share a byte.  Codes are read as they
 * were just written, in halves: a longer load would wait for both. */
GB_INLINE void
pack_nibbles(const uint8_t *codes, uint8_t *qs)
{
    const uint64_t mask = 0x0f0f0f0f0f0f0f0f;

#pragma GCC unroll 2
    for (int i = 0; i < GB_QK / 2; i += 8) {
        uint64_t low;
        uint64_t high;

        memcpy(&low, codes + i, sizeof(low));
        memcpy(&high, codes + GB_QK / 2 + i, sizeof(high));
        low = (low & mask) | (high & mask) << 4;
        memcpy(qs + i, &low, sizeof(low));
    }
}

/* And the fifth bits a word: the product brings bit 8 * i to 56 + i. */
GB_INLINE void
pack_fifths(const uint8_t *codes, uint8_t *qh)
{
#pragma GCC unroll 4
    for (int i = 0; i < GB_QK / 8; i++) {
        uint64_t w;

        memcpy(&w, codes + 8 * i, sizeof(w));
        w = w >> 4 & 0x0101010101010101;
        qh[i] = (uint8_t)(w * 0x0102040810204080 >> 56);
    }
}

/* Blocks whose largest value has the code 0, and zeros the code TOP. */
GB_INLINE void
code_by_scale(struct group *g, const float *x, int top,
              uint8_t codes[BLOCKS][GB_QK])
{
    find_largest(g, x);
    set_scales_by_max(g, (float)-top);
    for (int i = 0; i < g->n; i++)
        code_block(x + i * GB_QK, 0.0f, g->inverse[i], (float)top + 0.5f,
                   2 * top - 1, codes[i]);
}

/* Blocks with codes from 0, for min, to TOP, for max. */
GB_INLINE void
code_by_range(struct group *g, const float *x, int top,
              uint8_t codes[BLOCKS][GB_QK])
{
    find_extremes(g, x, false);
    for (int i = 0; i < BLOCKS; i += VF_LEN)
        set_scales(g, i, vf_sub(vf_load(g->max + i), vf_load(g->min + i)),
                   (float)top);
    for (int i = 0; i < g->n; i++) {
        code_block(x + i * GB_QK, g->min[i], g->inverse[i], 0.5f, top,
                   codes[i]);
        /* Zeros have signs, which nobody needs but the block's bits. */
        if (g->min[i] == 0.0f)
            g->min[i] = first_of(x + i * GB_QK, 0.0f, 0.0f);
    }
    for (int i = 0; i < BLOCKS; i += VF_LEN)
        vf_store_f16(g->m + i, vf_load(g->min + i));
}

void
GB_K(quantize_row_q4_0)(const float *x, void *y, int64_t n)
{
    struct gb_block_q4_0 *block = y;

    for (int64_t left = n / GB_QK; left > 0; left -= BLOCKS) {
        struct group g = { .n = blocks_of(left) };
        uint8_t codes[BLOCKS][GB_QK];

        code_by_scale(&g, x, 8, codes);
        for (int i = 0; i < g.n; i++, block++) {
            block->d = g.d[i];
            pack_nibbles(codes[i], block->qs);
        }
        x += g.n * GB_QK;
    }
}

void
GB_K(quantize_row_q5_0)(const float *x, void *y, int64_t n)
{
    struct gb_block_q5_0 *block = y;

    for (int64_t left = n / GB_QK; left > 0; left -= BLOCKS) {
        struct group g = { .n = blocks_of(left) };
        uint8_t codes[BLOCKS][GB_QK];

        code_by_scale(&g, x, 16, codes);
        for (int i = 0; i < g.n; i++, block++) {
            block->d = g.d[i];
            pack_nibbles(codes[i], block->qs);
            pack_fifths(codes[i], block->qh);
        }
        x += g.n * GB_QK;
    }
}

void
GB_K(quantize_row_q4_1)(const float *x, void *y, int64_t n)
{
    struct gb_block_q4_1 *block = y;

    for (int64_t left = n / GB_QK; left > 0; left -= BLOCKS) {
        struct group g = { .n = blocks_of(left) };
        uint8_t codes[BLOCKS][GB_QK];

        code_by_range(&g, x, 15, codes);
        for (int i = 0; i < g.n; i++, block++) {
            block->d = g.d[i];
            block->m = g.m[i];
            pack_nibbles(codes[i], block->qs);
        }
        x += g.n * GB_QK;
    }
}

void
GB_K(quantize_row_q5_1)(const float *x, void *y, int64_t n)
{
    struct gb_block_q5_1 *block = y;

    for (int64_t left = n / GB_QK; left > 0; left -= BLOCKS) {
        struct group g = { .n = blocks_of(left) };
        uint8_t codes[BLOCKS][GB_QK];

        code_by_range(&g, x, 31, codes);
        for (int i = 0; i < g.n; i++, block++) {
            block->d = g.d[i];
            block->m = g.m[i];
            pack_nibbles(codes[i], block->qs);
            pack_fifths(codes[i], block->qh);
        }
        x += g.n * GB_QK;
    }
}

/* What is, when cut, the nearest integer from -127 to 127, ties away from zero:
 * the largest float below a half is added. */
GB_INLINE vf
round_away(vf v)
{
    const vf limit = vf_set1(127.0f);

    v = vf_min(vf_max(v, vf_neg(limit)), limit);
    return vf_add(v, vf_copysign(vf_set1(0x1.fffffep-2f), v));
}

GB_INLINE void
code_bytes(const float *x, float inverse, int8_t *codes)
{
#pragma GCC unroll 8
    for (int j = 0; j < GB_QK; j += VF_LEN)
        vf_store_i8_trunc(codes + j,
                        round_away(vf_mul(vf_load(x + j), vf_set1(inverse))));
}

/* The scales of the next blocks of what is LEFT; there may be none. */
GB_INLINE void
scale_bytes(struct group *g, const float *x, int64_t left)
{
    g->n = blocks_of(left);
    if (g->n <= 0)
        return;
    find_magnitudes(g, x);
    set_scales_by_max(g, 127.0f);
}

/* Codes are written while the next blocks' scales are under way. */
void
GB_K(quantize_row_q8_0)(const float *x, void *y, int64_t n)
{
    struct gb_block_q8_0 *block = y;
    struct group groups[2] = { { .n = 0 } };
    struct group *g = &groups[0];
    struct group *next = &groups[1];

    scale_bytes(g, x, n / GB_QK);
    for (int64_t left = n / GB_QK; left > 0; left -= BLOCKS) {
        struct group *const done = g;

        scale_bytes(next, x + g->n * GB_QK, left - BLOCKS);
        for (int i = 0; i < g->n; i++, block++) {
            block->d = g->d[i];
            code_bytes(x + i * GB_QK, g->inverse[i], block->qs);
        }
        x += g->n * GB_QK;
        g = next;
        next = done;
    }
}

GB_INLINE int
sum_of_codes(const int8_t *q)
{
    int32_t s[8];
    int sum = 0;

    qs_store(s, qs_dot(qs_set_lane0(0), q32_set1(1), q32_load(q)));
    for (int i = 0; i < 8; i++)
        sum += s[i];
    return sum;
}

void
GB_K(quantize_row_q8_1)(const float *x, void *y, int64_t n)
{
    struct gb_block_q8_1 *block = y;

    for (int64_t left = n / GB_QK; left > 0; left -= BLOCKS) {
        struct group g = { .n = blocks_of(left) };

        find_magnitudes(&g, x);
        set_scales_by_max(&g, 127.0f);
        for (int i = 0; i < g.n; i++, block++) {
            const float d = g.max[i] / 127.0f;

            block->d = g.d[i];
            code_bytes(x + i * GB_QK, g.inverse[i], block->qs);
            block->s = q_to_half(d * (float)sum_of_codes(block->qs));
        }
        x += g.n * GB_QK;
    }
}

/* The numbers of those of the sixteen values that are nearest to x * INVERSE,
 * of two the upper one; 0 for a NaN.  Twice the middle between two values is
 * whole, so nothing is rounded. */
GB_INLINE void
nearest_values(const float *x, float inverse, uint8_t *codes)
{
#pragma GCC unroll 8
    for (int j = 0; j < GB_QK; j += VF_LEN) {
        const vf v = vf_mul(vf_load(x + j), vf_set1(inverse));
        const vf twice = vf_add(v, v);
        vf code = vf_zero();

#pragma GCC unroll 15
        for (int k = 0; k < 15; k++) {
            const vf middle = vf_set1(
                (float)(gb_iq4_values[k] + gb_iq4_values[k + 1]));

            code = vf_select(vf_le(middle, twice), vf_set1((float)(k + 1)),
                             code);
        }
        vf_store_i8((int8_t *)codes + j, code);
    }
}

/* The terms of a scale's least squares, weighted with x^2: of w v x and w v^2
 * for the values V that CODES name. */
GB_INLINE void
fit_terms(const float *x, const uint8_t *codes, float *xq, float *qq)
{
    int8_t values[GB_QK];

    q32_store(values, q32_lookup(gb_iq4_values, q32_load2(codes, codes + 16)));
#pragma GCC unroll 8
    for (int j = 0; j < GB_QK; j += VF_LEN) {
        const vf a = vf_load(x + j);
        const vf v = vf_from_i8(values + j);
        const vf wv = vf_mul(vf_mul(a, a), v);

        vf_store(xq + j, vf_mul(wv, a));
        vf_store(qq + j, vf_mul(wv, v));
    }
}

/* The sum of each row, one term after the other. */
GB_INLINE void
sums_in_order(const float rows[BLOCKS][GB_QK], float *sums)
{
    for (int i = 0; i < BLOCKS; i += VF_LEN) {
        vf s = vf_zero();

        for (int j = 0; j < GB_QK; j += VF_LEN) {
            float turned[VF_LEN * VF_LEN];

            vq_transpose(turned, &rows[i][j], sizeof(rows[0]));
            for (int k = 0; k < VF_LEN; k++)
                s = vf_add(s, vf_load(turned + k * VF_LEN));
        }
        vf_store(sums + i, s);
    }
}

/* A block without values to speak of has neither codes nor terms. */
GB_INLINE void
code_by_values(struct group *g, const float *x, struct gb_block_iq4_nl *block)
{
    float xq[BLOCKS][GB_QK] = { { 0.0f } };
    float qq[BLOCKS][GB_QK] = { { 0.0f } };
    float sum_xq[BLOCKS];
    float sum_qq[BLOCKS];

    for (int i = 0; i < g->n; i++) {
        uint8_t codes[GB_QK] = { 0 };

        if (fabsf(g->max[i]) >= GB_SEARCH_TINY) {
            nearest_values(x + i * GB_QK, g->inverse[i], codes);
            fit_terms(x + i * GB_QK, codes, xq[i], qq[i]);
        }
        pack_nibbles(codes, block[i].qs);
    }
    sums_in_order(xq, sum_xq);
    sums_in_order(qq, sum_qq);
    for (int i = 0; i < g->n; i++)
        block[i].d = q_to_half(
            gb_fit_scale((struct gb_fit){ sum_xq[i], sum_qq[i] }));
}

void
GB_K(quantize_row_iq4_nl)(const float *x, void *y, int64_t n)
{
    struct gb_block_iq4_nl *block = y;

    for (int64_t left = n / GB_QK; left > 0; left -= BLOCKS) {
        struct group g = { .n = blocks_of(left) };

        find_largest(&g, x);
        set_scales_by_max(&g, (float)gb_iq4_values[0]);
        code_by_values(&g, x, block);
        x += g.n * GB_QK;
        block += g.n;
    }
}
