/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/unpack32.cuh - thirty-two values out of blocks in shared memory,
 * for products with q8 activations.
 *
 * What unpack.cuh reads four values at a time, with less work: words are loaded
 * once, at any multiple of 2, and codes stay without sign where a format has
 * them so.  gb_offset_of<T> has then to be subtracted from each, which costs one
 * instruction a sum instead of three a word: q8 has the sums of its codes.
 */
#ifndef GB_CUDA_KERNELS_UNPACK32_CUH
#define GB_CUDA_KERNELS_UNPACK32_CUH

#include "backends/cuda/kernels/mma.cuh"
#include "backends/cuda/kernels/unpack.cuh"

template <typename T>
static constexpr int gb_offset_of = 0;
template <>
constexpr int gb_offset_of<gb_q4_0> = 8;
template <>
constexpr int gb_offset_of<gb_q5_0> = 16;
template <>
constexpr int gb_offset_of<gb_q3_k> = 4;
template <>
constexpr int gb_offset_of<gb_q6_k> = 32;
template <>
constexpr int gb_offset_of<gb_tq2_0> = 1;

/*
 * Do codes of T stay where they are in their bytes, without sign?  Then nothing
 * is shifted, and those of odd sub-blocks are sixteen times as large: whoever
 * multiplies them divides the scale of q8 by that.
 */
template <typename T> static constexpr bool gb_stays_in_place = false;
template <> constexpr bool gb_stays_in_place<gb_q4_k> = !gb_copies_by_registers;

/* N words at P, REST (0 or 2) behind a multiple of 4, >> SHIFT (0 to 7); the bits that
 * come in above are any.  From whole words, without those behind. */
template <int n>
GB_DEVICE void
gb_load_words(const uint16_t *p, int rest, int shift, uint32_t *out)
{
    const uint32_t *const words = (const uint32_t *)((const char *)p - rest);
    uint32_t low = words[0];

    GB_UNROLL
    for (int i = 0; i < n; i++) {
        const uint32_t high =
            i < n - 1 || rest != 0 ? words[i + 1] : 0;

        out[i] = gb_funnel_right(low, high, 8 * rest + shift);
        low = high;
    }
}

/* The same at a multiple of 4. */
template <int n>
GB_DEVICE void
gb_load_words(const uint32_t *p, int, int shift, uint32_t *out)
{
    GB_UNROLL
    for (int i = 0; i < n; i++)
        out[i] = p[i] >> shift;
}

/* The same at a multiple of 16. */
template <int n>
GB_DEVICE void
gb_load_words(const gb_piece *p, int, int shift, uint32_t *out)
{
    GB_UNROLL
    for (int i = 0; i < n; i += 4) {
        const gb_piece piece = p[i / 4];

        GB_UNROLL
        for (int j = 0; j < 4; j++)
            out[i + j] = piece.words[j] >> shift;
    }
}

/* ---- codes of sub-block UNIT of a block that is REST behind a multiple of 4 ---- */

template <typename T>
GB_DEVICE void
gb_codes32(const T *b, int unit, int, int codes[8])
{
    GB_UNROLL
    for (int i = 0; i < 8; i++)
        codes[i] = gb_codes(b, 32 * unit + 4 * i);
}

/* Sixteen bytes: first the low nibbles, then the high ones. */
GB_DEVICE void
gb_nibbles32(const uint32_t words[4], int codes[8])
{
    GB_UNROLL
    for (int i = 0; i < 4; i++) {
        codes[i] = (int)gb_nibbles(words[i], 0);
        codes[i + 4] = (int)gb_nibbles(words[i], 1);
    }
}

GB_DEVICE void
gb_codes32(const gb_q4_0 *b, int, int rest, int codes[8])
{
    uint32_t words[4];

    gb_load_words<4>(b->qs, rest ^ 2, 0, words);
    gb_nibbles32(words, codes);
}

GB_DEVICE void
gb_codes32(const gb_iq4_nl *b, int, int rest, int codes[8])
{
    uint32_t words[4];

    gb_load_words<4>(b->qs, rest ^ 2, 0, words);
    gb_nibbles32(words, codes);
    GB_UNROLL
    for (int i = 0; i < 8; i++)
        codes[i] = gb_iq4_codes((uint32_t)codes[i]);
}

/* Bit 4 i of FIFTH, and the three behind it, are those of word I. */
GB_DEVICE void
gb_add_fifth_bits(uint32_t fifth, int codes[8])
{
    GB_UNROLL
    for (int i = 0; i < 8; i++)
        codes[i] |= (int)((fifth >> 4 * i & 15) * 0x02040810u & 0x10101010u);
}

GB_DEVICE void
gb_codes32(const gb_q5_0 *b, int, int rest, int codes[8])
{
    uint32_t words[5]; /* the fifth bits, and the others */

    gb_load_words<5>(b->qh, rest ^ 2, 0, words);
    gb_nibbles32(words + 1, codes);
    gb_add_fifth_bits(words[0], codes);
}

GB_DEVICE void
gb_codes32(const gb_q5_1 *b, int, int, int codes[8])
{
    gb_nibbles32(b->qs, codes);
    gb_add_fifth_bits(b->qh, codes);
}

GB_DEVICE void
gb_codes32(const gb_q8_0 *b, int, int rest, int codes[8])
{
    gb_load_words<8>(b->qs, rest ^ 2, 0, (uint32_t *)codes);
}

/* Of the bytes of eight words at P the bits of MASK from SHIFT on. */
template <typename W>
GB_DEVICE void
gb_cut32(const W *p, int rest, int shift, uint32_t mask, int codes[8])
{
    uint32_t words[8];

    gb_load_words<8>(p, rest, shift, words);
    GB_UNROLL
    for (int i = 0; i < 8; i++)
        codes[i] = (int)(words[i] & mask);
}

/* These become bits from TO on of codes that have none there. */
template <typename W>
GB_DEVICE void
gb_add_cut32(const W *p, int rest, int shift, uint32_t mask, int to,
             int codes[8])
{
    uint32_t words[8];

    gb_load_words<8>(p, rest, shift, words);
    GB_UNROLL
    for (int i = 0; i < 8; i++)
        codes[i] |= (int)(words[i] << to & mask << to);
}

GB_DEVICE void
gb_codes32(const gb_q2_k *b, int unit, int rest, int codes[8])
{
    gb_cut32(b->qs + unit / 4 * 8, rest, unit % 4 * 2, 0x03030303u, codes);
}

GB_DEVICE void
gb_codes32(const gb_q3_k *b, int unit, int rest, int codes[8])
{
    gb_cut32(b->qs + unit / 4 * 16, rest, unit % 4 * 2, 0x03030303u, codes);
    gb_add_cut32(b->hmask, rest, unit, 0x01010101u, 2, codes);
}

GB_DEVICE void
gb_codes32(const gb_q4_k *b, int unit, int rest, int codes[8])
{
    const bool stays = gb_stays_in_place<gb_q4_k>;
    const int shift = unit % 2 * 4;

    gb_cut32((const gb_piece *)b->qs + unit / 2 * 2, rest, stays ? 0 : shift,
             stays ? 0x0f0f0f0fu << shift : 0x0f0f0f0fu, codes);
}

GB_DEVICE void
gb_codes32(const gb_q5_k *b, int unit, int rest, int codes[8])
{
    gb_cut32((const gb_piece *)b->qs + unit / 2 * 2, rest, unit % 2 * 4,
             0x0f0f0f0fu, codes);
    gb_add_cut32((const gb_piece *)b->qh, rest, unit, 0x01010101u, 4, codes);
}

GB_DEVICE void
gb_codes32(const gb_q6_k *b, int unit, int rest, int codes[8])
{
    gb_cut32(b->ql + unit / 4 * 32 + unit % 2 * 16, rest, unit % 4 / 2 * 4,
             0x0f0f0f0fu, codes);
    gb_add_cut32(b->qh + unit / 4 * 16, rest, unit % 4 * 2, 0x03030303u, 4,
                 codes);
}

GB_DEVICE void
gb_codes32(const gb_tq2_0 *b, int unit, int rest, int codes[8])
{
    gb_cut32(b->qs + unit / 4 * 16, rest, unit % 4 * 2, 0x03030303u, codes);
}

GB_DEVICE void
gb_codes32(const gb_iq4_xs *b, int unit, int, int codes[8])
{
    gb_nibbles32(b->qs + 4 * unit, codes);
    GB_UNROLL
    for (int i = 0; i < 8; i++)
        codes[i] = gb_iq4_codes((uint32_t)codes[i]);
}

/* ---- scales and mins of its halves ---- */

template <typename T>
GB_DEVICE void
gb_scales32(const T *b, int unit, float scale[2], float min[2])
{
    GB_UNROLL
    for (int i = 0; i < 2; i++) {
        scale[i] = gb_scale(b, 32 * unit + 16 * i);
        min[i] = gb_min(b, 32 * unit + 16 * i);
    }
}

/*
 * gb_scale_and_min() by picking bytes, for several blocks: what tells sub-blocks apart
 * is the same for all.  Of the last four, four bits are in the third word, the others
 * in the same byte of the first or of the second.
 */
GB_DEVICE void
gb_scale_and_min_by_bytes(const gb_piece &head, int unit, float *scale,
                          float *min)
{
    const bool is_early = unit < 4;
    const uint32_t byte = (uint32_t)unit % 4;
    const uint32_t bytes = (is_early ? byte : byte + 4) | byte << 4;
    const uint32_t mask = is_early ? 63 : 15, more = is_early ? 0 : 48;
    const uint32_t first = gb_pick_bytes(head.words[1], head.words[3], bytes);
    const uint32_t second = gb_pick_bytes(head.words[2], head.words[3], bytes);
    const uint32_t s = (first & mask) | (first >> 10 & more);
    const uint32_t m =
        (second >> (is_early ? 0 : 4) & mask) | (second >> 10 & more);

    *scale =
        gb_float(gb_f16{ (uint16_t)head.words[0] }) * (float)(int)s;
    *min = gb_float(gb_f16{ (uint16_t)(head.words[0] >> 16) }) *
           (float)(int)m;
}

GB_DEVICE void
gb_scales_of_k(const void *block, int unit, float scale[2], float min[2])
{
    const gb_piece &head = *(const gb_piece *)block;

    if constexpr (gb_copies_by_registers) /* AMD's cards, which do not pick so */
        gb_scale_and_min_by_masks(head, unit, scale, min);
    else
        gb_scale_and_min_by_bytes(head, unit, scale, min);
    scale[1] = scale[0];
    min[1] = min[0];
}

GB_DEVICE void
gb_scales32(const gb_q4_k *b, int unit, float scale[2], float min[2])
{
    gb_scales_of_k(b, unit, scale, min);
}

GB_DEVICE void
gb_scales32(const gb_q5_k *b, int unit, float scale[2], float min[2])
{
    gb_scales_of_k(b, unit, scale, min);
}

#endif
