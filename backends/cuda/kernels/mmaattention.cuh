/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/mmaattention.cuh - attention on tensor cores, for heads of up to
 * 256 elements, a multiple of 8, and keys and values in f16.
 *
 * Four warps have 16 rows each: queries as f16 in registers, multiplied by a
 * power of two that brings a row's largest to half of the range; sums of values
 * in F32.  They go through 64 keys at a time (32 or 16 with heads beyond 128),
 * with an online softmax in registers.  Exponentials are rounded to f16 there,
 * which are the fragments of the second product, and their sum is a column of
 * ones there: what they are divided by has the same rounding.
 *
 * Keys and values have a panel each, 17 KB for heads of 128.  While scores are
 * made values arrive, and while values are added up the next keys do.  Lines
 * are 16 bytes longer than what they hold, so that the eight of an ldmatrix lie
 * in different banks.  Keys that the mask hides from all rows of a tile are not
 * read; one that hides nothing is not looked at (gb_attention_block_mask).
 *
 * Limits: instructions, a third of them for exponentials, twelve each; and
 * registers, by which two thread blocks are resident.
 */
#ifndef GB_CUDA_KERNELS_MMAATTENTION_CUH
#define GB_CUDA_KERNELS_MMAATTENTION_CUH

#include "backends/cuda/kernels/attention.cuh"
#include "backends/cuda/kernels/mma.cuh"

#define GB_MMA_ROWS    64 /* of a tile */
#define GB_MMA_THREADS 128
#define GB_MMA_ROOM    0x1p+15f /* of exponentials, up to f16's range */
#define GB_LOG2_E      1.44269504f
#define GB_LN_2        0.693147181f

/*
 * Heads of up to so many elements: keys taken at a time, halves from line to
 * line.  Queries of long heads stay in shared memory, where registers would not
 * do; those of others lie there before there are keys.
 */
template <int size_, bool is_8_>
struct gb_mma_head {
    static constexpr int size = size_;
    static constexpr bool is_8 = is_8_;
    static constexpr bool has_lines = size > 128;
    static constexpr int keys = !has_lines ? 64 : is_8 ? 32 : 16;
    static constexpr int pitch = size + 8;
    static constexpr int fragments = has_lines ? 1 : size / 16; /* of queries */

    struct panel {
        alignas(16) uint16_t lines[keys][pitch];
    };
    struct panels {
        panel k, v;
        uint16_t queries[has_lines ? GB_MMA_ROWS : 1][pitch];
    };
};

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

GB_DEVICE uint32_t
gb_mma_pair(float low, float high)
{
    return gb_f16_of(low).bits | (uint32_t)gb_f16_of(high).bits << 16;
}

/* 1 / x for a power of two from 2^-126 to 2^126. */
GB_DEVICE float
gb_mma_inverse(float x)
{
    return gb_float_of_bits((254u << 23) - gb_bits_of_float(x));
}

/* The larger one; a NaN if one of them is. */
GB_DEVICE float
gb_mma_larger(float a, float b)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    float result;

    asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
#else
    return a > b || a != a ? a : b;
#endif
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

/* The two rows of which a lane has scores: L / 4 of its warp's, and 8 more.
 * Scores are multiples of ln 2. */
struct gb_mma_rows {
    float max[2];
    float scale[2]; /* of what tensor cores give */
    float slope[2];
    int64_t mask[2]; /* offset of their values */
};

/* The number of row I of the warp's 16, the last one for those behind it. */
GB_DEVICE int64_t
gb_mma_row_of(const gb_cuda_attention_args &a, const gb_attention_tile &t,
              int i)
{
    const int64_t row = t.first_row + gb_warp() * 16 + i;

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

/*
 * N of the warp's rows of queries from FIRST on into LINES, as many lanes as
 * there are a row; all of them are on their way at once.
 */
template <typename head, int n>
GB_DEVICE void
gb_mma_load_queries(const gb_cuda_attention_args &a, const gb_attention_tile &t,
                    int first, uint16_t *lines, gb_mma_rows &rows)
{
    constexpr int pitch = head::pitch;
    const float scale = a.softcap != 0.0f ? a.scale : a.scale * GB_LOG2_E;
    float values[n][head::size / 32];

    GB_UNROLL
    for (int i = 0; i < n; i++) {
        const gb_attention_query q =
            gb_query_of(a, t, gb_mma_row_of(a, t, first + i));
        const float *const from =
            (const float *)(a.q.data + q.token * a.q.nb[1] +
                            q.head * a.q.nb[2] + t.batch * a.q.nb[3]);

        GB_UNROLL
        for (int j = 0; j < head::size / 32; j++) {
            const int at = gb_lane() + 32 * j;

            values[i][j] = at < t.width ? from[at] : 0.0f;
        }
    }
    GB_UNROLL
    for (int i = 0; i < n; i++) {
        gb_f16 *const to =
            (gb_f16 *)lines + (gb_warp() * 16 + first + i) * pitch;
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
        GB_UNROLL
        for (int j = 0; j < 2; j++)
            if (first + i == gb_lane() / 4 + 8 * j)
                rows.scale[j] = scale * gb_mma_inverse(factor);
    }
}

/* Where a lane's part of the warp's fragments of queries begins. */
template <typename head>
GB_DEVICE const uint16_t *
gb_mma_query_line(const uint16_t *lines)
{
    return lines + (gb_warp() * 16 + gb_lane() % 16) * head::pitch +
           gb_lane() / 16 * 8;
}

/* The warp's queries into shared memory, and as fragments from there; all
 * threads of the block. */
template <typename head>
GB_DEVICE void
gb_mma_take_queries(const gb_cuda_attention_args &a, const gb_attention_tile &t,
                    typename head::panels &s, gb_mma_rows &rows,
                    uint32_t q[head::fragments][4])
{
    constexpr int n = head::has_lines ? 4 : 8;
    uint16_t *const lines =
        head::has_lines ? &s.queries[0][0] : &s.k.lines[0][0];

    gb_sync();
    GB_DO_NOT_UNROLL
    for (int first = 0; first < 16; first += n)
        gb_mma_load_queries<head, n>(a, t, first, lines, rows);
    gb_warp_sync();
    if constexpr (!head::has_lines)
        GB_UNROLL
        for (int i = 0; i < head::fragments; i++)
            gb_ldmatrix_x4(q[i], gb_mma_query_line<head>(lines) + 16 * i);
    gb_sync();
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
                 const float *factors, const gb_attention_tile &t)
{
    const int64_t head =
        gb_quotient(t.first_head, gb_quotient(a.q.ne[2], of.ne[2]));
    const int64_t batch =
        gb_quotient(t.batch, gb_quotient(a.q.ne[3], of.ne[3]));
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
 * Lines of the keys from FIRST on, a piece of 16 bytes a thread at a time;
 * zeros behind END and behind a head's elements.  Before 8.0 four pieces are in
 * registers at once, so that their loads are on their way together.
 */
template <typename head>
GB_DEVICE void
gb_mma_load_lines(typename head::panel &to,
                  const gb_mma_matrix &m, int64_t first, int64_t end, int d)
{
    constexpr int pieces = head::size / 8, step = GB_MMA_THREADS / pieces;
    constexpr int rounds = head::keys / step;
    const int at = gb_thread() % pieces * 8, line = gb_thread() / pieces;
    const int n = at < d ? (int)(end - first < 64 ? end - first : 64) : 0;
    const char *from = m.data + (first + line) * m.stride + 2 * at;

    if constexpr (head::is_8) {
        GB_UNROLL
        for (int i = 0; i < rounds; i++, from += step * m.stride) {
            const bool is_inside = line + i * step < n;

            gb_copy_async_16(&to.lines[line + i * step][at],
                             is_inside ? from : m.data, is_inside ? 16 : 0);
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

/* What a tile has of one step through the keys. */
template <typename head>
GB_DEVICE void
gb_mma_find_scores(const typename head::panels &s,
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
            gb_ldmatrix_x4(of_line,
                           gb_mma_query_line<head>(&s.queries[0][0]) + 16 * i);
        GB_UNROLL
        for (int j = 0; j < keys / 16; j++) {
            uint32_t b[4];

            gb_ldmatrix_x4(b, &s.k.lines[16 * j + line][16 * i + at]);
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
gb_mma_mask_pair(const char *from, bool is_paired, int n, int end)
{
    const uint16_t *const two = (const uint16_t *)from + n;

    if (n + 1 < end)
        return is_paired ? *(const uint32_t *)two
                         : two[0] | (uint32_t)two[1] << 16;
    return n < end ? two[0] : 0;
}

/* N keys at the mask's offset AT; the loads of a row are on their way at
 * once. */
template <int keys>
GB_DEVICE void
gb_mma_add_mask(const gb_cuda_attention_args &a, const gb_mma_rows &rows,
                int64_t at, int n, float z[keys / 8][4])
{
    GB_UNROLL
    for (int i = 0; i < 2; i++) {
        const char *const from = a.mask.data + rows.mask[i] + at;

        GB_UNROLL
        for (int j = 0; j < keys / 8; j++) {
            const uint32_t two = gb_mma_mask_pair(
                from, a.mask_is_paired, 8 * j + gb_lane() % 4 * 2, n);
            float *const of = &z[j][2 * i];

            of[0] = gb_fma(rows.slope[i], gb_float(gb_f16{ (uint16_t)two }),
                           of[0]);
            of[1] = gb_fma(rows.slope[i],
                           gb_float(gb_f16{ (uint16_t)(two >> 16) }), of[1]);
        }
        gb_warp_sync();
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
                gb_mma_pair(gb_mma_exp2(z[j][2 * i] - shift),
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
            p[i][j] = gb_mma_pair(
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

/* Results of a lane's rows: into dst, divided by the sum of the exponentials,
 * which is 0 where the mask hides all keys; or as they are for the join. */
template <typename head>
GB_DEVICE void
gb_mma_store_row(const gb_cuda_attention_args &a, const gb_attention_tile &t,
                 const gb_mma_rows &rows, const gb_mma_sums<head> &sums, int i)
{
    const int64_t row =
        t.first_row + gb_warp() * 16 + gb_lane() / 4 + 8 * i;
    const float sum = sums.of_exponentials[2 * i];
    const float unit = gb_mma_inverse(sums.factor) *
                       (a.v_factors == nullptr ? 1.0f : 1.0f / GB_MMA_ROOM);
    float factor = sum > 0.0f ? unit / sum : 0.0f;
    int64_t result;
    float *to;

    if (row >= a.rows)
        return;
    result = gb_result_of(a, t, gb_query_of(a, t, row));
    to = a.dst + result * t.width;
    if (a.n_parts > 1) {
        const int64_t n_rows = a.q.ne[1] * a.q.ne[2] * a.q.ne[3];

        to = a.parts + (t.part * n_rows + result) * (t.width + 2);
        if (gb_lane() % 4 == 0) {
            to[0] = rows.max[i] * GB_LN_2;
            to[1] = sum;
        }
        to += 2;
        factor = unit;
    }
    GB_UNROLL
    for (int j = 0; j < head::size / 4; j++) {
        const int at = j / 2 * 8 + gb_lane() % 4 * 2 + j % 2;

        if (at < t.width)
            to[at] = sums.at[j / 2][2 * i + j % 2] * factor;
    }
}

/* ---- a tile ---- */

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

/* From the scores of keys from FIRST on to exponentials. */
template <typename head>
GB_DEVICE void
gb_mma_weigh(const gb_cuda_attention_args &a, const gb_attention_tile &t,
             const uint8_t *block_mask, const gb_mma_matrix &k, int64_t first,
             gb_mma_rows &rows, float z[head::keys / 8][4],
             uint32_t p[head::keys / 16][4], float factors[2])
{
    constexpr int keys = head::keys;
    const int n = t.end_key - first < keys ? (int)(t.end_key - first) : keys;
    const float factor =
        k.factors == nullptr
            ? 1.0f
            : gb_mma_inverse(gb_mma_factor_of(k, first));

    gb_mma_scale_scores<keys>(a, rows, factor, z);
    if (a.block_mask != nullptr &&
        block_mask[first / GB_CUDA_MASK_KEYS] != GB_CUDA_SEES_ALL)
        gb_mma_add_mask<keys>(a, rows, 2 * first, n, z);
    if (n < keys)
        gb_mma_hide<keys>(n, z);
    gb_mma_take_softmax<keys>(rows, z, p, factors);
}

/*
 * All keys of a tile.  Behind the first barrier of a step its keys are there
 * and nobody uses values any more; behind the second one, values and keys.
 */
template <typename head>
GB_DEVICE void
gb_mma_go_through(const gb_cuda_attention_args &a, const gb_attention_tile &t,
                  typename head::panels &s,
                  const uint32_t q[head::fragments][4], gb_mma_rows &rows,
                  gb_mma_sums<head> &sums)
{
    constexpr int keys = head::keys;
    const gb_mma_matrix k = gb_mma_matrix_of(a, a.k, a.k_factors, t);
    const gb_mma_matrix v = gb_mma_matrix_of(a, a.v, a.v_factors, t);
    const uint8_t *const block_mask =
        a.block_mask + t.first_row / GB_MMA_ROWS * a.key_tiles;
    int64_t first = gb_mma_next_seen(a, block_mask, t, t.first_key, keys);

    if (first < t.end_key)
        gb_mma_load_lines<head>(s.k, k, first, t.end_key, t.width);
    while (first < t.end_key) {
        const int64_t next =
            gb_mma_next_seen(a, block_mask, t, first + keys, keys);
        float z[keys / 8][4], factors[2], change = 1.0f, rest = 1.0f;
        uint32_t p[keys / 16][4];

        gb_copy_async_wait<0>(); /* keys */
        gb_sync();
        gb_mma_load_lines<head>(s.v, v, first, t.end_key, t.width);
        gb_mma_find_scores<head>(s, q, t.width, z);
        gb_mma_weigh<head>(a, t, block_mask, k, first, rows, z, p, factors);
        if (v.factors != nullptr)
            rest = gb_mma_join_factors(gb_mma_factor_of(v, first),
                                       &sums.factor, &change);
        gb_mma_change_sums<head>(sums, factors, change);
        gb_mma_sum_exponentials<head>(sums, rest, p);
        gb_copy_async_wait<0>(); /* values */
        gb_sync();
        if (next < t.end_key)
            gb_mma_load_lines<head>(s.k, k, next, t.end_key, t.width);
        gb_mma_add_values<head>(s.v, p, t.width, sums);
        first = next;
    }
}

template <typename head>
GB_DEVICE void
gb_mma_attend(const gb_cuda_attention_args &a)
{
    typedef typename head::panels panels;
    GB_DYNAMIC_SHARED(panels, s);

    for (int64_t n = gb_block(); n < a.n_tiles; n += gb_n_blocks()) {
        const gb_attention_tile t = gb_tile_of(a, n, GB_MMA_ROWS, head::size);
        gb_mma_sums<head> sums = {};
        gb_mma_rows rows;
        uint32_t q[head::fragments][4];

        gb_mma_begin_rows(a, t, rows);
        sums.factor = a.v_factors == nullptr ? 1.0f : gb_power_of_2(126);
        gb_mma_take_queries<head>(a, t, *s, rows, q);
        gb_mma_go_through<head>(a, t, *s, q, rows, sums);
        GB_UNROLL
        for (int i = 0; i < 2; i++)
            gb_mma_store_row<head>(a, t, rows, sums, i);
    }
}

#endif
