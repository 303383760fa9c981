/* SPDX-License-Identifier: MIT */
/*
 * type/blocks.h - the blocks of the quantised formats, as they lie in files.
 *
 * Blocks have no padding.  Whatever in them has more than a byte is little-endian
 * on every machine (base/byte-order.h), so that blocks are the same bytes in
 * memory as in files.  Members named d, dmin, m and s are the bits of half
 * floats unless said otherwise.  How values come out of a block is said with
 * each struct; e is the index of a value in its block, nib(b, 0) the low and
 * nib(b, 1) the high four bits of a byte.
 */
#ifndef GB_TYPE_BLOCKS_H
#define GB_TYPE_BLOCKS_H

#include <stdint.h>

#define GB_QK   32  /* values in a block of the simple formats */
#define GB_QK_K 256 /* values in a block of the K, IQ and TQ formats */

/* Thirty-two values, one scale. */

/* d * (nib(qs[e % 16], e / 16) - 8) */
struct gb_block_q4_0 {
    uint16_t d;
    uint8_t qs[GB_QK / 2];
};
_Static_assert(sizeof(struct gb_block_q4_0) == 18, "q4_0");

/* d * nib(qs[e % 16], e / 16) + m */
struct gb_block_q4_1 {
    uint16_t d;
    uint16_t m;
    uint8_t qs[GB_QK / 2];
};
_Static_assert(sizeof(struct gb_block_q4_1) == 20, "q4_1");

/* As q4_0 with a fifth bit, bit e of the word qh, and 16 in place of 8. */
struct gb_block_q5_0 {
    uint16_t d;
    uint8_t qh[4];
    uint8_t qs[GB_QK / 2];
};
_Static_assert(sizeof(struct gb_block_q5_0) == 22, "q5_0");

/* As q4_1 with a fifth bit, bit e of the word qh. */
struct gb_block_q5_1 {
    uint16_t d;
    uint16_t m;
    uint8_t qh[4];
    uint8_t qs[GB_QK / 2];
};
_Static_assert(sizeof(struct gb_block_q5_1) == 24, "q5_1");

/* d * qs[e] */
struct gb_block_q8_0 {
    uint16_t d;
    int8_t qs[GB_QK];
};
_Static_assert(sizeof(struct gb_block_q8_0) == 34, "q8_0");

/* d * qs[e]; s is d times the sum of qs */
struct gb_block_q8_1 {
    uint16_t d;
    uint16_t s;
    int8_t qs[GB_QK];
};
_Static_assert(sizeof(struct gb_block_q8_1) == 36, "q8_1");

/* d * value[nib(qs[e % 16], e / 16)], the values being gb_iq4_values. */
struct gb_block_iq4_nl {
    uint16_t d;
    uint8_t qs[GB_QK / 2];
};
_Static_assert(sizeof(struct gb_block_iq4_nl) == 18, "iq4_nl");

/* Two hundred and fifty-six values: sub-blocks with scales of their own. */

/*
 * Sixteen sub-blocks of 16, b = e / 16:
 * d * nib(scales[b], 0) * v - dmin * nib(scales[b], 1), v being the two bits
 * from 2 * (e % 128 / 32) of qs[32 * (e / 128) + e % 32].
 */
struct gb_block_q2_k {
    uint8_t scales[GB_QK_K / 16];
    uint8_t qs[GB_QK_K / 4];
    uint16_t d;
    uint16_t dmin;
};
_Static_assert(sizeof(struct gb_block_q2_k) == 84, "q2_K");

/*
 * Sixteen sub-blocks of 16: d * (scale - 32) * (v - (set ? 0 : 4)), v as in
 * q2_K, set being bit e / 32 of hmask[e % 32]; six-bit scales: k-scales.h.
 */
struct gb_block_q3_k {
    uint8_t hmask[GB_QK_K / 8];
    uint8_t qs[GB_QK_K / 4];
    uint8_t scales[12];
    uint16_t d;
};
_Static_assert(sizeof(struct gb_block_q3_k) == 110, "q3_K");

/*
 * Eight sub-blocks of 32: d * scale * v - dmin * min with v =
 * nib(qs[32 * (e / 64) + e % 32], e % 64 / 32); six-bit scales and mins:
 * k-scales.h.
 */
struct gb_block_q4_k {
    uint16_t d;
    uint16_t dmin;
    uint8_t scales[12];
    uint8_t qs[GB_QK_K / 2];
};
_Static_assert(sizeof(struct gb_block_q4_k) == 144, "q4_K");

/* As q4_K with a fifth bit of v, bit e / 32 of qh[e % 32]. */
struct gb_block_q5_k {
    uint16_t d;
    uint16_t dmin;
    uint8_t scales[12];
    uint8_t qh[GB_QK_K / 8];
    uint8_t qs[GB_QK_K / 2];
};
_Static_assert(sizeof(struct gb_block_q5_k) == 176, "q5_K");

/*
 * Sixteen sub-blocks of 16: d * scales[e / 16] * (v - 32).  With h = e / 128,
 * k = e % 128 / 32 and l = e % 32 the low bits of v are
 * nib(ql[64 * h + l + 32 * (k % 2)], k / 2), and above them are the two bits
 * from 2 * k of qh[32 * h + l].
 */
struct gb_block_q6_k {
    uint8_t ql[GB_QK_K / 2];
    uint8_t qh[GB_QK_K / 4];
    int8_t scales[GB_QK_K / 16];
    uint16_t d;
};
_Static_assert(sizeof(struct gb_block_q6_k) == 210, "q6_K");

/* d * qs[e], d a float; bsums[i] is the sum of the sixteen qs from 16 * i. */
struct gb_block_q8_k {
    float d;
    int8_t qs[GB_QK_K];
    int16_t bsums[GB_QK_K / 16];
};
_Static_assert(sizeof(struct gb_block_q8_k) == 292, "q8_K");

/*
 * d * (t - 1), five ternary digits t a byte: byte b stands for the fraction
 * b / 256, whose digits to the base of 3 they are.  Digit k of qs[j] is value
 * 32 * k + j for j < 32, 160 + 16 * k + j - 32 above; digit k < 4 of qh[j] is
 * value 240 + 4 * k + j.
 */
struct gb_block_tq1_0 {
    uint8_t qs[48];
    uint8_t qh[4];
    uint16_t d;
};
_Static_assert(sizeof(struct gb_block_tq1_0) == 54, "tq1_0");

/* d * (v - 1), v as in q2_K. */
struct gb_block_tq2_0 {
    uint8_t qs[GB_QK_K / 4];
    uint16_t d;
};
_Static_assert(sizeof(struct gb_block_tq2_0) == 66, "tq2_0");

/* Formats whose codes name rows of a grid (grid.h). */

/*
 * Eight groups of 32 values, 8 bytes each: four row numbers of the grid
 * iq2_xxs, then a word with four times seven sign bits and, on top, four bits
 * of scale s.  d * (0.5 + s) / 4 * row[e % 8] * sign.
 */
struct gb_block_iq2_xxs {
    uint16_t d;
    uint16_t qs[GB_QK_K / 8];
};
_Static_assert(sizeof(struct gb_block_iq2_xxs) == 66, "iq2_xxs");

/*
 * qs[e / 8]: nine bits of row number (grid iq2_xs), seven sign bits;
 * s = nib(scales[e / 32], e % 32 / 16).  Value as in iq2_xxs.
 */
struct gb_block_iq2_xs {
    uint16_t d;
    uint16_t qs[GB_QK_K / 8];
    uint8_t scales[GB_QK_K / 32];
};
_Static_assert(sizeof(struct gb_block_iq2_xs) == 74, "iq2_xs");

/*
 * Row number of group i = e / 8 (grid iq2_s): qs[i] and above it the two bits
 * from 2 * (i % 4) of qh[i / 4]; signs: qs[32 + i]; the rest as in iq2_xs.
 */
struct gb_block_iq2_s {
    uint16_t d;
    uint8_t qs[GB_QK_K / 4];
    uint8_t qh[GB_QK_K / 32];
    uint8_t scales[GB_QK_K / 32];
};
_Static_assert(sizeof(struct gb_block_iq2_s) == 82, "iq2_s");

/*
 * Row number of group e / 4: qs[e / 4] (grid iq3_xxs).  Behind the 64 row
 * numbers eight words, one for 32 values, with signs and scale s as in iq2_xxs.
 * d * (0.5 + s) / 2 * row[e % 4] * sign.
 */
struct gb_block_iq3_xxs {
    uint16_t d;
    uint8_t qs[3 * GB_QK_K / 8];
};
_Static_assert(sizeof(struct gb_block_iq3_xxs) == 98, "iq3_xxs");

/*
 * Row number of group i = e / 4 (grid iq3_s): qs[i] and above it bit i % 8 of
 * qh[i / 8]; signs: signs[e / 8]; s = nib(scales[e / 64], e / 32 % 2).
 * d * (1 + 2 * s) * row[e % 4] * sign.
 */
struct gb_block_iq3_s {
    uint16_t d;
    uint8_t qs[GB_QK_K / 4];
    uint8_t qh[GB_QK_K / 32];
    uint8_t signs[GB_QK_K / 8];
    uint8_t scales[GB_QK_K / 64];
};
_Static_assert(sizeof(struct gb_block_iq3_s) == 110, "iq3_s");

/*
 * With V = qh[e / 32], l = e % 32 / 8: row number qs[e / 8] and above it the
 * three bits from 3 * l of V (grid iq1); s is bits 12 to 14 of V, bit 15 says
 * whether the shift is -1/8 instead of 1/8.
 * d * (2 * s + 1) * (row[e % 8] + shift).
 */
struct gb_block_iq1_s {
    uint16_t d;
    uint8_t qs[GB_QK_K / 8];
    uint16_t qh[GB_QK_K / 32];
};
_Static_assert(sizeof(struct gb_block_iq1_s) == 50, "iq1_s");

/*
 * With N = nib(qh[e / 16], e / 8 % 2): row number qs[e / 8] and above it the
 * low three bits of N (grid iq1), whose fourth is the shift's sign.  scales are
 * four words of 16 bits: three bits of s for each 16 values, from the lowest,
 * and in their top four bits a part of the half d, the first word's being the
 * lowest.  Value as in iq1_s.
 */
struct gb_block_iq1_m {
    uint8_t qs[GB_QK_K / 8];
    uint8_t qh[GB_QK_K / 16];
    uint8_t scales[GB_QK_K / 32];
};
_Static_assert(sizeof(struct gb_block_iq1_m) == 56, "iq1_m");

/*
 * Eight sub-blocks of 32, g = e / 32: s = nib(scales_l[g / 2], g % 2) and above
 * it the two bits from 2 * g of scales_h.
 * d * (s - 32) * value[nib(qs[16 * g + e % 16], e % 32 / 16)].
 */
struct gb_block_iq4_xs {
    uint16_t d;
    uint16_t scales_h;
    uint8_t scales_l[GB_QK_K / 64];
    uint8_t qs[GB_QK_K / 2];
};
_Static_assert(sizeof(struct gb_block_iq4_xs) == 136, "iq4_xs");

#endif
