/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/mmastep.cuh - what a warp of attention on tensor cores does with
 * 16 rows and some keys: scores, an online softmax, sums of values.
 *
 * Queries are f16, multiplied by a power of two that brings a row's largest to
 * half of the range; sums of values are F32.  Exponentials are rounded to f16
 * in registers, which are the fragments of the second product, and their sum is
 * a column of ones there: what they are divided by has the same rounding.
 *
 * A HEAD says how: elements of the longest head (size), keys of a panel (keys),
 * halves from line to line of it (pitch), threads that copy it together
 * (threads), fragments of queries that are in registers (fragments; has_lines:
 * there are none, they stay in shared memory), and whether MMA8 is there
 * (is_8).  Lines are 16 bytes longer than what they hold, so that the eight of
 * an ldmatrix lie in different banks.
 */
#ifndef GB_CUDA_KERNELS_MMASTEP_CUH
#define GB_CUDA_KERNELS_MMASTEP_CUH

#include "backends/cuda/kernels/attention.cuh"
#include "backends/cuda/kernels/mma.cuh"

#define GB_MMA_ROOM 0x1p+15f /* of exponentials, up to f16's range */
#define GB_LOG2_E   1.44269504f
#define GB_LN_2     0.693147181f

/* 16 x 8 sums of 16 products. */
template <bool is_8>
GB_DEVICE void
gb_mma_multiply(float d[4], const uint32_t a[4], const uint32_t b[2])
{
    if constexpr (is_8) {
        gb_mma_m16n8k16_f16(d, a, b);
    } else {
        gb_mma_m16n8k8_f16(d, a, b[0]);
        gb_mma_m16n8k8_f16(d, a + 2, b[1]);
    }
}

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

/* ---- rows ---- */

/* The two rows of which a lane has scores: L / 4 of the tile's, and 8 more.
 * Scores are multiples of ln 2. */
struct gb_mma_rows {
    float max[2];
    float scale[2]; /* of what tensor cores give */
    float slope[2];
    int64_t mask[2]; /* offset of their values */
};

/* The number of row I of T's, the last one for those behind it. */
GB_DEVICE int64_t
gb_mma_row_of(const gb_cuda_attention_args &a, const gb_attention_tile &t,
              int i)
{
    const int64_t row = t.first_row + i;

    return row < a.rows ? row : a.rows - 1;
}

GB_DEVICE void
gb_mma_begin_rows(const gb_cuda_attention_args &a, const gb_attention_tile &t,
                  gb_mma_rows &rows)
{
    GB_UNROLL
    for (int i = 0; i < 2; i++) {
        const gb_attention_query q =
            gb_query_of(a, t, gb_mma_row_of(a, t, gb_lane() / 4 + 8 * i));

        rows.max[i] = -GB_INFINITY;
        rows.slope[i] =
            gb_slope_of(a.max_bias, a.q.ne[2], q.head) * GB_LOG2_E;
        rows.mask[i] = q.token * a.mask.nb[1];
    }
}

/* ---- queries ---- */

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
 * N queries of D elements as halves into LINES, as many lanes as there are a
 * row; all of them are on their way at once.  INVERSES: what brings a row back
 * to what it was.  All lanes.
 */
template <typename head, int n>
GB_DEVICE void
gb_mma_load_queries(const char *const from[n], int d, uint16_t *lines,
                    float inverses[n])
{
    float values[n][head::size / 32];

    GB_UNROLL
    for (int i = 0; i < n; i++)
        GB_UNROLL
        for (int j = 0; j < head::size / 32; j++) {
            const int at = gb_lane() + 32 * j;

            values[i][j] = at < d ? ((const float *)from[i])[at] : 0.0f;
        }
    GB_UNROLL
    for (int i = 0; i < n; i++) {
        gb_f16 *const to = (gb_f16 *)lines + i * head::pitch;
        float largest = 0.0f, factor;

        GB_UNROLL
        for (int j = 0; j < head::size / 32; j++) {
            const float magnitude = gb_abs(values[i][j]);

            largest = magnitude > largest ? magnitude : largest;
        }
        factor = gb_f16_factor(gb_warp_max(largest));
        GB_UNROLL
        for (int j = 0; j < head::size / 32; j++)
            gb_store(to + gb_lane() + 32 * j, values[i][j] * factor);
        inverses[i] = gb_mma_inverse(factor);
    }
}

/* What products with queries are multiplied by, but for these' own factor. */
GB_DEVICE float
gb_mma_scale_of(const gb_cuda_attention_args &a)
{
    return a.softcap != 0.0f ? a.scale : a.scale * GB_LOG2_E;
}

/* Where a lane's part of the fragments of the queries in LINES begins. */
template <typename head>
GB_DEVICE const uint16_t *
gb_mma_query_line(const uint16_t *lines)
{
    return lines + gb_lane() % 16 * head::pitch + gb_lane() / 16 * 8;
}

template <typename head>
GB_DEVICE void
gb_mma_load_fragments(const uint16_t *lines, uint32_t q[head::fragments][4])
{
    GB_UNROLL
    for (int i = 0; i < head::fragments; i++)
        gb_ldmatrix_x4(q[i], gb_mma_query_line<head>(lines) + 16 * i);
}

/* ---- keys and values into shared memory ---- */

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

/*
 * Lines of the keys from FIRST on, a piece of 16 bytes a thread at a time, by
 * as many neighbouring threads as HEAD says; zeros behind END and behind a
 * head's elements.  Before 8.0 four pieces are in registers at once, so that
 * their loads are on their way together.
 */
template <typename head>
GB_DEVICE void
gb_mma_load_lines(typename head::panel &to,
                  const gb_mma_matrix &m, int64_t first, int64_t end, int d)
{
    constexpr int pieces = head::size / 8, step = head::threads / pieces;
    constexpr int rounds = head::keys / step;
    const int thread = gb_thread() % head::threads;
    const int at = thread % pieces * 8, line = thread / pieces;
    const int n = at < d ? (int)(end - first < 64 ? end - first : 64) : 0;
    const char *from = m.data + (first + line) * m.stride + 2 * at;

    if constexpr (head::is_8) {
        GB_UNROLL
        for (int i = 0; i < rounds; i++, from += step * m.stride) {
            const bool is_inside = line + i * step < n;

            /* Nothing is read where there are no bytes. */
            gb_copy_async_16(&to.lines[line + i * step][at], from,
                             is_inside ? 16 : 0);
        }
        gb_copy_async_commit();
    } else {
        GB_UNROLL
        for (int i = 0; i < rounds; i += 4) {
            gb_piece four[4] = {};

            GB_UNROLL
            for (int j = 0; j < 4; j++, from += step * m.stride)
                if (line + (i + j) * step < n)
                    four[j] = *(const gb_piece *)from;
            GB_UNROLL
            for (int j = 0; j < 4; j++) {
                uint16_t *const piece = to.lines[line + (i + j) * step] + at;

                *(gb_piece *)piece = four[j];
            }
        }
    }
}

/* ---- scores ---- */

/* Products of the keys in K with queries: fragments Q, or LINES of long
 * heads.  All lanes. */
template <typename head>
GB_DEVICE void
gb_mma_find_scores(const typename head::panel &k, const uint16_t *lines,
                   const uint32_t q[head::fragments][4], int d,
                   float z[head::keys / 8][4])
{
    constexpr int keys = head::keys;
    const int line = gb_lane() / 16 * 8 + gb_lane() % 8;
    const int at = gb_lane() / 8 % 2 * 8;

    GB_UNROLL
    for (int j = 0; j < keys / 8; j++)
        GB_UNROLL
        for (int i = 0; i < 4; i++)
            z[j][i] = 0.0f;
    GB_UNROLL
    for (int i = 0; i < head::size / 16; i++) {
        uint32_t of_line[4];
        const uint32_t *const of =
            head::has_lines ? of_line : q[i % head::fragments];

        if (16 * i >= d)
            break;
        if constexpr (head::has_lines)
            gb_ldmatrix_x4(of_line, gb_mma_query_line<head>(lines) + 16 * i);
        GB_UNROLL
        for (int j = 0; j < keys / 16; j++) {
            uint32_t b[4];

            gb_ldmatrix_x4(b, &k.lines[16 * j + line][16 * i + at]);
            gb_mma_multiply<head::is_8>(z[2 * j], of, b);
            gb_mma_multiply<head::is_8>(z[2 * j + 1], of, b + 2);
        }
    }
}

/* Scores of both rows times their scales and FACTOR; below the softcap. */
template <int keys>
GB_DEVICE void
gb_mma_scale_scores(const gb_cuda_attention_args &a, const gb_mma_rows &rows,
                    float factor, float z[keys / 8][4])
{
    GB_UNROLL
    for (int i = 0; i < 4; i++) {
        const float scale = rows.scale[i / 2] * factor;

        GB_UNROLL
        for (int j = 0; j < keys / 8; j++)
            z[j][i] *= scale;
    }
    if (a.softcap == 0.0f)
        return;
    GB_UNROLL
    for (int j = 0; j < keys / 8; j++)
        GB_UNROLL
        for (int i = 0; i < 4; i++)
            z[j][i] = a.softcap * GB_LOG2_E * gb_tanh(z[j][i]);
}

/* The mask's values N and N + 1 of a row at FROM, f16 each; 0 from END on. */
GB_DEVICE uint32_t
gb_mma_mask_pair(const char *from, int n, int end)
{
    const uint16_t *const two = (const uint16_t *)from + n;
    const uint32_t first = n < end ? two[0] : 0;

    return n + 1 < end ? first | (uint32_t)two[1] << 16 : first;
}

/* What the mask at its offset AT has of N keys for a lane's row I, two values a
 * word; their loads are on their way at once. */
template <int keys>
GB_DEVICE void
gb_mma_load_mask(const gb_cuda_attention_args &a, const gb_mma_rows &rows,
                 int64_t at, int n, int i, uint32_t mask[keys / 8])
{
    const char *const from = a.mask.data + rows.mask[i] + at;

    if (a.mask_is_paired && n >= keys) {
        GB_UNROLL
        for (int j = 0; j < keys / 8; j++)
            mask[j] = ((const uint32_t *)from)[4 * j + gb_lane() % 4];
        return;
    }
    GB_UNROLL
    for (int j = 0; j < keys / 8; j++)
        mask[j] = gb_mma_mask_pair(from, 8 * j + gb_lane() % 4 * 2, n);
}

/* Add that to the row's scores. */
template <int keys>
GB_DEVICE void
gb_mma_add_mask(const gb_mma_rows &rows, const uint32_t mask[keys / 8], int i,
                float z[keys / 8][4])
{
    GB_UNROLL
    for (int j = 0; j < keys / 8; j++) {
        float *const of = &z[j][2 * i];

        of[0] = gb_fma(rows.slope[i], gb_float(gb_f16{ (uint16_t)mask[j] }),
                       of[0]);
        of[1] = gb_fma(rows.slope[i],
                       gb_float(gb_f16{ (uint16_t)(mask[j] >> 16) }), of[1]);
    }
}

/* There are N keys. */
template <int keys>
GB_DEVICE void
gb_mma_hide(int n, float z[keys / 8][4])
{
    GB_UNROLL
    for (int j = 0; j < keys / 8; j++)
        GB_UNROLL
        for (int i = 0; i < 4; i++)
            if (8 * j + gb_lane() % 4 * 2 + i % 2 >= n)
                z[j][i] = -GB_INFINITY;
}

/*
 * Exponentials of scores as fragments of 16 keys each, and the factors for what
 * belongs to the maxima before, which are 1 where these stay.
 */
template <int keys>
GB_DEVICE void
gb_mma_take_softmax(gb_mma_rows &rows, float z[keys / 8][4],
                    uint32_t p[keys / 16][4], float factors[2])
{
    GB_UNROLL
    for (int i = 0; i < 2; i++) {
        const float before = rows.max[i];
        float max = before, shift;

        GB_UNROLL
        for (int j = 0; j < keys / 4; j++) {
            const float score = z[j / 2][2 * i + j % 2];

            max = gb_mma_larger(max, score);
        }
        max = gb_warp_max<4>(max);
        /* Nothing seen up to now: all exponentials are those of -infinity. */
        shift = max == -GB_INFINITY ? 0.0f : max;
        rows.max[i] = max;
        factors[i] = max == before ? 1.0f : gb_mma_exp2(before - shift);
        GB_UNROLL
        for (int j = 0; j < keys / 8; j++)
            p[j / 2][j % 2 * 2 + i] =
                gb_f16_pair(gb_mma_exp2(z[j][2 * i] - shift),
                            gb_mma_exp2(z[j][2 * i + 1] - shift));
    }
}

/* ---- values ---- */

/* Of a lane's two rows: columns 8 j + 2 (L % 4) and the next; the sum of the
 * exponentials. */
template <typename head>
struct gb_mma_sums {
    float at[head::size / 8][4];
    float of_exponentials[4];
    float factor; /* what values were multiplied by */
};

/* What was summed up to now belongs to other maxima, and to values with another
 * factor; most often to the same. */
template <typename head>
GB_DEVICE void
gb_mma_change_sums(gb_mma_sums<head> &sums, const float factors[2], float other)
{
    if (factors[0] == 1.0f && factors[1] == 1.0f && other == 1.0f)
        return;
    GB_UNROLL
    for (int i = 0; i < 4; i++) {
        sums.of_exponentials[i] *= factors[i / 2];
        GB_UNROLL
        for (int j = 0; j < head::size / 8; j++)
            sums.at[j][i] *= factors[i / 2] * other;
    }
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

/* The sum of the exponentials, which are multiplied by FACTOR then. */
template <typename head>
GB_DEVICE void
gb_mma_sum_exponentials(gb_mma_sums<head> &sums, float factor,
                        uint32_t p[head::keys / 16][4])
{
    const uint32_t ones[2] = { 0x3c003c00, 0x3c003c00 };

    GB_UNROLL
    for (int i = 0; i < head::keys / 16; i++) {
        gb_mma_multiply<head::is_8>(sums.of_exponentials, p[i], ones);
        if (factor == 1.0f)
            continue;
        GB_UNROLL
        for (int j = 0; j < 4; j++)
            p[i][j] = gb_f16_pair(
                gb_float(gb_f16{ (uint16_t)p[i][j] }) * factor,
                gb_float(gb_f16{ (uint16_t)(p[i][j] >> 16) }) * factor);
    }
}

template <typename head>
GB_DEVICE void
gb_mma_add_values(const typename head::panel &v,
                  const uint32_t p[head::keys / 16][4], int d,
                  gb_mma_sums<head> &sums)
{
    const int at = gb_lane() / 16 * 8;

    GB_UNROLL
    for (int i = 0; i < head::keys / 16; i++)
        GB_UNROLL
        for (int j = 0; j < head::size / 16; j++) {
            uint32_t b[4];

            if (16 * j >= d)
                break;
            gb_ldmatrix_x4_transposed(
                b, &v.lines[16 * i + gb_lane() % 16][16 * j + at]);
            gb_mma_multiply<head::is_8>(sums.at[2 * j], p[i], b);
            gb_mma_multiply<head::is_8>(sums.at[2 * j + 1], p[i], b + 2);
        }
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
