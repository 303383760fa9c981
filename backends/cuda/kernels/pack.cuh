/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/pack.cuh - floats into blocks of the formats that a copy can
 * write, with the bits that lib/type/ makes.
 *
 * Blocks of 32 values: gb_pack(block, x), by one thread.
 *
 * Blocks of 256 values are made by a team of threads, one a sub-block whose
 * values it holds, in three steps with a barrier between them:
 *
 *   gb_pack_search(block, s, b, x)  what sub-block B alone says, into s
 *   gb_pack_code(block, s, b, x)    the block's scales, codes against them
 *   gb_pack_store(block, s, b)      bytes from the codes of all
 *
 * where BLOCK chooses the format, and is written by the last step only.
 */
#ifndef GB_CUDA_KERNELS_PACK_CUH
#define GB_CUDA_KERNELS_PACK_CUH

#include "backends/cuda/kernels/blocks.cuh"
#include "backends/cuda/kernels/search.cuh"

/* ---- 32 values ---- */

/* Words of 2 or 4 bytes: 16 bytes of nibbles, code j and code j + 16 in byte j,
 * of which the low four bits count. */
template <typename W>
GB_DEVICE void
gb_pack_nibbles(const uint32_t *codes, W *words)
{
    GB_UNROLL
    for (int i = 0; i < 16; i += (int)sizeof(W)) {
        uint32_t word = 0;

        GB_UNROLL
        for (int j = 0; j < (int)sizeof(W); j++)
            word |= ((codes[i + j] & 15) | (codes[i + j + 16] & 15) << 4)
                    << 8 * j;
        words[i / (int)sizeof(W)] = (W)word;
    }
}

/* The fifth bits of 32 codes. */
GB_DEVICE uint32_t
gb_pack_fifth(const uint32_t *codes)
{
    uint32_t high = 0;

    GB_UNROLL
    for (int j = 0; j < 32; j++)
        high |= (codes[j] >> 4) << j;
    return high;
}

/* Codes of x / d + top, halves rounded up: 0 to 2 * top - 1. */
GB_DEVICE void
gb_codes_by_scale(const float *x, float d, float top, uint32_t *codes)
{
    const float inverse = gb_inverse(d);

    GB_UNROLL
    for (int i = 0; i < 32; i++)
        codes[i] = gb_truncate(gb_mul(x[i], inverse) + (top + 0.5f),
                               2.0f * top - 1.0f);
}

/* Codes of (x - min) / d, halves rounded up: 0 to top. */
GB_DEVICE void
gb_codes_by_range(const float *x, float d, float min, float top,
                  uint32_t *codes)
{
    const float inverse = gb_inverse(d);

    GB_UNROLL
    for (int i = 0; i < 32; i++)
        codes[i] = gb_truncate(gb_mul(x[i] - min, inverse) + 0.5f, top);
}

GB_DEVICE void
gb_pack(gb_q4_0 *b, const float *x)
{
    const float d = gb_largest<32>(x) / -8.0f;
    uint32_t codes[32];

    gb_codes_by_scale(x, d, 8.0f, codes);
    b->d = gb_f16_of(d);
    gb_pack_nibbles(codes, b->qs);
}

GB_DEVICE void
gb_pack(gb_q4_1 *b, const float *x)
{
    const gb_range range = gb_range_of<32>(x);
    const float d = (range.max - range.min) / 15.0f;
    uint32_t codes[32];

    gb_codes_by_range(x, d, range.min, 15.0f, codes);
    b->d = gb_f16_of(d);
    b->m = gb_f16_of(range.min);
    gb_pack_nibbles(codes, b->qs);
}

GB_DEVICE void
gb_pack(gb_q5_0 *b, const float *x)
{
    const float d = gb_largest<32>(x) / -16.0f;
    uint32_t codes[32], high;

    gb_codes_by_scale(x, d, 16.0f, codes);
    high = gb_pack_fifth(codes);
    b->d = gb_f16_of(d);
    b->qh[0] = (uint16_t)high;
    b->qh[1] = (uint16_t)(high >> 16);
    gb_pack_nibbles(codes, b->qs);
}

GB_DEVICE void
gb_pack(gb_q5_1 *b, const float *x)
{
    const gb_range range = gb_range_of<32>(x);
    const float d = (range.max - range.min) / 31.0f;
    uint32_t codes[32];

    gb_codes_by_range(x, d, range.min, 31.0f, codes);
    b->d = gb_f16_of(d);
    b->m = gb_f16_of(range.min);
    b->qh = gb_pack_fifth(codes);
    gb_pack_nibbles(codes, b->qs);
}

/* Words of 2 or 4 int8 codes of 32 values; the scale, and the codes' sum. */
template <typename W>
GB_DEVICE float
gb_pack_int8(const float *x, W *words, int *sum)
{
    const float d = gb_abs(gb_largest<32>(x)) / 127.0f;
    const float inverse = gb_inverse(d);

    *sum = 0;
    GB_UNROLL
    for (int i = 0; i < 32; i += (int)sizeof(W)) {
        uint32_t word = 0;

        GB_UNROLL
        for (int j = 0; j < (int)sizeof(W); j++) {
            const int code = gb_round_away(x[i + j] * inverse, 127.0f);

            *sum += code;
            word |= (uint32_t)(uint8_t)code << 8 * j;
        }
        words[i / (int)sizeof(W)] = (W)word;
    }
    return d;
}

GB_DEVICE void
gb_pack(gb_q8_0 *b, const float *x)
{
    int sum;

    b->d = gb_f16_of(gb_pack_int8(x, b->qs, &sum));
}

GB_DEVICE void
gb_pack(gb_q8_1 *b, const float *x)
{
    int sum;
    const float d = gb_pack_int8(x, b->qs, &sum);

    b->d = gb_f16_of(d);
    b->s = gb_f16_of(d * (float)sum);
}

/* One candidate, and its scale fitted: quick enough for activations. */
GB_DEVICE void
gb_pack(gb_iq4_nl *b, const float *x)
{
    const float largest = gb_largest<32>(x);
    const float inverse = gb_inverse(largest / -127.0f);
    const bool is_zero = gb_abs(largest) < GB_SEARCH_TINY;
    const float d = gb_fit_scale(gb_fit_iq4(x, inverse));
    uint32_t codes[32];

    GB_UNROLL
    for (int i = 0; i < 32; i++)
        codes[i] = is_zero ? 0 : (uint32_t)gb_iq4_nearest(inverse * x[i]);
    b->d = gb_f16_of(is_zero ? 0.0f : d);
    gb_pack_nibbles(codes, b->qs);
}

/* ---- 256 values ---- */

/* What the threads of a team tell each other; sub-blocks are 8 of 32 or 16 of
 * 16. */
struct gb_packing {
    float scales[16], mins[16]; /* that the searches found */
    float d, dmin;
    uint8_t scale_codes[16], min_codes[16];
    uint8_t codes[256];
};

/* Byte J of 64 with the low two bits of codes j, j + 32, j + 64 and j + 96 of
 * each 128. */
GB_DEVICE uint32_t
gb_pack_pairs(const uint8_t *codes, int j)
{
    const uint8_t *const c = codes + 128 * (j / 32) + j % 32;

    return (c[0] & 3) | (c[32] & 3) << 2 | (c[64] & 3) << 4 | (c[96] & 3) << 6;
}

/* Byte J of bits SHIFT of codes j, j + 32 … j + 224. */
GB_DEVICE uint32_t
gb_pack_bits(const uint8_t *codes, int j, int shift)
{
    uint32_t byte = 0;

    GB_UNROLL
    for (int k = 0; k < 8; k++)
        byte |= (uint32_t)(codes[j + 32 * k] >> shift & 1) << k;
    return byte;
}

/* Byte J of 128 with the low nibbles of codes j and j + 32 of each 64. */
GB_DEVICE uint32_t
gb_pack_nibble_pair(const uint8_t *codes, int j)
{
    const uint8_t *const c = codes + 64 * (j / 32) + j % 32;

    return (c[0] & 15) | (c[32] & 15) << 4;
}

/* How q2_K, q4_K and q5_K are searched. */
template <typename B>
struct gb_affine;

template <>
struct gb_affine<gb_q2_k> {
    static constexpr int top = 3, scale_top = 15;
    static constexpr bool by_rms = false;
    static constexpr float first = -0.5f, step = 0.1f;
    static constexpr int last = 15;
};

template <>
struct gb_affine<gb_q4_k> {
    static constexpr int top = 15, scale_top = 63;
    static constexpr bool by_rms = true;
    static constexpr float first = -1.0f, step = 0.1f;
    static constexpr int last = 20;
};

template <>
struct gb_affine<gb_q5_k> {
    static constexpr int top = 31, scale_top = 63;
    static constexpr bool by_rms = true;
    static constexpr float first = -0.5f, step = 0.1f;
    static constexpr int last = 15;
};

template <typename B, typename A = gb_affine<B>>
GB_DEVICE void
gb_pack_search(B *, gb_packing &s, int b, const float *x)
{
    constexpr int n = B::sub;
    const float rms = A::by_rms ? gb_sqrt(gb_energy<n>(x)) : 0.0f;
    const gb_steps steps = { A::first, A::step, A::last, !A::by_rms };
    const gb_line line =
        gb_search_asym<n>(x, rms, (float)A::top, steps);

    s.scales[b] = line.scale;
    s.mins[b] = -line.min;
    for (int i = 0; i < n; i++)
        s.codes[n * b + i] =
            (uint8_t)gb_line_number(line, x[i], (float)A::top);
}

/* The multiple that VALUES[b] is, of the scale *D, for values >= 0. */
template <int n>
GB_DEVICE float
gb_pack_multiple(const float *values, int b, float top, float *d)
{
    const float highest = gb_range_of<n>(values).max;
    const float inverse = highest > 0.0f ? top / highest : 0.0f;

    *d = highest > 0.0f ? highest / top : 0.0f;
    return gb_round_even(inverse * values[b], 0.0f, top);
}

template <typename B, typename A = gb_affine<B>>
GB_DEVICE void
gb_pack_code(B *, gb_packing &s, int b, const float *x)
{
    constexpr int n = B::sub, subs = 256 / n;
    float d, dmin, scale, min;

    scale = gb_pack_multiple<subs>(s.scales, b, (float)A::scale_top, &d);
    min = gb_pack_multiple<subs>(s.mins, b, (float)A::scale_top, &dmin);
    s.scale_codes[b] = (uint8_t)scale;
    s.min_codes[b] = (uint8_t)min;
    if (b == 0) {
        s.d = d;
        s.dmin = dmin;
    }
    scale *= gb_float(gb_f16_of(d));
    min *= gb_float(gb_f16_of(dmin));
    if (scale == 0.0f)
        return;
    for (int i = 0; i < n; i++)
        s.codes[n * b + i] = (uint8_t)gb_round_even(
            (x[i] + min) / scale, 0.0f, (float)A::top);
}

/* Byte I of the twelve in which q4_K and q5_K have eight scales and mins of six
 * bits. */
GB_DEVICE uint8_t
gb_pack_scale_byte(const gb_packing &s, int i)
{
    const int b = i % 4;

    if (i < 4)
        return (uint8_t)(s.scale_codes[b] | s.scale_codes[b + 4] >> 4 << 6);
    if (i < 8)
        return (uint8_t)(s.min_codes[b] | s.min_codes[b + 4] >> 4 << 6);
    return (uint8_t)((s.scale_codes[b + 4] & 15) | s.min_codes[b + 4] << 4);
}

GB_DEVICE void
gb_pack_store(gb_q2_k *to, const gb_packing &s, int b)
{
    uint8_t *const qs = (uint8_t *)to->qs;

    to->scales[b] = (uint8_t)(s.scale_codes[b] | s.min_codes[b] << 4);
    for (int j = b; j < 64; j += 16)
        qs[j] = (uint8_t)gb_pack_pairs(s.codes, j);
    if (b == 0) {
        to->d = gb_f16_of(s.d);
        to->dmin = gb_f16_of(s.dmin);
    }
}

/* What q4_K and q5_K have in common. */
template <typename B>
GB_DEVICE void
gb_pack_store_affine(B *to, const gb_packing &s, int b)
{
    uint8_t *const qs = (uint8_t *)to->qs;

    for (int j = b; j < 12; j += 8)
        to->scales[j] = gb_pack_scale_byte(s, j);
    for (int j = b; j < 128; j += 8)
        qs[j] = (uint8_t)gb_pack_nibble_pair(s.codes, j);
    if (b == 0) {
        to->d = gb_f16_of(s.d);
        to->dmin = gb_f16_of(s.dmin);
    }
}

GB_DEVICE void
gb_pack_store(gb_q4_k *to, const gb_packing &s, int b)
{
    gb_pack_store_affine(to, s, b);
}

GB_DEVICE void
gb_pack_store(gb_q5_k *to, const gb_packing &s, int b)
{
    uint8_t *const qh = (uint8_t *)to->qh;

    gb_pack_store_affine(to, s, b);
    for (int j = b; j < 32; j += 8)
        qh[j] = (uint8_t)gb_pack_bits(s.codes, j, 4);
}

/* Codes of q3_K and q6_K against the scale that a reader will see. */
GB_DEVICE void
gb_pack_code_again(gb_packing &s, int b, const float *x, float scale, float top)
{
    if (scale == 0.0f)
        return;
    for (int i = 0; i < 16; i++)
        s.codes[16 * b + i] =
            (uint8_t)(gb_round_even(x[i] / scale, -top, top - 1.0f) + top);
}

GB_DEVICE void
gb_pack_search(gb_q3_k *, gb_packing &s, int b, const float *x)
{
    float numbers[16];

    s.scales[b] = gb_search_sym_by_moves<16>(x, 4.0f, numbers);
    GB_UNROLL
    for (int i = 0; i < 16; i++)
        s.codes[16 * b + i] = (uint8_t)(numbers[i] + 4.0f);
}

GB_DEVICE void
gb_pack_code(gb_q3_k *, gb_packing &s, int b, const float *x)
{
    const float largest = gb_largest<16>(s.scales);
    const float inverse = -32.0f / largest;
    const float d = largest != 0.0f ? 1.0f / inverse : 0.0f;
    const float multiple =
        largest != 0.0f ? gb_round_even(inverse * s.scales[b], -32.0f, 31.0f)
                        : -32.0f;

    if (b == 0)
        s.d = d;
    s.scale_codes[b] = (uint8_t)(multiple + 32.0f);
    gb_pack_code_again(s, b, x, gb_float(gb_f16_of(d)) * multiple, 4.0f);
}

/* Byte I of the twelve in which q3_K has sixteen scales of six bits. */
GB_DEVICE uint8_t
gb_pack_scale_byte_q3_k(const gb_packing &s, int i)
{
    uint32_t byte = 0;

    if (i < 8)
        return (uint8_t)((s.scale_codes[i] & 15) |
                         (s.scale_codes[i + 8] & 15) << 4);
    GB_UNROLL
    for (int k = 0; k < 4; k++)
        byte |= (uint32_t)(s.scale_codes[i - 8 + 4 * k] >> 4) << 2 * k;
    return (uint8_t)byte;
}

GB_DEVICE void
gb_pack_store(gb_q3_k *to, const gb_packing &s, int b)
{
    uint8_t *const qs = (uint8_t *)to->qs;
    uint8_t *const hmask = (uint8_t *)to->hmask;

    for (int j = b; j < 64; j += 16)
        qs[j] = (uint8_t)gb_pack_pairs(s.codes, j);
    for (int j = b; j < 32; j += 16)
        hmask[j] = (uint8_t)gb_pack_bits(s.codes, j, 2);
    if (b < 12)
        to->scales[b] = gb_pack_scale_byte_q3_k(s, b);
    if (b == 0)
        to->d = gb_f16_of(s.d);
}

GB_DEVICE void
gb_pack_search(gb_q6_k *, gb_packing &s, int b, const float *x)
{
    const gb_best best = gb_search_sym<16>(x, 32.0f);
    const bool is_zero = gb_abs(gb_largest<16>(x)) < GB_SEARCH_TINY;

    s.scales[b] = best.scale;
    GB_UNROLL
    for (int i = 0; i < 16; i++)
        s.codes[16 * b + i] =
            is_zero ? 0
                    : (uint8_t)(gb_round_even(x[i] * best.inverse, -32.0f,
                                              31.0f) +
                                32.0f);
}

/* A block without a largest scale is all zeros. */
GB_DEVICE void
gb_pack_code(gb_q6_k *, gb_packing &s, int b, const float *x)
{
    const float largest = gb_largest<16>(s.scales);
    const bool is_zero = gb_abs(largest) < GB_SEARCH_TINY;
    const float inverse = is_zero ? 0.0f : -128.0f / largest;
    const float d = is_zero ? 0.0f : 1.0f / inverse;
    const float scale =
        gb_round_even(inverse * s.scales[b], -128.0f, 127.0f);

    if (b == 0)
        s.d = d;
    s.scale_codes[b] = (uint8_t)(int)scale;
    if (is_zero)
        for (int i = 0; i < 16; i++)
            s.codes[16 * b + i] = 0;
    gb_pack_code_again(s, b, x, gb_float(gb_f16_of(d)) * scale, 32.0f);
}

GB_DEVICE void
gb_pack_store(gb_q6_k *to, const gb_packing &s, int b)
{
    uint8_t *const ql = (uint8_t *)to->ql;
    uint8_t *const qh = (uint8_t *)to->qh;

    for (int j = b; j < 128; j += 16) {
        const uint8_t *const c = s.codes + 128 * (j / 64) + j % 64;

        ql[j] = (uint8_t)((c[0] & 15) | (c[64] & 15) << 4);
    }
    for (int j = b; j < 64; j += 16) {
        const uint8_t *const c = s.codes + 128 * (j / 32) + j % 32;

        qh[j] = (uint8_t)(c[0] >> 4 | c[32] >> 4 << 2 | c[64] >> 4 << 4 |
                          c[96] >> 4 << 6);
    }
    to->scales[b] = (int8_t)s.scale_codes[b];
    if (b == 0)
        to->d = gb_f16_of(s.d);
}

/* q8_K, tq1_0 and tq2_0: the largest of all values decides. */
GB_DEVICE void
gb_pack_search_largest(gb_packing &s, int b, const float *x)
{
    s.scales[b] = gb_largest<32>(x);
}

GB_DEVICE void
gb_pack_search(gb_q8_k *, gb_packing &s, int b, const float *x)
{
    gb_pack_search_largest(s, b, x);
}

GB_DEVICE void
gb_pack_code(gb_q8_k *, gb_packing &s, int b, const float *x)
{
    const float largest = gb_largest<8>(s.scales);
    const float inverse = largest != 0.0f ? -127.0f / largest : 0.0f;

    if (b == 0)
        s.d = largest != 0.0f ? 1.0f / inverse : 0.0f;
    for (int i = 0; i < 32; i++)
        s.codes[32 * b + i] =
            (uint8_t)(int)gb_round_even(inverse * x[i], -127.0f, 127.0f);
}

GB_DEVICE void
gb_pack_store(gb_q8_k *to, const gb_packing &s, int b)
{
    uint8_t *const qs = (uint8_t *)to->qs;

    for (int i = 0; i < 2; i++) {
        int sum = 0;

        for (int j = 0; j < 16; j++) {
            const int e = 32 * b + 16 * i + j;

            qs[e] = s.codes[e];
            sum += (int8_t)s.codes[e];
        }
        to->bsums[2 * b + i] = (int16_t)sum;
    }
    if (b == 0)
        to->d = s.d;
}

/* Digits 0, 1, 2 for -d, 0, d, d being the largest magnitude. */
GB_DEVICE void
gb_pack_ternary(gb_packing &s, int b, const float *x)
{
    const float d = gb_abs(gb_largest<8>(s.scales));
    const float inverse = gb_inverse(d);

    if (b == 0)
        s.d = d;
    for (int i = 0; i < 32; i++)
        s.codes[32 * b + i] =
            (uint8_t)(gb_round_away(x[i] * inverse, 1.0f) + 1);
}

GB_DEVICE void
gb_pack_search(gb_tq1_0 *, gb_packing &s, int b, const float *x)
{
    gb_pack_search_largest(s, b, x);
}

GB_DEVICE void
gb_pack_code(gb_tq1_0 *, gb_packing &s, int b, const float *x)
{
    gb_pack_ternary(s, b, x);
}

/* N digits to the base of 3, STRIDE apart, as a fraction of 256 that is rounded
 * up; then reading gets each of them back exactly. */
GB_DEVICE uint8_t
gb_pack_digits(const uint8_t *digits, int n, int stride)
{
    uint32_t value = 0;

    GB_UNROLL
    for (int k = 0; k < 5; k++)
        value = 3 * value + (k < n ? digits[k * stride] : 0);
    return (uint8_t)((256 * value + 242) / 243);
}

GB_DEVICE void
gb_pack_store(gb_tq1_0 *to, const gb_packing &s, int b)
{
    uint8_t *const qs = (uint8_t *)to->qs;
    uint8_t *const qh = (uint8_t *)to->qh;

    for (int j = b; j < 32; j += 8)
        qs[j] = gb_pack_digits(s.codes + j, 5, 32);
    for (int j = b; j < 16; j += 8)
        qs[32 + j] = gb_pack_digits(s.codes + 160 + j, 5, 16);
    if (b < 4)
        qh[b] = gb_pack_digits(s.codes + 240 + b, 4, 4);
    if (b == 0)
        to->d = gb_f16_of(s.d);
}

GB_DEVICE void
gb_pack_search(gb_tq2_0 *, gb_packing &s, int b, const float *x)
{
    gb_pack_search_largest(s, b, x);
}

GB_DEVICE void
gb_pack_code(gb_tq2_0 *, gb_packing &s, int b, const float *x)
{
    gb_pack_ternary(s, b, x);
}

GB_DEVICE void
gb_pack_store(gb_tq2_0 *to, const gb_packing &s, int b)
{
    uint8_t *const qs = (uint8_t *)to->qs;

    for (int j = b; j < 64; j += 8)
        qs[j] = (uint8_t)gb_pack_pairs(s.codes, j);
    if (b == 0)
        to->d = gb_f16_of(s.d);
}

GB_DEVICE void
gb_pack_search(gb_iq4_xs *, gb_packing &s, int b, const float *x)
{
    s.scales[b] = gb_search_iq4(x);
}

GB_DEVICE void
gb_pack_code(gb_iq4_xs *, gb_packing &s, int b, const float *x)
{
    const float d = -gb_largest<8>(s.scales) / 32.0f;
    const float multiple =
        gb_round_even(gb_inverse(d) * s.scales[b], -32.0f, 31.0f);
    const float inverse = gb_inverse(d * multiple);

    if (b == 0)
        s.d = d;
    s.scale_codes[b] = (uint8_t)(multiple + 32.0f);
    for (int i = 0; i < 32; i++)
        s.codes[32 * b + i] = (uint8_t)gb_iq4_nearest(inverse * x[i]);
}

GB_DEVICE void
gb_pack_store(gb_iq4_xs *to, const gb_packing &s, int b)
{
    uint8_t *const qs = (uint8_t *)to->qs;

    for (int j = 0; j < 16; j++) {
        const uint8_t *const c = s.codes + 32 * b + j;

        qs[16 * b + j] = (uint8_t)(c[0] | c[16] << 4);
    }
    if (b < 4)
        to->scales_l[b] = (uint8_t)((s.scale_codes[2 * b] & 15) |
                                    (s.scale_codes[2 * b + 1] & 15) << 4);
    if (b == 0) {
        uint32_t high = 0;

        for (int k = 0; k < 8; k++)
            high |= (uint32_t)(s.scale_codes[k] >> 4) << 2 * k;
        to->scales_h = (uint16_t)high;
        to->d = gb_f16_of(s.d);
    }
}

#endif
