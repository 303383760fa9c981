/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/unpack.cuh - values out of blocks.
 *
 * Every quantised format is read by three functions:
 *
 *   gb_codes(block, e)  the codes of values e … e + 3, int8 in one word, the
 *                       first lowest; e is a multiple of 4
 *   gb_scale(block, e)  scale of the sub-block in which e is
 *   gb_min(block, e)    its min; 0 where the format has none
 *
 * A value is scale * code - min.  Codes are signed and small enough for dot4,
 * whatever the format: codebook rows have their signs, and the shift by an
 * eighth of iq1 makes levels -9, -7, -1, 1, 7, 9 with an eighth of the scale.
 *
 * gb_value() and gb_values() read floats of any type with these.
 */
#ifndef GB_CUDA_KERNELS_UNPACK_CUH
#define GB_CUDA_KERNELS_UNPACK_CUH

#include "backends/cuda/kernels/blocks.cuh"
#include "backends/cuda/kernels/codebooks.cuh"

/* ---- four bytes at a time ---- */

/* Four bytes at an address that is a multiple of 2. */
GB_DEVICE uint32_t
gb_load_halves(const uint16_t *p)
{
    return p[0] | (uint32_t)p[1] << 16;
}

/* EACH subtracted from four bytes below 128; the results are int8. */
GB_DEVICE int
gb_subtract4(uint32_t bytes, uint32_t each)
{
    return (int)(((bytes | 0x80808080u) - each * 0x01010101u) ^ 0x80808080u);
}

/* Bits 0 … 3 as the lowest bits of four bytes. */
GB_DEVICE uint32_t
gb_spread4(uint32_t bits)
{
    return (bits & 15) * 0x00204081u & 0x01010101u;
}

/* Four bytes from 1 to 127, negative where a bit of NEGATIVE (0 … 3) is set. */
GB_DEVICE int
gb_signed4(uint32_t magnitudes, uint32_t negative)
{
    const uint32_t ones = gb_spread4(negative);

    return (int)((magnitudes ^ ones * 255) + ones);
}

/* Signs of eight values from the seven that are stored: the number of negative
 * ones is even.  0x6996 has the bits of those below 16 with an odd number. */
GB_DEVICE uint32_t
gb_eight_signs(uint32_t seven)
{
    return seven | (0x6996u >> ((seven ^ seven >> 4) & 15) & 1) << 7;
}

/* ---- 32 values ---- */

/* Value e of the simple formats: byte e % 16, low nibble for e < 16. */
GB_DEVICE uint32_t
gb_nibbles(uint32_t word, int high)
{
    return word >> 4 * high & 0x0f0f0f0fu;
}

GB_DEVICE int
gb_codes(const gb_q4_0 *b, int e)
{
    const uint32_t word = gb_load_halves(b->qs + e % 16 / 2);

    return gb_subtract4(gb_nibbles(word, e / 16), 8);
}

GB_DEVICE int
gb_codes(const gb_q4_1 *b, int e)
{
    return (int)gb_nibbles(b->qs[e % 16 / 4], e / 16);
}

GB_DEVICE int
gb_codes(const gb_q5_0 *b, int e)
{
    const uint32_t word = gb_load_halves(b->qs + e % 16 / 2);
    const uint32_t fifth = gb_spread4(gb_load_halves(b->qh) >> e);

    return gb_subtract4(gb_nibbles(word, e / 16) | fifth << 4, 16);
}

GB_DEVICE int
gb_codes(const gb_q5_1 *b, int e)
{
    const uint32_t fifth = gb_spread4(b->qh >> e);

    return (int)(gb_nibbles(b->qs[e % 16 / 4], e / 16) | fifth << 4);
}

GB_DEVICE int
gb_codes(const gb_q8_0 *b, int e)
{
    return (int)gb_load_halves(b->qs + e / 2);
}

GB_DEVICE int
gb_codes(const gb_q8_1 *b, int e)
{
    return (int)b->qs[e / 4];
}

/* For nibbles 0 … 15 the values -127, -104, -83, -65, -49, -35, -22, -10, 1,
 * 13, 25, 38, 53, 69, 89, 113 of iq4_nl and iq4_xs. */
GB_DEVICE int
gb_iq4_codes(uint32_t nibbles)
{
    const uint32_t pairs = (nibbles | nibbles >> 4) & 0x00ff00ffu;
    const uint32_t selector = (pairs | pairs >> 8) & 0x7777u;
    const uint32_t low = gb_pick_bytes(0xbfad9881u, 0xf6eaddcfu, selector);
    const uint32_t high = gb_pick_bytes(0x26190d01u, 0x71594535u, selector);
    const uint32_t is_high = (nibbles >> 3 & 0x01010101u) * 255;

    return (int)((low & ~is_high) | (high & is_high));
}

GB_DEVICE int
gb_codes(const gb_iq4_nl *b, int e)
{
    const uint32_t word = gb_load_halves(b->qs + e % 16 / 2);

    return gb_iq4_codes(gb_nibbles(word, e / 16));
}

/* ---- 256 values in sub-blocks ---- */

/* Where the two bits of value e are: byte 32 * (e / 128) + e % 32, from bit
 * 2 * (e % 128 / 32). */
GB_DEVICE uint32_t
gb_pairs(uint32_t word, int e)
{
    return word >> 2 * (e % 128 / 32) & 0x03030303u;
}

GB_DEVICE int
gb_pairs_at(int e)
{
    return 32 * (e / 128) + e % 32;
}

GB_DEVICE int
gb_codes(const gb_q2_k *b, int e)
{
    return (int)gb_pairs(b->qs[gb_pairs_at(e) / 4], e);
}

GB_DEVICE int
gb_codes(const gb_q3_k *b, int e)
{
    const uint32_t low =
        gb_pairs(gb_load_halves(b->qs + gb_pairs_at(e) / 2), e);
    const uint32_t high =
        gb_load_halves(b->hmask + e % 32 / 2) >> e / 32 & 0x01010101u;

    return gb_subtract4(low | high << 2, 4);
}

GB_DEVICE int
gb_codes(const gb_q4_k *b, int e)
{
    return (int)gb_nibbles(b->qs[8 * (e / 64) + e % 32 / 4], e % 64 / 32);
}

GB_DEVICE int
gb_codes(const gb_q5_k *b, int e)
{
    const uint32_t low =
        gb_nibbles(b->qs[8 * (e / 64) + e % 32 / 4], e % 64 / 32);
    const uint32_t high = b->qh[e % 32 / 4] >> e / 32 & 0x01010101u;

    return (int)(low | high << 4);
}

GB_DEVICE int
gb_codes(const gb_q6_k *b, int e)
{
    const int at = 64 * (e / 128) + e % 64;
    const uint32_t low =
        gb_nibbles(gb_load_halves(b->ql + at / 2), e % 128 / 64);
    const uint32_t high =
        gb_pairs(gb_load_halves(b->qh + gb_pairs_at(e) / 2), e);

    return gb_subtract4(low | high << 4, 32);
}

GB_DEVICE int
gb_codes(const gb_q8_k *b, int e)
{
    return (int)b->qs[e / 4];
}

/*
 * A byte stands for the fraction byte / 256, whose digits to the base of 3 are
 * the codes.  Digit k comes into the upper byte of (byte * 3^k mod 256) * 3;
 * two bytes at a time in the halves of a word.
 */
GB_DEVICE uint32_t
gb_digits(uint32_t halves, uint32_t power)
{
    return (halves * power & 0x00ff00ffu) * 3 >> 8 & 0x00ff00ffu;
}

GB_DEVICE int
gb_codes(const gb_tq1_0 *b, int e)
{
    const int k = e < 160 ? e / 32 : e < 240 ? (e - 160) / 16 : (e - 240) / 4;
    const uint32_t power = (uint32_t)(0x511b090301ull >> 8 * k & 255);
    const uint32_t word = e < 160   ? gb_load_halves(b->qs + e % 32 / 2)
                          : e < 240 ? gb_load_halves(b->qs + 16 + e % 16 / 2)
                                    : gb_load_halves(b->qh);
    const uint32_t even = gb_digits(word & 0x00ff00ffu, power);
    const uint32_t odd = gb_digits(word >> 8 & 0x00ff00ffu, power);

    return gb_subtract4(even | odd << 8, 1);
}

GB_DEVICE int
gb_codes(const gb_tq2_0 *b, int e)
{
    return gb_subtract4(
        gb_pairs(gb_load_halves(b->qs + gb_pairs_at(e) / 2), e), 1);
}

GB_DEVICE int
gb_codes(const gb_iq4_xs *b, int e)
{
    return gb_iq4_codes(
        gb_nibbles(b->qs[4 * (e / 32) + e % 16 / 4], e % 32 / 16));
}

/* ---- 256 values by codebook ---- */

GB_DEVICE uint32_t
gb_word(const gb_iq2_xxs *b, int e)
{
    return gb_load_halves(b->sub_blocks[e / 32].word);
}

GB_DEVICE int
gb_codes(const gb_iq2_xxs *b, int e)
{
    const int group = e % 32 / 8;
    const uint32_t signs = gb_eight_signs(gb_word(b, e) >> 7 * group & 127);
    const int row = b->sub_blocks[e / 32].rows[group];

    return gb_signed4(gb_codebook_iq2_xxs[row][e / 4 % 2], signs >> e % 8);
}

GB_DEVICE int
gb_codes(const gb_iq2_xs *b, int e)
{
    const uint32_t word = b->qs[e / 8];
    const uint32_t signs = gb_eight_signs(word >> 9);

    return gb_signed4(gb_codebook_iq2_xs[word & 511][e / 4 % 2],
                      signs >> e % 8);
}

GB_DEVICE int
gb_codes(const gb_iq2_s *b, int e)
{
    const int i = e / 8;
    const int row = b->qs[i] | (b->qh[i / 4] >> 2 * (i % 4) & 3) << 8;

    return gb_signed4(gb_codebook_iq2_s[row][e / 4 % 2], b->signs[i] >> e % 8);
}

GB_DEVICE uint32_t
gb_word(const gb_iq3_xxs *b, int e)
{
    return gb_load_halves(b->words + 2 * (e / 32));
}

GB_DEVICE int
gb_codes(const gb_iq3_xxs *b, int e)
{
    const uint32_t seven = gb_word(b, e) >> 7 * (e % 32 / 8) & 127;

    return gb_signed4(gb_codebook_iq3_xxs[b->qs[e / 4]],
                      gb_eight_signs(seven) >> e % 8);
}

GB_DEVICE int
gb_codes(const gb_iq3_s *b, int e)
{
    const int i = e / 4;
    const int row = b->qs[i] | (b->qh[i / 8] >> i % 8 & 1) << 8;

    return gb_signed4(gb_codebook_iq3_s[row], b->signs[e / 8] >> e % 8);
}

/* Levels -1, 0, 1 are 0, 8, 16 in the codebook, and the shift is 1. */
GB_DEVICE int
gb_iq1_codes(int row, int half, bool is_down)
{
    const uint32_t levels = gb_codebook_iq1[row][half];

    return gb_subtract4(levels, is_down ? 9 : 7);
}

GB_DEVICE int
gb_codes(const gb_iq1_s *b, int e)
{
    const int head = b->qh[e / 32];
    const int row = b->qs[e / 8] | (head >> 3 * (e % 32 / 8) & 7) << 8;

    return gb_iq1_codes(row, e / 4 % 2, head >> 15 != 0);
}

GB_DEVICE int
gb_codes(const gb_iq1_m *b, int e)
{
    const int head = b->qh[e / 16] >> 4 * (e / 8 % 2) & 15;
    const int row = b->qs[e / 8] | (head & 7) << 8;

    return gb_iq1_codes(row, e / 4 % 2, head >> 3 != 0);
}

/* ---- scales and mins ---- */

/* Formats with one scale a block, and without mins. */
template <typename T>
GB_DEVICE float
gb_scale(const T *b, int)
{
    return gb_float(b->d);
}

template <typename T>
GB_DEVICE float
gb_min(const T *, int)
{
    return 0.0f;
}

GB_DEVICE float
gb_min(const gb_q4_1 *b, int)
{
    return -gb_float(b->m);
}

GB_DEVICE float
gb_min(const gb_q5_1 *b, int)
{
    return -gb_float(b->m);
}

GB_DEVICE float
gb_scale(const gb_q2_k *b, int e)
{
    return gb_float(b->d) * (float)(b->scales[e / 16] & 15);
}

GB_DEVICE float
gb_min(const gb_q2_k *b, int e)
{
    return gb_float(b->dmin) * (float)(b->scales[e / 16] >> 4);
}

GB_DEVICE float
gb_scale(const gb_q3_k *b, int e)
{
    const int i = e / 16;
    const int low = b->scales[i % 8] >> 4 * (i / 8) & 15;
    const int high = b->scales[8 + i % 4] >> 2 * (i / 4) & 3;

    return gb_float(b->d) * (float)((low | high << 4) - 32);
}

/* Scale (MINS = 0) or min (1) number I of q4_K and q5_K: the first four are the
 * low bits of a byte each, the others a nibble and the top of a first one's. */
GB_DEVICE int
gb_six_bits(const uint8_t *scales, int i, int mins)
{
    if (i < 4)
        return scales[i + 4 * mins] & 63;
    return (scales[i + 4] >> 4 * mins & 15) |
           scales[i - 4 + 4 * mins] >> 6 << 4;
}

/* HEAD is the first sixteen bytes of q4_K or q5_K: d and dmin, then the twelve of
 * which gb_six_bits() tells.  Of sub-block UNIT. */
GB_DEVICE void
gb_scale_and_min(const gb_piece &head, int unit, float *scale, float *min)
{
    const int shift = unit % 4 * 8;
    const uint32_t first = head.words[1] >> shift;
    const uint32_t second = head.words[2] >> shift;
    const uint32_t third = head.words[3] >> shift;
    const bool is_early = unit < 4;
    const uint32_t s =
        is_early ? first & 63 : (third & 15) | (first >> 2 & 48);
    const uint32_t m =
        is_early ? second & 63 : (third >> 4 & 15) | (second >> 2 & 48);

    *scale =
        gb_float(gb_f16{ (uint16_t)head.words[0] }) * (float)(int)s;
    *min = gb_float(gb_f16{ (uint16_t)(head.words[0] >> 16) }) *
           (float)(int)m;
}

/* gb_scale_and_min() without a branch, which lanes of AMD's cards would take both
 * sides of. */
GB_DEVICE void
gb_scale_and_min_by_masks(const gb_piece &head, int unit, float *scale,
                          float *min)
{
    const int shift = unit % 4 * 8;
    const uint32_t first = head.words[1] >> shift;
    const uint32_t second = head.words[2] >> shift;
    const uint32_t third = head.words[3] >> shift;
    const uint32_t early = (uint32_t)((unit - 4) >> 31); /* all bits, or none */
    const uint32_t s = (first & 63 & early) |
                       (((third & 15) | (first >> 2 & 48)) & ~early);
    const uint32_t m = (second & 63 & early) |
                       (((third >> 4 & 15) | (second >> 2 & 48)) & ~early);

    *scale =
        gb_float(gb_f16{ (uint16_t)head.words[0] }) * (float)(int)s;
    *min = gb_float(gb_f16{ (uint16_t)(head.words[0] >> 16) }) *
           (float)(int)m;
}

GB_DEVICE float
gb_scale(const gb_q4_k *b, int e)
{
    return gb_float(b->d) * (float)gb_six_bits(b->scales, e / 32, 0);
}

GB_DEVICE float
gb_min(const gb_q4_k *b, int e)
{
    return gb_float(b->dmin) * (float)gb_six_bits(b->scales, e / 32, 1);
}

GB_DEVICE float
gb_scale(const gb_q5_k *b, int e)
{
    return gb_float(b->d) * (float)gb_six_bits(b->scales, e / 32, 0);
}

GB_DEVICE float
gb_min(const gb_q5_k *b, int e)
{
    return gb_float(b->dmin) * (float)gb_six_bits(b->scales, e / 32, 1);
}

GB_DEVICE float
gb_scale(const gb_q6_k *b, int e)
{
    return gb_float(b->d) * (float)b->scales[e / 16];
}

GB_DEVICE float
gb_scale(const gb_iq4_xs *b, int e)
{
    const int i = e / 32;
    const int low = b->scales_l[i / 2] >> 4 * (i % 2) & 15;
    const int high = b->scales_h >> 2 * i & 3;

    return gb_float(b->d) * (float)((low | high << 4) - 32);
}

/* d * (0.5 + s) / 4 */
GB_DEVICE float
gb_iq2_scale(gb_f16 d, int s)
{
    return gb_float(d) * (float)(2 * s + 1) * 0.125f;
}

GB_DEVICE float
gb_scale(const gb_iq2_xxs *b, int e)
{
    return gb_iq2_scale(b->d, (int)(gb_word(b, e) >> 28));
}

GB_DEVICE float
gb_scale(const gb_iq2_xs *b, int e)
{
    return gb_iq2_scale(b->d, b->scales[e / 32] >> 4 * (e / 16 % 2) & 15);
}

GB_DEVICE float
gb_scale(const gb_iq2_s *b, int e)
{
    return gb_iq2_scale(b->d, b->scales[e / 32] >> 4 * (e / 16 % 2) & 15);
}

/* d * (0.5 + s) / 2 */
GB_DEVICE float
gb_scale(const gb_iq3_xxs *b, int e)
{
    return gb_float(b->d) * (float)(2 * (gb_word(b, e) >> 28) + 1) * 0.25f;
}

GB_DEVICE float
gb_scale(const gb_iq3_s *b, int e)
{
    const int s = b->scales[e / 64] >> 4 * (e / 32 % 2) & 15;

    return gb_float(b->d) * (float)(2 * s + 1);
}

GB_DEVICE float
gb_scale(const gb_iq1_s *b, int e)
{
    return gb_float(b->d) * (float)(2 * (b->qh[e / 32] >> 12 & 7) + 1) * 0.125f;
}

/* The scale of the block is spread over the tops of four words. */
GB_DEVICE float
gb_scale(const gb_iq1_m *b, int e)
{
    const int s = b->scales[e / 64] >> 3 * (e / 16 % 4) & 7;
    gb_f16 d;

    d.bits = (uint16_t)(b->scales[0] >> 12 | (b->scales[1] >> 12) << 4 |
                        (b->scales[2] >> 12) << 8 | (b->scales[3] >> 12) << 12);
    return gb_float(d) * (float)(2 * s + 1) * 0.125f;
}

/* ---- floats of any type ---- */

/* What a type's rows are made of; a float is a block of one value. */
template <typename T>
struct gb_format {
    static constexpr int values = T::values;
    static constexpr bool is_float = false;
};

struct gb_float_format {
    static constexpr int values = 1;
    static constexpr bool is_float = true;
};

template <>
struct gb_format<float> : gb_float_format {};
template <>
struct gb_format<gb_f16> : gb_float_format {};
template <>
struct gb_format<gb_bf16> : gb_float_format {};

/* Byte I of a word, as an int8. */
GB_DEVICE int
gb_int8_of(int word, int i)
{
    return (int8_t)(word >> 8 * i);
}

/*
 * Values I … I + N - 1 of a dense row of type T into OUT.  N is a power of two
 * from 4 to 32 and I a multiple of it; for floating-point types both are any.
 */
template <int n, typename T>
GB_DEVICE void
gb_values(const T *row, int64_t i, float *out)
{
    if constexpr (gb_format<T>::is_float) {
        GB_UNROLL
        for (int j = 0; j < n; j++)
            out[j] = gb_float(row[i + j]);
    } else {
        const T *block = row + i / T::values;
        const int first = (int)(i % T::values);

        GB_UNROLL
        for (int j = 0; j < n; j += 4) {
            const int codes = gb_codes(block, first + j);
            const float scale = gb_scale(block, first + j);
            const float min = gb_min(block, first + j);

            GB_UNROLL
            for (int l = 0; l < 4; l++)
                out[j + l] = scale * (float)gb_int8_of(codes, l) - min;
        }
    }
}

/* Value I of such a row. */
template <typename T>
GB_DEVICE float
gb_value(const T *row, int64_t i)
{
    if constexpr (gb_format<T>::is_float) {
        return gb_float(row[i]);
    } else {
        const T *block = row + i / T::values;
        const int e = (int)(i % T::values);
        const int code = gb_int8_of(gb_codes(block, e & ~3), e % 4);

        return gb_scale(block, e) * (float)code - gb_min(block, e);
    }
}

#endif
