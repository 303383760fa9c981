/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/halves.cuh - weights as halves, for tensor cores.
 *
 * Sixteen neighbouring values of a block have one scale and min: these are read
 * once, then the codes, four in a word.  A code becomes a float by a byte's place
 * in it: the bits 0x4b0000uu are 2^23 + u, from which what is subtracted is
 * exact.  Conversions of integers would take four times as long.
 *
 * A value is scale * code - min in F32, rounded to that once, and then to f16:
 * so it is off by half a step of f16 and 2^-24 of itself, nothing more.  Where
 * there are no mins the product is exact in F32: scales of 11 bits, times up to 7
 * of a sub-block, and codes of as many as are left.
 */
#ifndef GB_CUDA_KERNELS_HALVES_CUH
#define GB_CUDA_KERNELS_HALVES_CUH

#include "backends/cuda/kernels/math.cuh"
#include "backends/cuda/kernels/unpack.cuh"

struct gb_sixteen {
    uint32_t codes[4]; /* bytes: 128 more than the codes, or another bias */
    float scale, min;
};

/* Of numbers that are not negative the compiler divides by a shift. */
GB_DEVICE uint32_t
gb_unsigned(int32_t n)
{
    return (uint32_t)n;
}

GB_DEVICE uint64_t
gb_unsigned(int64_t n)
{
    return (uint64_t)n;
}

/*
 * Codes FIRST … FIRST + 15 of a block, and 128 each, for formats whose words are
 * found with much arithmetic: as gb_codes() has them, once for all four.
 */
template <typename T>
GB_DEVICE void
gb_sixteen_codes(const T *b, int first, uint32_t out[4])
{
    GB_UNROLL
    for (int j = 0; j < 4; j++)
        out[j] = (uint32_t)gb_codes(b, first + 4 * j) ^ 0x80808080u;
}

GB_DEVICE void
gb_sixteen_codes(const gb_q5_k *b, int first, uint32_t out[4])
{
    const uint32_t *words = b->qs + 8 * (first / 64) + first % 32 / 4;
    const uint32_t *fifths = b->qh + first % 32 / 4;
    const int is_high = first % 64 / 32;

    GB_UNROLL
    for (int j = 0; j < 4; j++)
        out[j] = gb_nibbles(words[j], is_high) |
                 (fifths[j] >> first / 32 & 0x01010101u) << 4 | 0x80808080u;
}

GB_DEVICE void
gb_sixteen_codes(const gb_q6_k *b, int first, uint32_t out[4])
{
    const uint16_t *low = b->ql + 32 * (first / 128) + first % 64 / 2;
    const uint16_t *high = b->qh + gb_pairs_at(first) / 2;
    const int is_high = first % 128 / 64;

    GB_UNROLL
    for (int j = 0; j < 4; j++)
        out[j] = (gb_nibbles(gb_load_halves(low + 2 * j), is_high) |
                  gb_pairs(gb_load_halves(high + 2 * j), first) << 4 |
                  0x80808080u) -
                 0x20202020u;
}

/*
 * What a thread has of sixteen values until it needs them.  What is made of loaded
 * bytes at once is waited for at once; so formats that are loaded by few and wide
 * words stay as they lie in memory.
 */
template <typename T>
struct gb_loaded_sixteen {
    gb_sixteen s;
};

template <>
struct gb_loaded_sixteen<gb_q4_k> {
    gb_piece head, codes;
    int first; /* value of the block */
};

/* Values 16 * I … 16 * I + 15 of a dense row of blocks. */
template <typename T, typename index>
GB_DEVICE gb_loaded_sixteen<T>
gb_load_sixteen(const T *row, index i)
{
    const T *block = row + gb_unsigned(i) / (T::values / 16);
    const int first = (int)(gb_unsigned(i) % (T::values / 16) * 16);
    gb_loaded_sixteen<T> loaded;

    loaded.s.scale = gb_scale(block, first);
    loaded.s.min = gb_min(block, first);
    gb_sixteen_codes(block, first, loaded.s.codes);
    return loaded;
}

template <typename index>
GB_DEVICE gb_loaded_sixteen<gb_q4_k>
gb_load_sixteen(const gb_q4_k *row, index i)
{
    const gb_q4_k *block = row + gb_unsigned(i) / 16;
    const int first = (int)(gb_unsigned(i) % 16 * 16);

    return { *(const gb_piece *)block,
             *(const gb_piece *)(block->qs + 8 * (first / 64) + first % 32 / 4),
             first };
}

template <typename T>
GB_DEVICE gb_sixteen
gb_sixteen_of(const gb_loaded_sixteen<T> &loaded)
{
    return loaded.s;
}

GB_DEVICE gb_sixteen
gb_sixteen_of(const gb_loaded_sixteen<gb_q4_k> &loaded)
{
    const int is_high = loaded.first % 64 / 32;
    gb_sixteen s;

    if constexpr (GB_WARP == 64)
        gb_scale_and_min_by_masks(loaded.head, loaded.first / 32, &s.scale,
                                  &s.min);
    else
        gb_scale_and_min(loaded.head, loaded.first / 32, &s.scale, &s.min);
    GB_UNROLL
    for (int j = 0; j < 4; j++)
        s.codes[j] = gb_nibbles(loaded.codes.words[j], is_high) | 0x80808080u;
    return s;
}

/* The code in byte I of WORD.  Cards with waves of 64 lanes convert a byte of a
 * word, with its sign, in one instruction. */
template <int bias>
GB_DEVICE float
gb_code_of(uint32_t word, int i)
{
    if constexpr (GB_WARP == 64 && bias == 128)
        return (float)gb_int8_of((int)(word ^ 0x80808080u), i);
    return gb_float_of_bits(
               gb_pick_bytes(word, 0x4b000000u, 0x7440u | (uint32_t)i)) -
           (float)(8388608 + bias);
}

/* Two values, from code 2 * I on, as halves. */
template <bool has_mins, int bias>
GB_DEVICE uint32_t
gb_two_halves(const gb_sixteen &s, float scale, float min, int i)
{
    const float low = gb_code_of<bias>(s.codes[i / 2], i % 2 * 2);
    const float high = gb_code_of<bias>(s.codes[i / 2], i % 2 * 2 + 1);

    if constexpr (GB_WARP == 64)
        return gb_f16_pair_fma(scale, low, high, has_mins ? -min : 0.0f);
    if constexpr (has_mins)
        return gb_f16_pair(gb_fma(scale, low, -min),
                           gb_fma(scale, high, -min));
    else
        return gb_f16_pair(scale * low, scale * high);
}

/* All sixteen times FACTOR, a power of two, two in a word. */
template <bool has_mins, int bias = 128>
GB_DEVICE void
gb_sixteen_halves(const gb_sixteen &s, float factor, uint32_t out[8])
{
    GB_UNROLL
    for (int i = 0; i < 8; i++)
        out[i] = gb_two_halves<has_mins, bias>(s, s.scale * factor,
                                               s.min * factor, i);
}

/* Formats with one scale a block, an f16, by which codes are multiplied as f16: what
 * comes out is rounded once, as it is by way of F32. */
template <typename T>
static constexpr bool gb_has_f16_scale = T::values == T::sub;
template <>
constexpr bool gb_has_f16_scale<gb_tq1_0> = true;
template <>
constexpr bool gb_has_f16_scale<gb_tq2_0> = true;

/* Codes 2 * I and the next as f16: the bits 0x64uu are 1,024 + u, and 0xe4uu are that
 * below 0. */
template <int bias>
GB_DEVICE uint32_t
gb_two_codes(const gb_sixteen &s, int i)
{
    return gb_f16x2_add(gb_pick_bytes(s.codes[i / 2], 0x64646464u,
                                      i % 2 == 0 ? 0x4140u : 0x4342u),
                        0xe400e400u + bias * 0x10001u);
}

/* gb_sixteen_halves() of weights of type T, with half the work where it can be. */
template <typename T, int bias = 128>
GB_DEVICE void
gb_sixteen_halves_of(const gb_sixteen &s, float factor, uint32_t out[8])
{
    if constexpr (gb_has_f16_scale<T>) {
        const float d = s.scale * factor, m = -s.min * factor;
        const uint32_t scale = gb_f16_pair(d, d), more = gb_f16_pair(m, m);

        GB_UNROLL
        for (int i = 0; i < 8; i++)
            out[i] = T::has_mins
                         ? gb_f16x2_fma(gb_two_codes<bias>(s, i), scale, more)
                         : gb_f16x2_mul(gb_two_codes<bias>(s, i), scale);
    } else {
        gb_sixteen_halves<T::has_mins, bias>(s, factor, out);
    }
}

/* No magnitude of the sixteen is above this. */
GB_DEVICE float
gb_sixteen_bound(const gb_sixteen &s)
{
    if constexpr (GB_WARP == 64)
        return gb_fma(gb_abs(s.scale), 128.0f, gb_abs(s.min));
    const float scale = s.scale < 0.0f ? -s.scale : s.scale;
    const float min = s.min < 0.0f ? -s.min : s.min;

    return gb_fma(scale, 128.0f, min);
}

GB_DEVICE gb_piece
gb_piece_of(const uint32_t words[4])
{
    return { { words[0], words[1], words[2], words[3] } };
}

/* Values I … I + 15 of a row of 16-bit floats, zeros from END on. */
template <typename T, typename index>
GB_DEVICE void
gb_sixteen_floats(const T *row, index i, index end, uint32_t out[8])
{
    const gb_piece *pieces = (const gb_piece *)(row + i);

    if ((uintptr_t)pieces % sizeof(gb_piece) == 0 && end - i >= 16) {
        GB_UNROLL
        for (int j = 0; j < 2; j++) {
            const gb_piece piece = pieces[j];

            GB_UNROLL
            for (int l = 0; l < 4; l++)
                out[4 * j + l] = piece.words[l];
        }
        return;
    }
    GB_UNROLL
    for (int j = 0; j < 8; j++) {
        const index at = i + 2 * j;
        const uint32_t low = at < end ? row[at].bits : 0;
        const uint32_t high = at + 1 < end ? row[at + 1].bits : 0;

        out[j] = low | high << 16;
    }
}

#endif
