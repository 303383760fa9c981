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

#include "backends/cuda/kernels/halfattention.cuh"
#include "backends/cuda/kernels/mma.cuh"

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

/* Lines of SIZE halves in shared memory, of queries, keys or values. */
template <int size>
struct gb_mma_lines {
    static constexpr int pitch = size + 8; /* halves from line to line */

    GB_DEVICE uint16_t *
    place(uint16_t *lines, int line, int at)
    {
        return lines + line * pitch + at;
    }
};

/* ---- rows ---- */

/* The two rows of which a lane has scores: L / 4 of the tile's, and 8 more.
 * Scores are multiples of ln 2. */
struct gb_mma_rows {
    float max[2];
    float scale[2]; /* of what tensor cores give */
    float slope[2];
    int64_t mask[2]; /* offset of their values */
};

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

#endif
