/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/halfattention.cuh - attention by matrix instructions on halves:
 * what is the same whatever the instructions are.
 *
 * Queries are f16, multiplied by a power of two that brings a row's largest to
 * half of the range; so are keys and values that were no halves, each some of
 * them by another one.  Scores are multiples of ln 2.
 */
#ifndef GB_CUDA_KERNELS_HALFATTENTION_CUH
#define GB_CUDA_KERNELS_HALFATTENTION_CUH

#include "backends/cuda/kernels/attention.cuh"
#include "backends/cuda/kernels/mma.cuh"

#define GB_MMA_ROOM 0x1p+15f /* of exponentials, up to f16's range */
#define GB_LOG2_E   1.44269504f
#define GB_LN_2     0.693147181f

/* 1 / x for a power of two from 2^-126 to 2^126. */
GB_DEVICE float
gb_mma_inverse(float x)
{
    return gb_float_of_bits((254u << 23) - gb_bits_of_float(x));
}

/*
 * 2^x for x up to 0, to a hundredth of what f16 keeps; 0 in f16 from -126 on.
 * x = n + r with |r| <= 1/2: adding 1.5 * 2^23 leaves n in the lowest bits,
 * which are added to the exponent of 2^r, a polynomial (least maximum of the
 * relative error, 3e-6).
 */
GB_DEVICE float
gb_mma_exp2(float x)
{
    const float shift = 0x1.8p+23f;
    float shifted, r, power;

    x = gb_mma_larger(x, -126.0f);
    shifted = x + shift;
    r = x - (shifted - shift);
    power = gb_fma(0x1.3997d6p-7f, r, 0x1.ca144p-5f);
    power = gb_fma(power, r, 0x1.ec06dap-3f);
    power = gb_fma(power, r, 0x1.62e0dcp-1f);
    power = gb_fma(power, r, 0x1.ffffe8p-1f);
    return gb_float_of_bits(gb_bits_of_float(power) +
                            (gb_bits_of_float(shifted) << 23));
}

/* ---- queries ---- */

/* The number of row I of T's, the last one for those behind it. */
GB_DEVICE int64_t
gb_mma_row_of(const gb_cuda_attention_args &a, const gb_attention_tile &t,
              int i)
{
    const int64_t row = t.first_row + i;

    return row < a.rows ? row : a.rows - 1;
}

/* Where the query of row I of the tile is. */
GB_DEVICE const char *
gb_mma_query_of(const gb_cuda_attention_args &a, const gb_attention_tile &t,
                int i)
{
    const gb_attention_query q = gb_query_of(a, t, gb_mma_row_of(a, t, i));

    return a.q.data + q.token * a.q.nb[1] + q.head * a.q.nb[2] +
           t.batch * a.q.nb[3];
}

/*
 * N queries of D elements as halves into LINES from number FIRST on, where HEAD
 * says, as many lanes as there are a row; all of them are on their way at once.
 * INVERSES: what brings a row back to what it was.  All lanes.
 */
template <typename head, int n>
GB_DEVICE void
gb_mma_load_queries(const char *const from[n], int d, uint16_t *lines,
                    int first, float inverses[n])
{
    float values[n][head::size / GB_WARP];

    GB_UNROLL
    for (int i = 0; i < n; i++)
        GB_UNROLL
        for (int j = 0; j < head::size / GB_WARP; j++) {
            const int at = gb_lane() + GB_WARP * j;

            values[i][j] = at < d ? ((const float *)from[i])[at] : 0.0f;
        }
    GB_UNROLL
    for (int i = 0; i < n; i++) {
        float largest = 0.0f, factor;

        GB_UNROLL
        for (int j = 0; j < head::size / GB_WARP; j++) {
            const float magnitude = gb_abs(values[i][j]);

            largest = magnitude > largest ? magnitude : largest;
        }
        factor = gb_f16_factor(gb_warp_max(largest));
        GB_UNROLL
        for (int j = 0; j < head::size / GB_WARP; j++)
            gb_store((gb_f16 *)head::place(lines, first + i,
                                           gb_lane() + GB_WARP * j),
                     values[i][j] * factor);
        inverses[i] = gb_mma_inverse(factor);
    }
}

/* What products with queries are multiplied by, but for these' own factor. */
GB_DEVICE float
gb_mma_scale_of(const gb_cuda_attention_args &a)
{
    return a.softcap != 0.0f ? a.scale : a.scale * GB_LOG2_E;
}

/* ---- keys and values ---- */

/* A matrix of keys or of values: address of its first, bytes from one to the
 * next; factors of all, or NULL. */
struct gb_mma_matrix {
    const char *data;
    int64_t stride;
    const float *factors;
};

GB_DEVICE gb_mma_matrix
gb_mma_matrix_of(const gb_cuda_attention_args &a, const gb_cuda_tensor &of,
                 const gb_cuda_sharing &sharing, const float *factors,
                 const gb_attention_tile &t)
{
    const int64_t head = gb_quotient(t.first_head, sharing.heads);
    const int64_t batch = gb_quotient(t.batch, sharing.batches);
    const int64_t first = (head + batch * of.ne[2]) * a.key_tiles;

    return { of.data + head * of.nb[2] + batch * of.nb[3], of.nb[1],
             factors == nullptr ? nullptr : factors + first };
}

GB_DEVICE float
gb_mma_factor_of(const gb_mma_matrix &m, int64_t key)
{
    return m.factors[key / GB_CUDA_MASK_KEYS];
}

/* The first key from FIRST on of which the mask lets a tile see anything. */
GB_DEVICE int64_t
gb_mma_next_seen(const gb_cuda_attention_args &a, const uint8_t *block_mask,
                 const gb_attention_tile &t, int64_t first, int keys)
{
    while (a.block_mask != nullptr && first < t.end_key &&
           block_mask[first / GB_CUDA_MASK_KEYS] == GB_CUDA_SEES_NONE)
        first += keys;
    return first;
}

/*
 * Values have the factor FACTOR, which may differ from that of the sums: these
 * take the lower one, and exponentials the difference, in the upper half of
 * f16's range, so that values 2^30 smaller than others still count.  What
 * exponentials need is the result; CHANGE is what the sums need.
 */
GB_DEVICE float
gb_mma_join_factors(float factor, float *of_sums, float *change_out)
{
    const float before = *of_sums, least = factor < before ? factor : before;

    *of_sums = least;
    *change_out = least * gb_mma_inverse(before);
    return least * gb_mma_inverse(factor) * GB_MMA_ROOM;
}

/* ---- results ---- */

/* Where the results of Q go: into dst, or to the parts, where the maximum and
 * the sum stand in front of them. */
GB_DEVICE float *
gb_mma_place_of(const gb_cuda_attention_args &a, const gb_attention_tile &t,
                const gb_attention_query &q)
{
    const int64_t result = gb_result_of(a, t, q);
    const int64_t n_rows = a.q.ne[1] * a.q.ne[2] * a.q.ne[3];

    if (a.n_parts == 1)
        return a.dst + result * t.width;
    return a.parts + (t.part * n_rows + result) * (t.width + 2) + 2;
}

/* That maximum, in multiples of ln 2, and that sum; by one lane. */
GB_DEVICE void
gb_mma_store_weight(float *place, float max, float sum)
{
    place[-2] = max * GB_LN_2;
    place[-1] = sum;
}

#endif
