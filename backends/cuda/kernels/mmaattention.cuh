/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/mmaattention.cuh - attention on tensor cores, for heads of up to
 * 256 elements, a multiple of 8, and keys and values in f16.
 *
 * Four warps have 16 rows each (mmastep.cuh) and go through 64 keys at a time
 * (32 or 16 with heads beyond 128).
 *
 * Keys and values have a panel each, 17 KB for heads of 128.  While scores are
 * made values arrive, and while values are added up the next keys do.  Keys
 * that the mask hides from all rows of a tile are not read; one that hides
 * nothing is not looked at (gb_attention_block_mask).
 *
 * Limits: instructions, a third of them for exponentials, twelve each; and
 * registers, by which two thread blocks are resident.
 */
#ifndef GB_CUDA_KERNELS_MMAATTENTION_CUH
#define GB_CUDA_KERNELS_MMAATTENTION_CUH

#include "backends/cuda/kernels/mmastep.cuh"

#define GB_MMA_ROWS 64 /* of a tile */

/* Queries of long heads stay in shared memory, where registers would not do;
 * those of others lie there before there are keys. */
template <int size_, bool is_8_>
struct gb_mma_head : gb_mma_lines<size_> {
    static constexpr int size = size_;
    static constexpr bool is_8 = is_8_;
    static constexpr bool has_lines = size > 128;
    static constexpr int keys = !has_lines ? 64 : is_8 ? 32 : 16;
    static constexpr int pitch = gb_mma_lines<size_>::pitch;
    static constexpr int threads = 128;
    static constexpr int fragments = has_lines ? 1 : size / 16; /* of queries */

    struct panel {
        alignas(16) uint16_t lines[keys][pitch];
    };
    struct panels {
        panel k, v;
        uint16_t queries[has_lines ? GB_MMA_ROWS : 1][pitch];
    };
};

/* The warp's queries into LINES of shared memory, N at a time; all lanes. */
template <typename head, int n>
GB_DEVICE void
gb_mma_store_queries(const gb_cuda_attention_args &a,
                     const gb_attention_tile &t, uint16_t *lines,
                     gb_mma_rows &rows)
{
    GB_DO_NOT_UNROLL
    for (int first = 0; first < 16; first += n) {
        const char *from[n];
        float inverses[n];

        GB_UNROLL
        for (int i = 0; i < n; i++)
            from[i] = gb_mma_query_of(a, t, first + i);
        gb_mma_load_queries<head, n>(from, t.width, lines, first, inverses);
        GB_UNROLL
        for (int i = 0; i < n; i++)
            GB_UNROLL
            for (int j = 0; j < 2; j++)
                if (first + i == gb_lane() / 4 + 8 * j)
                    rows.scale[j] = gb_mma_scale_of(a) * inverses[i];
    }
}

/* They are there, and as fragments from there; all threads of the block. */
template <typename head>
GB_DEVICE void
gb_mma_take_queries(const gb_cuda_attention_args &a, const gb_attention_tile &t,
                    uint16_t *lines, gb_mma_rows &rows,
                    uint32_t q[head::fragments][4])
{
    gb_sync();
    gb_mma_store_queries<head, head::has_lines ? 4 : 8>(a, t, lines, rows);
    gb_warp_sync();
    if constexpr (!head::has_lines)
        gb_mma_load_fragments<head>(lines, q);
    gb_sync();
}

/* Results of a lane's rows: into dst, divided by the sum of the exponentials,
 * which is 0 where the mask hides all keys; or as they are for the join. */
template <typename head>
GB_DEVICE void
gb_mma_store_row(const gb_cuda_attention_args &a, const gb_attention_tile &t,
                 const gb_mma_rows &rows, const gb_mma_sums<head> &sums, int i)
{
    const int64_t row = t.first_row + gb_lane() / 4 + 8 * i;
    const float sum = sums.of_exponentials[2 * i];
    const float unit = gb_mma_inverse(sums.factor) *
                       (a.v_factors == nullptr ? 1.0f : 1.0f / GB_MMA_ROOM);
    float factor = sum > 0.0f ? unit / sum : 0.0f;
    float *to;

    if (row >= a.rows)
        return;
    to = gb_mma_place_of(a, t, gb_query_of(a, t, row));
    if (a.n_parts > 1) {
        if (gb_lane() % 4 == 0)
            gb_mma_store_weight(to, rows.max[i], sum);
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
        GB_UNROLL
        for (int i = 0; i < 2; i++) {
            uint32_t mask[keys / 8];

            gb_mma_load_mask<keys>(a, rows, 2 * first, n, i, mask);
            gb_mma_add_mask<keys>(rows, mask, i, z);
            gb_warp_sync(); /* no registers for both rows at once */
        }
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
                  typename head::panels &s, const uint16_t *lines,
                  const uint32_t q[head::fragments][4], gb_mma_rows &rows,
                  gb_mma_sums<head> &sums)
{
    constexpr int keys = head::keys;
    const gb_mma_matrix k = gb_mma_matrix_of(a, a.k, a.of_k, a.k_factors, t);
    const gb_mma_matrix v = gb_mma_matrix_of(a, a.v, a.of_v, a.v_factors, t);
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
        gb_mma_find_scores<head>(s.k, lines, q, t.width, z);
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
        gb_attention_tile t = gb_tile_of(a, n, GB_MMA_ROWS, head::size);
        uint16_t *const lines = (head::has_lines ? &s->queries[0][0]
                                                 : &s->k.lines[0][0]) +
                                gb_warp() * 16 * head::pitch;
        gb_mma_sums<head> sums = {};
        gb_mma_rows rows;
        uint32_t q[head::fragments][4];

        t.first_row += gb_warp() * 16; /* the warp's */
        gb_mma_begin_rows(a, t, rows);
        sums.factor = a.v_factors == nullptr ? 1.0f : gb_power_of_2(126);
        gb_mma_take_queries<head>(a, t, lines, rows, q);
        gb_mma_go_through<head>(a, t, *s, lines, q, rows, sums);
        GB_UNROLL
        for (int i = 0; i < 2; i++)
            gb_mma_store_row<head>(a, t, rows, sums, i);
    }
}

#endif
