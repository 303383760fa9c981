/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/matrixattention.cuh - attention on matrix cores (MFMA, WMMA), for
 * heads of up to 256 elements, a multiple of 8, and keys and values in f16.
 *
 * A wave of 64 lanes has 32 rows of queries, one of 32 lanes 16.  Both products
 * are turned around: scores have one row for each key and one column for each
 * query, results one row for each element and one column for each query.  So all
 * scores of a lane are of one query, or two, and what a lane has of the first
 * product is what it needs of the second; on RDNA 3 together with the lane 16
 * further.
 *
 * Keys lie in shared memory as they are, values with one line for each element: two
 * keys' halves in a word, in the order in which a lane has scores.  While scores are
 * made values arrive in registers, and while values are added up the next keys.
 * A line is 16 bytes longer than what it holds, so that eight lanes load from
 * different banks.
 */
#ifndef GB_CUDA_KERNELS_MATRIXATTENTION_CUH
#define GB_CUDA_KERNELS_MATRIXATTENTION_CUH

#include "backends/cuda/kernels/halfattention.cuh"
#include "backends/cuda/kernels/matrix.cuh"

/*
 * Queries of long heads stay in shared memory where registers would not do;
 * those of others lie there before there are keys.  Keys and values have one
 * panel in turn where there is no room for two.
 */
template <int size_, int threads_, int keys_>
struct gb_matrix_head {
    static constexpr int size = size_; /* of the longest head */
    static constexpr int threads = threads_;
    static constexpr bool has_lines = GB_WARP == 32 && size > 64;
    static constexpr bool has_one = has_lines && size > 128;
    static constexpr int keys = has_lines ? 32 : keys_; /* of a panel */
    static constexpr int queries = GB_WARP / 32; /* sixteens, of a wave */
    static constexpr int rows = threads / 2;
    static constexpr int steps = size / 32;
    static constexpr int kept = has_lines ? 1 : steps; /* in registers */
    static constexpr int pieces = size / 8; /* of a key */
    static constexpr int loads = keys * pieces / threads;
    /* Pieces from line to line. */
    static constexpr int pitch = pieces + 1;
    static constexpr int value_pitch = keys / 8 + 1;
    static constexpr int values_at = has_one ? 0 : keys * pitch;
    static constexpr int queries_at =
        !has_lines ? 0
        : has_one  ? size * value_pitch
                   : keys * pitch + size * value_pitch;

    static_assert(loads >= 2, "values come in pairs of keys");

    /* Element AT of a query. */
    GB_DEVICE uint16_t *
    place(uint16_t *lines, int line, int at)
    {
        return lines + line * pitch * 8 + at;
    }
};

/* Of a lane's queries. */
template <typename head>
struct gb_matrix_rows {
    float max[head::queries];
    float scale[head::queries]; /* of products */
    float slope[head::queries];
    int64_t mask[head::queries]; /* offset of their values */
};

template <typename head>
struct gb_matrix_results {
    float at[head::queries][head::size / 16][GB_MATRIX_SUMS];
    float of_exponentials[head::queries]; /* of this lane's keys */
    float factor; /* what values were multiplied by */
};

/* Scores of a panel's keys, and their exponentials, two in a word. */
template <typename head>
struct gb_matrix_scores {
    float at[head::queries][head::keys / 16][GB_MATRIX_SUMS];
};

template <typename head>
struct gb_matrix_weights {
    uint32_t at[head::queries][head::keys / 16][GB_MATRIX_SUMS / 2];
};

/* This lane's share of 32 elements or keys of its line. */
template <typename head>
GB_DEVICE gb_matrix_share
gb_matrix_take_share(const gb_piece *lines, int line, int step)
{
    gb_matrix_share share;

    GB_UNROLL
    for (int i = 0; i < gb_matrix_pieces(); i++)
        gb_matrix_set(
            share, i,
            lines[line * head::pitch + 4 * step + gb_matrix_piece(i)]);
    return share;
}

/* ---- queries ---- */

template <typename head>
GB_DEVICE void
gb_matrix_begin_rows(const gb_cuda_attention_args &a,
                     const gb_attention_tile &t, gb_matrix_rows<head> &rows)
{
    GB_UNROLL
    for (int i = 0; i < head::queries; i++) {
        const gb_attention_query q =
            gb_query_of(a, t, gb_mma_row_of(a, t, 16 * i + gb_lane() % 16));

        rows.max[i] = -GB_INFINITY;
        rows.slope[i] =
            gb_slope_of(a.max_bias, a.q.ne[2], q.head) * GB_LOG2_E;
        rows.mask[i] = q.token * a.mask.nb[1];
    }
}

/* The wave's queries into LINES, and from there into registers; all threads of
 * the block. */
template <typename head>
GB_DEVICE void
gb_matrix_take_queries(const gb_cuda_attention_args &a,
                       const gb_attention_tile &t, gb_piece *lines,
                       gb_matrix_rows<head> &rows,
                       gb_matrix_share q[head::kept][head::queries])
{
    constexpr int n = 4;

    gb_sync();
    GB_DO_NOT_UNROLL
    for (int first = 0; first < 16 * head::queries; first += n) {
        const char *from[n];
        float inverses[n];

        GB_UNROLL
        for (int i = 0; i < n; i++)
            from[i] = gb_mma_query_of(a, t, first + i);
        gb_mma_load_queries<head, n>(from, t.width, (uint16_t *)lines, first,
                                     inverses);
        GB_UNROLL
        for (int i = 0; i < n; i++)
            GB_UNROLL
            for (int j = 0; j < head::queries; j++)
                if (first + i == 16 * j + gb_lane() % 16)
                    rows.scale[j] = gb_mma_scale_of(a) * inverses[i];
    }
    gb_warp_sync();
    if constexpr (!head::has_lines)
        GB_UNROLL
        for (int i = 0; i < head::kept; i++)
            GB_UNROLL
            for (int j = 0; j < head::queries; j++)
                q[i][j] = gb_matrix_take_share<head>(
                    lines, 16 * j + gb_lane() % 16, i);
    gb_sync();
}

/* ---- keys and values into shared memory ---- */

/* Sixteen bytes of key or value I of those from FIRST on, of which there are N;
 * zeros for others, and behind D.  Something is read in any case. */
GB_DEVICE gb_piece
gb_matrix_fetch(const gb_mma_matrix &m, int64_t first, int i, int n, int at,
                int d)
{
    const bool is_there = i < n && at < d;
    gb_piece piece = gb_load_16(m.data + (first + (i < n ? i : 0)) * m.stride +
                                2 * (at < d ? at : 0));

    GB_UNROLL
    for (int j = 0; j < 4; j++)
        piece.words[j] = is_there ? piece.words[j] : 0;
    return piece;
}

/* The pieces of the keys from FIRST on that this thread brings. */
template <typename head>
GB_DEVICE void
gb_matrix_fetch_keys(const gb_mma_matrix &m, int64_t first, int n, int d,
                     gb_piece out[head::loads])
{
    const int line = gb_thread() / head::pieces;
    const int at = gb_thread() % head::pieces * 8;

    GB_UNROLL
    for (int i = 0; i < head::loads; i++)
        out[i] = gb_matrix_fetch(
            m, first, line + i * (head::threads / head::pieces), n, at, d);
}

template <typename head>
GB_DEVICE void
gb_matrix_store_keys(gb_piece *panel, const gb_piece pieces[head::loads])
{
    const int line = gb_thread() / head::pieces;
    const int at = gb_thread() % head::pieces;

    GB_UNROLL
    for (int i = 0; i < head::loads; i++)
        panel[(line + i * (head::threads / head::pieces)) * head::pitch + at] =
            pieces[i];
}

/* The first key of word N of an element's line; the second is the next, or the
 * one after that. */
GB_DEVICE int
gb_matrix_key_of(int n)
{
    const int first = n / 16 * 32, word = n % 16;

    if (GB_MATRIX_SHARES == 4)
        return first + word % 4 / 2 * 16 + word / 4 * 4 + word % 2 * 2;
    if (GB_MATRIX_SHARES == 1)
        return first + word / 8 * 16 + word % 4 * 4 + word % 8 / 4;
    return first + 2 * word;
}

GB_DEVICE int
gb_matrix_keys_apart()
{
    return GB_MATRIX_SHARES == 1 ? 2 : 1;
}

/* Which piece of values, and which word of lines, this thread brings as its
 * number I: four neighbouring pieces, eight words, then the others. */
template <typename head>
GB_DEVICE int
gb_matrix_value_at(int i)
{
    const int n = gb_thread() + i * head::threads;

    return (n % 4 + n / 32 % (head::pieces / 4) * 4) * 8;
}

template <typename head>
GB_DEVICE int
gb_matrix_value_word(int i)
{
    const int n = gb_thread() + i * head::threads;

    return n / 4 % 8 + n / (8 * head::pieces) * 8;
}

template <typename head>
GB_DEVICE void
gb_matrix_fetch_values(const gb_mma_matrix &m, int64_t first, int n, int d,
                       gb_piece out[head::loads])
{
    GB_UNROLL
    for (int i = 0; i < head::loads / 2; i++) {
        const int at = gb_matrix_value_at<head>(i);
        const int key = gb_matrix_key_of(gb_matrix_value_word<head>(i));

        out[2 * i] = gb_matrix_fetch(m, first, key, n, at, d);
        out[2 * i + 1] = gb_matrix_fetch(
            m, first, key + gb_matrix_keys_apart(), n, at, d);
    }
}

template <typename head>
GB_DEVICE void
gb_matrix_store_values(gb_piece *panel, const gb_piece pieces[head::loads])
{
    GB_UNROLL
    for (int i = 0; i < head::loads / 2; i++) {
        const int at = gb_matrix_value_at<head>(i);
        const int word = gb_matrix_value_word<head>(i);
        const gb_piece &a = pieces[2 * i], &b = pieces[2 * i + 1];

        GB_UNROLL
        for (int j = 0; j < 8; j++)
            panel[(at + j) * head::value_pitch + word / 4].words[word % 4] =
                j % 2 == 0 ? (a.words[j / 2] & 0xffff) | b.words[j / 2] << 16
                           : a.words[j / 2] >> 16 |
                                 (b.words[j / 2] & 0xffff0000u);
    }
}

/* ---- scores ---- */

template <typename head>
GB_DEVICE void
gb_matrix_find_scores(const gb_piece *k, const gb_piece *lines,
                      const gb_matrix_share q[head::kept][head::queries],
                      int d, gb_matrix_scores<head> &z)
{
    GB_UNROLL
    for (int step = 0; step < head::steps; step++) {
        gb_matrix_share of_line[head::queries];

        if (32 * step >= d)
            break;
        GB_UNROLL
        for (int i = 0; i < head::queries; i++)
            of_line[i] = head::has_lines
                             ? gb_matrix_take_share<head>(
                                   lines, 16 * i + gb_lane() % 16, step)
                             : q[step % head::kept][i];
        GB_UNROLL
        for (int j = 0; j < head::keys / 16; j++) {
            const gb_matrix_share keys = gb_matrix_take_share<head>(
                k, 16 * j + gb_lane() % 16, step);

            GB_UNROLL
            for (int i = 0; i < head::queries; i++)
                gb_matrix_multiply_f16::multiply(z.at[i][j], keys, of_line[i]);
        }
    }
}

/* The number of a panel's key that score I of sixteen number J is of. */
GB_DEVICE int
gb_matrix_key(int j, int i)
{
    return 16 * j + gb_matrix_row(i);
}

/* Scores times their scales and FACTOR, below the softcap. */
template <typename head>
GB_DEVICE void
gb_matrix_scale_scores(const gb_cuda_attention_args &a,
                       const gb_matrix_rows<head> &rows, float factor,
                       gb_matrix_scores<head> &z)
{
    GB_UNROLL
    for (int i = 0; i < head::queries; i++)
        GB_UNROLL
        for (int j = 0; j < head::keys / 16; j++)
            GB_UNROLL
            for (int e = 0; e < GB_MATRIX_SUMS; e++)
                z.at[i][j][e] *= rows.scale[i] * factor;
    if (a.softcap == 0.0f)
        return;
    GB_UNROLL
    for (int i = 0; i < head::queries; i++)
        GB_UNROLL
        for (int j = 0; j < head::keys / 16; j++)
            GB_UNROLL
            for (int e = 0; e < GB_MATRIX_SUMS; e++)
                z.at[i][j][e] =
                    a.softcap * GB_LOG2_E * gb_tanh(z.at[i][j][e]);
}

/* Add the mask's values from its offset AT on, of which there are N. */
template <typename head>
GB_DEVICE void
gb_matrix_add_mask(const gb_cuda_attention_args &a,
                   const gb_matrix_rows<head> &rows, int64_t at, int n,
                   gb_matrix_scores<head> &z)
{
    GB_UNROLL
    for (int i = 0; i < head::queries; i++) {
        const gb_f16 *const mask =
            (const gb_f16 *)(a.mask.data + rows.mask[i] + at);

        GB_UNROLL
        for (int j = 0; j < head::keys / 16; j++) {
            GB_UNROLL
            for (int e = 0; e < GB_MATRIX_SUMS; e++) {
                const int key = gb_matrix_key(j, e);

                z.at[i][j][e] =
                    gb_fma(rows.slope[i], gb_float(mask[key < n ? key : 0]),
                           z.at[i][j][e]);
            }
            gb_warp_sync(); /* no registers for all at once */
        }
    }
}

/* There are N keys. */
template <typename head>
GB_DEVICE void
gb_matrix_hide(int n, gb_matrix_scores<head> &z)
{
    GB_UNROLL
    for (int i = 0; i < head::queries; i++)
        GB_UNROLL
        for (int j = 0; j < head::keys / 16; j++)
            GB_UNROLL
            for (int e = 0; e < GB_MATRIX_SUMS; e++)
                z.at[i][j][e] =
                    gb_matrix_key(j, e) < n ? z.at[i][j][e] : -GB_INFINITY;
}

/* Exponentials of scores, and the factors for what belongs to the maxima before,
 * which are 1 where these stay. */
template <typename head>
GB_DEVICE void
gb_matrix_take_softmax(gb_matrix_rows<head> &rows,
                       const gb_matrix_scores<head> &z,
                       gb_matrix_weights<head> &p, float factors[head::queries])
{
    GB_UNROLL
    for (int i = 0; i < head::queries; i++) {
        const float before = rows.max[i];
        float max = before, shift;

        GB_UNROLL
        for (int j = 0; j < head::keys / 16; j++)
            GB_UNROLL
            for (int e = 0; e < GB_MATRIX_SUMS; e++)
                max = gb_mma_larger(max, z.at[i][j][e]);
        GB_UNROLL
        for (int mask = 16; mask < GB_WARP; mask *= 2)
            max = gb_mma_larger(max, gb_shuffle_xor(max, mask));
        /* Nothing seen up to now: all exponentials are those of -infinity. */
        shift = max == -GB_INFINITY ? 0.0f : max;
        rows.max[i] = max;
        factors[i] = max == before ? 1.0f : gb_mma_exp2(before - shift);
        GB_UNROLL
        for (int j = 0; j < head::keys / 16; j++)
            GB_UNROLL
            for (int e = 0; e < GB_MATRIX_SUMS; e += 2)
                p.at[i][j][e / 2] =
                    gb_f16_pair(gb_mma_exp2(z.at[i][j][e] - shift),
                                gb_mma_exp2(z.at[i][j][e + 1] - shift));
    }
}

/* ---- values ---- */

/* What was summed up to now belongs to other maxima, and to values with another
 * factor; most often to the same. */
template <typename head>
GB_DEVICE void
gb_matrix_change_results(gb_matrix_results<head> &results,
                         const float factors[head::queries], float other)
{
    GB_UNROLL
    for (int i = 0; i < head::queries; i++) {
        if (factors[i] == 1.0f && other == 1.0f)
            continue;
        results.of_exponentials[i] *= factors[i];
        GB_UNROLL
        for (int j = 0; j < head::size / 16; j++)
            GB_UNROLL
            for (int e = 0; e < GB_MATRIX_SUMS; e++)
                results.at[i][j][e] *= factors[i] * other;
    }
}

/* Exponentials as they were rounded, added to the sums, and times FACTOR. */
template <typename head>
GB_DEVICE void
gb_matrix_sum_exponentials(gb_matrix_results<head> &results, float factor,
                           gb_matrix_weights<head> &p)
{
    GB_UNROLL
    for (int i = 0; i < head::queries; i++)
        GB_UNROLL
        for (int j = 0; j < head::keys / 16; j++)
            GB_UNROLL
            for (int e = 0; e < GB_MATRIX_SUMS / 2; e++) {
                const uint32_t pair = p.at[i][j][e];
                const float low = gb_float(gb_f16{ (uint16_t)pair });
                const float high = gb_float(gb_f16{ (uint16_t)(pair >> 16) });

                results.of_exponentials[i] += low + high;
                if (factor != 1.0f)
                    p.at[i][j][e] = gb_f16_pair(low * factor, high * factor);
            }
}

/* A lane's share of 32 keys' exponentials, from those that it has; on RDNA 3 the
 * other half of the keys is with the lane 16 further. */
GB_DEVICE gb_matrix_share
gb_matrix_share_of(const uint32_t own[2][GB_MATRIX_SUMS / 2])
{
    constexpr int n = GB_MATRIX_SUMS / 2;
    gb_matrix_share share;

    if (GB_MATRIX_SHARES == 1) {
        GB_UNROLL
        for (int j = 0; j < 2; j++)
            GB_UNROLL
            for (int e = 0; e < n; e++) {
                const uint32_t other = gb_shuffle_xor(own[j][e], 16);
                const bool is_first = gb_lane() < 16;

                share.words[2 * n * j + e] = is_first ? own[j][e] : other;
                share.words[2 * n * j + n + e] = is_first ? other : own[j][e];
            }
    } else {
        GB_UNROLL
        for (int j = 0; j < 2; j++)
            GB_UNROLL
            for (int e = 0; e < n; e++)
                share.words[n * j + e] = own[j][e];
    }
    return share;
}

/* Values times exponentials. */
template <typename head>
GB_DEVICE void
gb_matrix_add_values(const gb_piece *v, const gb_matrix_weights<head> &p, int d,
                     gb_matrix_results<head> &results)
{
    GB_UNROLL
    for (int step = 0; step < head::keys / 32; step++) {
        gb_matrix_share weights[head::queries];

        GB_UNROLL
        for (int i = 0; i < head::queries; i++)
            weights[i] = gb_matrix_share_of(&p.at[i][2 * step]);
        GB_UNROLL
        for (int j = 0; j < head::size / 16; j++) {
            gb_matrix_share values;

            if (16 * j >= d)
                break;
            GB_UNROLL
            for (int i = 0; i < gb_matrix_pieces(); i++)
                gb_matrix_set(
                    values, i,
                    v[(16 * j + gb_lane() % 16) * head::value_pitch + 4 * step +
                      gb_matrix_piece(i)]);
            GB_UNROLL
            for (int i = 0; i < head::queries; i++)
                gb_matrix_multiply_f16::multiply(results.at[i][j], values,
                                                 weights[i]);
        }
    }
}

/* ---- results ---- */

/* Of all lanes that have the same query. */
GB_DEVICE float
gb_matrix_sum_of(float sum)
{
    GB_UNROLL
    for (int mask = 16; mask < GB_WARP; mask *= 2)
        sum += gb_shuffle_xor(sum, mask);
    return sum;
}

/* Those of a lane's query I: into dst, divided by the sum of the exponentials,
 * which is 0 where the mask hides all keys; or as they are for the join. */
template <typename head>
GB_DEVICE void
gb_matrix_store_query(const gb_cuda_attention_args &a,
                      const gb_attention_tile &t,
                      const gb_matrix_rows<head> &rows,
                      const gb_matrix_results<head> &results, int i)
{
    const int64_t row = t.first_row + 16 * i + gb_lane() % 16;
    const float sum = gb_matrix_sum_of(results.of_exponentials[i]);
    const float unit = gb_mma_inverse(results.factor) *
                       (a.v_factors == nullptr ? 1.0f : 1.0f / GB_MMA_ROOM);
    float factor = sum > 0.0f ? unit / sum : 0.0f;
    float *to;

    if (row >= a.rows)
        return;
    to = gb_mma_place_of(a, t, gb_query_of(a, t, row));
    if (a.n_parts > 1) {
        if (gb_lane() < 16)
            gb_mma_store_weight(to, rows.max[i], sum);
        factor = unit;
    }
    /* Four sums are inside or outside together: widths are multiples of 8. */
    GB_UNROLL
    for (int j = 0; j < head::size / 16; j++)
        GB_UNROLL
        for (int e = 0; e < GB_MATRIX_SUMS; e += 4)
            if (gb_matrix_key(j, e) < t.width)
                GB_UNROLL
                for (int l = e; l < e + 4; l++)
                    to[gb_matrix_key(j, l)] = results.at[i][j][l] * factor;
}

/* ---- a tile ---- */

/* Keys of a panel from FIRST on. */
template <typename head>
GB_DEVICE int
gb_matrix_count(int64_t first, int64_t end)
{
    return end - first < head::keys ? (int)(end - first) : head::keys;
}

/* All keys of a tile.  Behind the first barrier of a step its keys are there and
 * nobody uses values any more; behind the second one, values and keys. */
template <typename head>
GB_DEVICE void
gb_matrix_go_through(const gb_cuda_attention_args &a,
                     const gb_attention_tile &t, gb_piece *s,
                     const uint8_t *block_mask, const gb_piece *lines,
                     const gb_matrix_share q[head::kept][head::queries],
                     gb_matrix_rows<head> &rows,
                     gb_matrix_results<head> &results)
{
    constexpr int keys = head::keys;
    const gb_mma_matrix k = gb_mma_matrix_of(a, a.k, a.of_k, a.k_factors, t);
    const gb_mma_matrix v = gb_mma_matrix_of(a, a.v, a.of_v, a.v_factors, t);
    int64_t first = gb_mma_next_seen(a, block_mask, t, t.first_key, keys);
    gb_piece pieces[head::loads];

    if (first < t.end_key)
        gb_matrix_fetch_keys<head>(
            k, first, gb_matrix_count<head>(first, t.end_key), t.width, pieces);
    while (first < t.end_key) {
        const int64_t next =
            gb_mma_next_seen(a, block_mask, t, first + keys, keys);
        const int n = gb_matrix_count<head>(first, t.end_key);
        float factors[head::queries], change = 1.0f, rest = 1.0f;
        gb_matrix_scores<head> z = {};
        gb_matrix_weights<head> p;

        if constexpr (head::has_one)
            gb_sync(); /* nobody uses values any more */
        gb_matrix_store_keys<head>(s, pieces);
        gb_sync();
        if constexpr (!head::has_one)
            gb_matrix_fetch_values<head>(v, first, n, t.width, pieces);
        gb_matrix_find_scores<head>(s, lines, q, t.width, z);
        gb_matrix_scale_scores<head>(
            a, rows,
            k.factors == nullptr ? 1.0f
                                 : gb_mma_inverse(gb_mma_factor_of(k, first)),
            z);
        if (a.block_mask != nullptr &&
            block_mask[first / GB_CUDA_MASK_KEYS] != GB_CUDA_SEES_ALL)
            gb_matrix_add_mask<head>(a, rows, 2 * first, n, z);
        if (n < keys)
            gb_matrix_hide<head>(n, z);
        gb_matrix_take_softmax<head>(rows, z, p, factors);
        if (v.factors != nullptr)
            rest = gb_mma_join_factors(gb_mma_factor_of(v, first),
                                       &results.factor, &change);
        gb_matrix_change_results<head>(results, factors, change);
        gb_matrix_sum_exponentials<head>(results, rest, p);
        if constexpr (head::has_one) {
            gb_sync();
            gb_matrix_fetch_values<head>(v, first, n, t.width, pieces);
        }
        gb_matrix_store_values<head>(s + head::values_at, pieces);
        gb_sync();
        if (next < t.end_key)
            gb_matrix_fetch_keys<head>(
                k, next, gb_matrix_count<head>(next, t.end_key), t.width,
                pieces);
        gb_matrix_add_values<head>(s + head::values_at, p, t.width, results);
        first = next;
    }
}

template <typename head>
GB_DEVICE void
gb_matrix_attend(const gb_cuda_attention_args &a)
{
    GB_DYNAMIC_SHARED(gb_piece, s);

    for (int64_t n = gb_block(); n < a.n_tiles; n += gb_n_blocks()) {
        gb_attention_tile t = gb_tile_of(a, n, head::rows, head::size);
        const uint8_t *const block_mask =
            a.block_mask + t.first_row / head::rows * a.key_tiles;
        gb_piece *const lines =
            s + head::queries_at + gb_warp() * 16 * head::queries * head::pitch;
        gb_matrix_results<head> results = {};
        gb_matrix_rows<head> rows;
        gb_matrix_share q[head::kept][head::queries];

        t.first_row += gb_warp() * 16 * head::queries; /* the wave's */
        gb_matrix_begin_rows(a, t, rows);
        results.factor = a.v_factors == nullptr ? 1.0f : gb_power_of_2(126);
        gb_matrix_take_queries<head>(a, t, lines, rows, q);
        gb_matrix_go_through<head>(a, t, s, block_mask, lines, q, rows,
                                   results);
        GB_UNROLL
        for (int i = 0; i < head::queries; i++)
            gb_matrix_store_query(a, t, rows, results, i);
    }
}

#endif
