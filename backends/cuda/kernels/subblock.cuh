/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/subblock.cuh - sub-blocks of 32 values out of shared memory.
 *
 * Rows there begin at odd multiples of 16 bytes, so the pieces of 16 bytes that eight
 * lanes load of eight rows lie in different banks.  Words of 2 or 4 bytes would not:
 * those in the same place of sixteen rows lie in eight banks, or four.  So fields of a
 * block are loaded by whole pieces, and their words cut out of these.
 *
 * gb_load_sub_block(block, n, out) has values 32 * n … 32 * n + 31 of a block as two
 * sixteens (halves.cuh), whose codes have a bias of gb_bias_of<T>.
 */
#ifndef GB_CUDA_KERNELS_SUBBLOCK_CUH
#define GB_CUDA_KERNELS_SUBBLOCK_CUH

#include "backends/cuda/kernels/halves.cuh"

/* SIZE bytes, 8 or 16, by one load. */
template <int size>
GB_DEVICE void
gb_load_once(const void *p, uint32_t words[size / 4])
{
    if constexpr (size == 8) {
        const uint64_t both = *(const uint64_t *)p;

        words[0] = (uint32_t)both;
        words[1] = (uint32_t)(both >> 32);
    } else {
        const gb_piece piece = *(const gb_piece *)p;

        GB_UNROLL
        for (int i = 0; i < 4; i++)
            words[i] = piece.words[i];
    }
}

/* If IS_BEHIND, the first words are those from the BY-th on. */
template <int by, int n>
GB_DEVICE void
gb_move_words(bool is_behind, uint32_t words[n])
{
    GB_UNROLL
    for (int i = 0; i < n - by; i++)
        words[i] = is_behind ? words[i + by] : words[i];
}

/*
 * N words at P, a multiple of ALIGN, >> SHIFT (0 to 7; the bits that come in above are
 * any), by loads of SIZE bytes, of which each has one that belongs to the words.
 */
template <int n, int align, int size>
GB_DEVICE void
gb_cut_words(const void *p, int shift, uint32_t out[n])
{
    constexpr int n_loads = (4 * n + 2 * size - align - 1) / size;
    constexpr int n_words = n_loads * (size / 4);
    const int at = align < size ? (int)((uintptr_t)p % size) : 0;
    const int last = align < size ? (at + 4 * n - 1) / size : n_loads - 1;
    const char *const from = (const char *)p - at;
    uint32_t words[n_words + 1] = {};

    GB_UNROLL
    for (int i = 0; i < n_loads; i++)
        gb_load_once<size>(from + size * (i < n_loads - 1 ? i : last),
                           words + size / 4 * i);
    if constexpr (align <= 8 && size > 8)
        gb_move_words<2, n_words>((at & 8) != 0, words);
    if constexpr (align <= 4)
        gb_move_words<1, n_words>((at & 4) != 0, words);
    GB_UNROLL
    for (int i = 0; i < n; i++)
        out[i] = align < 4 ? gb_funnel_right(words[i], words[i + 1],
                                             8 * (at & 2) + shift)
                           : words[i] >> shift;
}

/* The same into a field of a block, of N words. */
template <int n, int align, int size = 16, typename W>
GB_DEVICE void
gb_cut(const W *p, int shift, W *out)
{
    constexpr int each = 4 / (int)sizeof(W);
    uint32_t words[n];

    gb_cut_words<n, align, size>(p, shift, words);
    GB_UNROLL
    for (int i = 0; i < n * each; i++)
        out[i] = (W)(words[i / each] >> 8 * (int)sizeof(W) * (i % each));
}

/* Four bytes at a multiple of 4. */
GB_DEVICE uint32_t
gb_load_word(const void *p)
{
    return *(const uint32_t *)p;
}

/* Two bytes at a multiple of 2, >> SHIFT. */
template <typename W>
GB_DEVICE void
gb_load_two(const W *p, int shift, W out[2])
{
    const uint32_t two = (uint32_t)*(const uint16_t *)p >> shift;

    out[0] = (W)two;
    out[1] = (W)(two >> 8);
}

/* ---- codes and scales ---- */

/* What codes are more than those of the format: 128, as in halves.cuh, but where they
 * come out of a block with another bias. */
template <typename T>
static constexpr int gb_bias_of = 128;
template <>
constexpr int gb_bias_of<gb_q4_0> = 8;
template <>
constexpr int gb_bias_of<gb_q4_1> = 0;
template <>
constexpr int gb_bias_of<gb_q5_0> = 16;
template <>
constexpr int gb_bias_of<gb_q5_1> = 0;
template <>
constexpr int gb_bias_of<gb_q2_k> = 0;
template <>
constexpr int gb_bias_of<gb_q3_k> = 4;
template <>
constexpr int gb_bias_of<gb_q4_k> = 0;
template <>
constexpr int gb_bias_of<gb_q5_k> = 0;
template <>
constexpr int gb_bias_of<gb_q6_k> = 32;
template <>
constexpr int gb_bias_of<gb_tq1_0> = 1;
template <>
constexpr int gb_bias_of<gb_tq2_0> = 1;

/* Both sixteens have them. */
GB_DEVICE void
gb_set_scale(float scale, float min, gb_sixteen out[2])
{
    GB_UNROLL
    for (int i = 0; i < 2; i++) {
        out[i].scale = scale;
        out[i].min = min;
    }
}

/* Those that HEAD has, of which nothing else is there. */
template <typename T>
GB_DEVICE void
gb_set_scales(const T &head, gb_sixteen out[2])
{
    GB_UNROLL
    for (int i = 0; i < 2; i++) {
        out[i].scale = gb_scale(&head, 16 * i);
        out[i].min = gb_min(&head, 16 * i);
    }
}

/* The low nibbles of four words, then the high ones. */
GB_DEVICE void
gb_set_nibbles(const uint32_t words[4], gb_sixteen out[2])
{
    GB_UNROLL
    for (int i = 0; i < 8; i++)
        out[i / 4].codes[i % 4] = gb_nibbles(words[i % 4], i / 4);
}

/* Of all bytes of eight words the bits of MASK. */
GB_DEVICE void
gb_set_bits(const uint32_t words[8], uint32_t mask, gb_sixteen out[2])
{
    GB_UNROLL
    for (int i = 0; i < 8; i++)
        out[i / 4].codes[i % 4] = words[i] & mask;
}

/* These are bits from TO on. */
GB_DEVICE void
gb_add_bits(const uint32_t words[8], uint32_t mask, int to, gb_sixteen out[2])
{
    GB_UNROLL
    for (int i = 0; i < 8; i++)
        out[i / 4].codes[i % 4] |= (words[i] & mask) << to;
}

/* Bit 4 i of FIFTH, and the three behind it, are those of word I. */
GB_DEVICE void
gb_add_fifth(uint32_t fifth, gb_sixteen out[2])
{
    GB_UNROLL
    for (int i = 0; i < 8; i++)
        out[i / 4].codes[i % 4] |=
            (fifth >> 4 * i & 15) * 0x02040810u & 0x10101010u;
}

/* Codes that are nibbles stand for others. */
GB_DEVICE void
gb_look_up_iq4(gb_sixteen out[2])
{
    GB_UNROLL
    for (int i = 0; i < 8; i++)
        out[i / 4].codes[i % 4] =
            (uint32_t)gb_iq4_codes(out[i / 4].codes[i % 4]) ^ 0x80808080u;
}

/* ---- 32 values ---- */

GB_DEVICE void
gb_load_sub_block(const gb_q4_0 *b, int, gb_sixteen out[2])
{
    uint32_t words[4];

    gb_cut_words<4, 2, 16>(b->qs, 0, words);
    gb_set_nibbles(words, out);
    gb_set_scale(gb_float(b->d), 0.0f, out);
}

GB_DEVICE void
gb_load_sub_block(const gb_iq4_nl *b, int, gb_sixteen out[2])
{
    uint32_t words[4];

    gb_cut_words<4, 2, 16>(b->qs, 0, words);
    gb_set_nibbles(words, out);
    gb_look_up_iq4(out);
    gb_set_scale(gb_float(b->d), 0.0f, out);
}

/* HEAD is a scale and a min, which is added. */
GB_DEVICE void
gb_set_scale_and_sum(uint32_t head, gb_sixteen out[2])
{
    gb_set_scale(gb_float(gb_f16{ (uint16_t)head }),
                 -gb_float(gb_f16{ (uint16_t)(head >> 16) }), out);
}

GB_DEVICE void
gb_load_sub_block(const gb_q4_1 *b, int, gb_sixteen out[2])
{
    uint32_t words[4];

    gb_cut_words<4, 4, 16>(b->qs, 0, words);
    gb_set_nibbles(words, out);
    gb_set_scale_and_sum(gb_load_word(b), out);
}

GB_DEVICE void
gb_load_sub_block(const gb_q5_0 *b, int, gb_sixteen out[2])
{
    uint32_t words[4];

    gb_cut_words<4, 2, 16>(b->qs, 0, words);
    gb_set_nibbles(words, out);
    gb_add_fifth(gb_load_halves(b->qh), out);
    gb_set_scale(gb_float(b->d), 0.0f, out);
}

/* Of neighbouring blocks, which are 24 bytes, eight lanes load halves of pieces that
 * lie in different banks. */
GB_DEVICE void
gb_load_sub_block(const gb_q5_1 *b, int, gb_sixteen out[2])
{
    uint32_t words[6];

    gb_cut_words<6, 8, 8>(b, 0, words);
    gb_set_nibbles(words + 2, out);
    gb_add_fifth(words[1], out);
    gb_set_scale_and_sum(words[0], out);
}

GB_DEVICE void
gb_load_sub_block(const gb_q8_0 *b, int, gb_sixteen out[2])
{
    uint32_t words[8];

    gb_cut_words<8, 2, 16>(b->qs, 0, words);
    GB_UNROLL
    for (int i = 0; i < 8; i++)
        out[i / 4].codes[i % 4] = words[i] ^ 0x80808080u;
    gb_set_scale(gb_float(b->d), 0.0f, out);
}

/* ---- 256 values in sub-blocks ---- */

GB_DEVICE void
gb_load_sub_block(const gb_q2_k *b, int n, gb_sixteen out[2])
{
    const uint32_t tail = gb_load_word(&b->d); /* dmin too */
    uint32_t words[8];
    gb_q2_k head = {};

    gb_cut_words<8, 4, 16>(b->qs + n / 4 * 8, n % 4 * 2, words);
    gb_set_bits(words, 0x03030303u, out);
    head.d.bits = (uint16_t)tail;
    head.dmin.bits = (uint16_t)(tail >> 16);
    gb_load_two(b->scales + 2 * n, 0, head.scales);
    gb_set_scales(head, out);
}

GB_DEVICE void
gb_load_sub_block(const gb_q3_k *b, int n, gb_sixteen out[2])
{
    uint32_t low[8], high[8];
    gb_q3_k head = {};

    gb_cut_words<8, 2, 16>(b->qs + n / 4 * 16, n % 4 * 2, low);
    gb_cut_words<8, 2, 16>(b->hmask, n, high);
    gb_set_bits(low, 0x03030303u, out);
    gb_add_bits(high, 0x01010101u, 2, out);
    head.d = b->d;
    gb_load_two(b->scales + 2 * n % 8, n / 4 * 4, head.scales);
    gb_load_two(b->scales + 8 + 2 * n % 4, n / 2 * 2, head.scales + 8);
    gb_set_scales(head, out);
}

/* Scales of q4_K and q5_K are spread over the block's first piece. */
template <typename T>
GB_DEVICE void
gb_set_scales_of_k(const T *b, int n, gb_sixteen out[2])
{
    const gb_piece head = *(const gb_piece *)b;
    float scale, min;

    gb_scale_and_min(head, n, &scale, &min);
    gb_set_scale(scale, min, out);
}

GB_DEVICE void
gb_load_sub_block(const gb_q4_k *b, int n, gb_sixteen out[2])
{
    uint32_t words[8];

    gb_cut_words<8, 16, 16>(b->qs + n / 2 * 8, n % 2 * 4, words);
    gb_set_bits(words, 0x0f0f0f0fu, out);
    gb_set_scales_of_k(b, n, out);
}

GB_DEVICE void
gb_load_sub_block(const gb_q5_k *b, int n, gb_sixteen out[2])
{
    uint32_t low[8], high[8];

    gb_cut_words<8, 16, 16>(b->qs + n / 2 * 8, n % 2 * 4, low);
    gb_cut_words<8, 16, 16>(b->qh, n, high);
    gb_set_bits(low, 0x0f0f0f0fu, out);
    gb_add_bits(high, 0x01010101u, 4, out);
    gb_set_scales_of_k(b, n, out);
}

GB_DEVICE void
gb_load_sub_block(const gb_q6_k *b, int n, gb_sixteen out[2])
{
    uint32_t low[8], high[8];
    gb_q6_k head = {};

    gb_cut_words<8, 2, 16>(b->ql + n / 4 * 32 + n % 2 * 16, n % 4 / 2 * 4, low);
    gb_cut_words<8, 2, 16>(b->qh + n / 4 * 16, n % 4 * 2, high);
    gb_set_bits(low, 0x0f0f0f0fu, out);
    gb_add_bits(high, 0x03030303u, 4, out);
    head.d = b->d;
    gb_load_two(b->scales + 2 * n, 0, head.scales);
    gb_set_scales(head, out);
}

GB_DEVICE void
gb_load_sub_block(const gb_tq2_0 *b, int n, gb_sixteen out[2])
{
    uint32_t words[8];

    gb_cut_words<8, 2, 16>(b->qs + n / 4 * 16, n % 4 * 2, words);
    gb_set_bits(words, 0x03030303u, out);
    gb_set_scale(gb_float(b->d), 0.0f, out);
}

/* Five sub-blocks are the digits of 32 bytes; of two and a half the sixteens are those
 * of 16 more, and the last words those of 4. */
GB_DEVICE void
gb_load_sub_block(const gb_tq1_0 *b, int n, gb_sixteen out[2])
{
    const bool is_late = n >= 5, has_tail = n == 7;
    const uint16_t *const from = b->qs + (is_late ? 16 : 0);
    const uint32_t tail = has_tail ? gb_load_halves(b->qh) : 0;
    uint32_t words[8];

    gb_cut_words<4, 2, 16>(from, 0, words);
    gb_cut_words<4, 2, 16>(from + (is_late ? 0 : 8), 0, words + 4);
    GB_UNROLL
    for (int i = 0; i < 8; i++) {
        const bool is_tail = has_tail && i >= 4;
        const int k = is_tail ? i - 4 : is_late ? 2 * (n - 5) + i / 4 : n;
        const uint32_t power = (uint32_t)(0x511b090301ull >> 8 * k & 255);
        const uint32_t word = is_tail ? tail : words[i];

        out[i / 4].codes[i % 4] =
            gb_digits(word & 0x00ff00ffu, power) |
            gb_digits(word >> 8 & 0x00ff00ffu, power) << 8;
    }
    gb_set_scale(gb_float(b->d), 0.0f, out);
}

GB_DEVICE void
gb_load_sub_block(const gb_iq4_xs *b, int n, gb_sixteen out[2])
{
    uint32_t words[4], first[2];
    gb_iq4_xs head = {};

    gb_cut_words<4, 8, 16>(b->qs + 4 * n, 0, words);
    gb_set_nibbles(words, out);
    gb_look_up_iq4(out);
    gb_cut_words<2, 8, 8>(b, 0, first);
    head.d.bits = (uint16_t)first[0];
    head.scales_h = (uint16_t)(first[0] >> (16 + 2 * n));
    head.scales_l[0] = (uint8_t)(first[1] >> 4 * n);
    gb_set_scales(head, out);
}

/* ---- 256 values by codebook ---- */

/*
 * Of these the fields of sub-block N become a block, in registers: its first 32 values,
 * of which nothing else is there, are made codes as unpack.cuh has them.
 */

/* Neighbouring sub-blocks are 8 bytes here: two lanes have both halves of a piece. */
GB_DEVICE gb_iq2_xxs
gb_sub_block(const gb_iq2_xxs *b, int n)
{
    uint32_t words[2];
    gb_iq2_xxs unit = {};

    unit.d = b->d;
    gb_cut_words<2, 2, 8>(&b->sub_blocks[n], 0, words);
    GB_UNROLL
    for (int i = 0; i < 4; i++)
        unit.sub_blocks[0].rows[i] = (uint8_t)(words[0] >> 8 * i);
    unit.sub_blocks[0].word[0] = (uint16_t)words[1];
    unit.sub_blocks[0].word[1] = (uint16_t)(words[1] >> 16);
    return unit;
}

GB_DEVICE gb_iq2_xs
gb_sub_block(const gb_iq2_xs *b, int n)
{
    gb_iq2_xs unit = {};

    unit.d = b->d;
    unit.scales[0] = b->scales[n];
    gb_cut<2, 2, 8>(b->qs + 4 * n, 0, unit.qs);
    return unit;
}

GB_DEVICE gb_iq2_s
gb_sub_block(const gb_iq2_s *b, int n)
{
    gb_iq2_s unit = {};

    unit.d = b->d;
    unit.qh[0] = b->qh[n];
    unit.scales[0] = b->scales[n];
    gb_cut<1, 2>(b->qs + 4 * n, 0, unit.qs);
    gb_cut<1, 2>(b->signs + 4 * n, 0, unit.signs);
    return unit;
}

GB_DEVICE gb_iq3_xxs
gb_sub_block(const gb_iq3_xxs *b, int n)
{
    gb_iq3_xxs unit = {};

    unit.d = b->d;
    gb_cut<2, 2, 8>(b->qs + 8 * n, 0, unit.qs);
    gb_cut<1, 2>(b->words + 2 * n, 0, unit.words);
    return unit;
}

GB_DEVICE gb_iq3_s
gb_sub_block(const gb_iq3_s *b, int n)
{
    gb_iq3_s unit = {};

    unit.d = b->d;
    unit.qh[0] = b->qh[n];
    unit.scales[0] = (uint8_t)(b->scales[n / 2] >> n % 2 * 4);
    gb_cut<2, 2, 8>(b->qs + 8 * n, 0, unit.qs);
    gb_cut<1, 2>(b->signs + 4 * n, 0, unit.signs);
    return unit;
}

GB_DEVICE gb_iq1_s
gb_sub_block(const gb_iq1_s *b, int n)
{
    gb_iq1_s unit = {};

    unit.d = b->d;
    unit.qh[0] = b->qh[n];
    gb_cut<1, 2>(b->qs + 4 * n, 0, unit.qs);
    return unit;
}

/* Of the first word of scales those of the sub-block become the lowest bits. */
GB_DEVICE gb_iq1_m
gb_sub_block(const gb_iq1_m *b, int n)
{
    uint32_t scales[2];
    gb_iq1_m unit = {};

    gb_load_two(b->qh + 2 * n, 0, unit.qh);
    gb_cut<1, 4>(b->qs + 4 * n, 0, unit.qs);
    gb_cut_words<2, 8, 8>(b->scales, 0, scales);
    GB_UNROLL
    for (int i = 0; i < 4; i++)
        unit.scales[i] = (uint16_t)(scales[i / 2] >> 16 * (i % 2));
    unit.scales[0] = (uint16_t)(
        (unit.scales[0] & 0xf000u) |
        ((n < 4 ? scales[0] : scales[1]) >> (n / 2 % 2 * 16 + n % 2 * 6) & 63u));
    return unit;
}

/* ---- of these formats ---- */

template <typename T>
GB_DEVICE void
gb_load_sub_block(const T *b, int n, gb_sixteen out[2])
{
    const T unit = gb_sub_block(b, n);

    gb_set_scales(unit, out);
    GB_UNROLL
    for (int i = 0; i < 2; i++)
        gb_sixteen_codes(&unit, 16 * i, out[i].codes);
}

#endif
