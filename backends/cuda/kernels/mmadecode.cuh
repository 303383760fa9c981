/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/mmadecode.cuh - attention of single tokens on tensor cores, for
 * keys and values in f16 whose rows are pieces of 16 bytes.
 *
 * The warps of a block have the same rows, up to 16 of heads and tokens that
 * share keys, and 16 keys each of a step (mmastep.cuh).  A warp copies its keys
 * and values into a ring of its own, two stages long, and waits for nobody but
 * itself: the next step's are on their way while it works on one, and so is the
 * mask.  Steps that the mask hides are not read.  At the end the warps' maxima
 * and sums are joined in their order.
 *
 * Limit: memory.  Little's law for an H200, where a multiprocessor gets 33
 * bytes a ns, 650 ns away: 21 KB have to be on their way.  With heads of 128 a
 * stage of a warp has keys and values of 16 keys, 8 KB, and of two stages one
 * and a half are on their way: with four warps a block and three blocks, by
 * 74 KB of shared memory and 168 registers, 147 KB.  On an A100 two are
 * resident, 98 KB of 10; with the 100 KB of shared memory of 8.6 and 8.9 one,
 * 49 KB of 6.  Two warps of heads of 256 have as many bytes as four of 128.
 *
 * A warp takes 420 instructions for 8 KB, 168 clocks of a multiprocessor; the
 * memory of an H200 takes 440.
 */
#ifndef GB_CUDA_KERNELS_MMADECODE_CUH
#define GB_CUDA_KERNELS_MMADECODE_CUH

#include "backends/cuda/kernels/mmastep.cuh"
#include "backends/cuda/kernels/q8.cuh"

#define GB_MMA_DECODE_ROWS 16 /* of a tile */

/* What the warps have summed, and what belongs to it; rows of values begin eight
 * banks apart. */
template <int warps, int size>
struct gb_mma_shares {
    float max[warps][GB_MMA_DECODE_ROWS];
    float sum[warps][GB_MMA_DECODE_ROWS]; /* of the exponentials */
    alignas(8) float values[warps][GB_MMA_DECODE_ROWS][size + 8];
};

/* Heads of up to so many elements: blocking, and a block's shared memory.
 * Queries of long ones stay there, where registers would not do. */
template <int size_>
struct gb_mma_decode_head : gb_mma_lines<size_> {
    static constexpr int size = size_;
    static constexpr bool is_8 = true;
    static constexpr bool has_lines = size > 128;
    static constexpr int keys = 16;
    static constexpr int pitch = gb_mma_lines<size_>::pitch;
    static constexpr int threads = 32;
    static constexpr int fragments = has_lines ? 1 : size / 16;
    static constexpr int warps = size > 128 ? 2 : 4;
    static constexpr int step = warps * keys;

    struct panel {
        alignas(16) uint16_t lines[keys][pitch];
    };
    struct ring {
        panel k[2], v[2];
    };
    struct memory {
        union {
            ring rings[warps];
            gb_mma_shares<warps, size> shares;
        };
        alignas(16) uint16_t queries[GB_MMA_DECODE_ROWS][pitch];
        float inverses[GB_MMA_DECODE_ROWS]; /* of the queries' factors */
        float *places[GB_MMA_DECODE_ROWS];  /* of results */
    };
};

/* ---- a tile ---- */

/* Tile N, which has all rows of its group.  There are fewer than 2^30 heads,
 * batches and parts, and division of 32 bits is short. */
GB_DEVICE gb_attention_tile
gb_mma_decode_tile_of(const gb_cuda_attention_args &a, int64_t n)
{
    const uint32_t n_parts = (uint32_t)a.n_parts, groups = (uint32_t)a.groups;
    const uint32_t of_all = (uint32_t)n / n_parts;
    const uint32_t part = (uint32_t)n - of_all * n_parts;
    const uint32_t batch = of_all / groups;
    gb_attention_tile t;

    t.batch = batch;
    t.first_head = (of_all - batch * groups) * a.group;
    t.first_row = 0;
    t.part = part;
    t.first_key = part * a.part;
    t.end_key = t.first_key + a.part;
    if (t.end_key > a.n_keys)
        t.end_key = a.n_keys;
    t.first = 0;
    t.width = (int)a.q.ne[0];
    return t;
}

/* Where a tile's keys or values begin. */
GB_DEVICE gb_mma_matrix
gb_mma_share_of(const gb_cuda_tensor &of, const gb_cuda_sharing &sharing,
                const gb_attention_tile &t)
{
    const uint32_t head = (uint32_t)t.first_head / (uint32_t)sharing.heads;
    const uint32_t batch = (uint32_t)t.batch / (uint32_t)sharing.batches;

    return { of.data + head * of.nb[2] + batch * of.nb[3] +
                 t.first_key * of.nb[1],
             of.nb[1], nullptr };
}

/* The token and the head of row L % 16 of the tile, in lane L; those of the last
 * one behind it. */
struct gb_mma_lane_row {
    int token, head;
};

GB_DEVICE gb_mma_lane_row
gb_mma_row_of_lane(const gb_cuda_attention_args &a, const gb_attention_tile &t)
{
    const int at = gb_lane() % GB_MMA_DECODE_ROWS, n = (int)a.rows;
    const int row = at < n ? at : n - 1, token = row / (int)a.group;

    return { token, (int)t.first_head + row - token * (int)a.group };
}

/* Lanes have rows L / 4 and 8 more, of those that lanes had. */
GB_DEVICE void
gb_mma_begin_decode(const gb_cuda_attention_args &a, const gb_attention_tile &t,
                    const gb_mma_lane_row &row, gb_mma_rows &rows)
{
    const float slope =
        gb_slope_of(a.max_bias, a.q.ne[2], row.head) * GB_LOG2_E;

    GB_UNROLL
    for (int i = 0; i < 2; i++) {
        const int from = gb_lane() / 4 + 8 * i;

        rows.max[i] = -GB_INFINITY;
        rows.slope[i] = gb_shuffle(slope, from);
        rows.mask[i] =
            gb_shuffle(row.token, from) * a.mask.nb[1] + 2 * t.first_key;
    }
}

/* ---- which keys ---- */

/* A warp's steps, by keys from the tile's first one on; which of them any token
 * sees anything of: lane L knows it of the L-th one from BEGIN on. */
struct gb_mma_steps {
    int first_key, end, begin;
    bool is_seen;
};

/* Do the tokens see any of 16 keys from FIRST on?  So it is where not all of
 * these are there. */
GB_DEVICE bool
gb_mma_sees(const gb_cuda_attention_args &a, const gb_mma_steps &steps,
            int first)
{
    const uint32_t hidden = 0xfc00fc00; /* twice -infinity */
    const char *from = a.mask.data + 2 * (int64_t)(steps.first_key + first);
    bool is_seen = first + 16 > steps.end;

    GB_DO_NOT_UNROLL
    for (int i = 0; i < (int)a.q.ne[1] && !is_seen; i++) {
        GB_UNROLL
        for (int j = 0; j < 2; j++) {
            const gb_piece piece = ((const gb_piece *)from)[j];

            GB_UNROLL
            for (int at = 0; at < 4; at++)
                is_seen |= piece.words[at] != hidden;
        }
        from += a.mask.nb[1];
    }
    return is_seen;
}

/* The first of the warp's steps, STEP keys apart, from FIRST on that the tokens
 * see anything of.  All lanes. */
template <int step>
GB_DEVICE int
gb_mma_next_step(const gb_cuda_attention_args &a, gb_mma_steps &steps,
                 int first)
{
    while (a.mask_is_wide && first < steps.end) {
        if (first - steps.begin >= 32 * step) {
            steps.begin = first;
            steps.is_seen = gb_mma_sees(a, steps, first + gb_lane() * step);
        }
        if (gb_shuffle((int)steps.is_seen, (first - steps.begin) / step))
            break;
        first += step;
    }
    return first;
}

/* ---- a warp's share ---- */

/* The rows' queries, by all warps; for each of them as fragments.  Where results
 * go is kept, too.  All threads of the block. */
template <typename head>
GB_DEVICE void
gb_mma_share_queries(const gb_cuda_attention_args &a,
                     const gb_attention_tile &t, const gb_mma_lane_row &row,
                     typename head::memory &s, gb_mma_rows &rows,
                     uint32_t q[head::fragments][4])
{
    constexpr int n = GB_MMA_DECODE_ROWS / head::warps;
    const int first = gb_warp() * n;
    const char *const mine = a.q.data + row.token * a.q.nb[1] +
                             row.head * a.q.nb[2] + t.batch * a.q.nb[3];
    const char *from[n];
    float inverses[n];

    GB_UNROLL
    for (int i = 0; i < n; i++)
        from[i] = gb_shuffle_pointer(mine, first + i);
    gb_mma_load_queries<head, n>(from, t.width, s.queries[0], first, inverses);
    GB_UNROLL
    for (int i = 0; i < n; i++)
        if (gb_lane() == i)
            s.inverses[first + i] = inverses[i];
    if (gb_warp() == 0 && gb_lane() < GB_MMA_DECODE_ROWS)
        s.places[gb_lane()] =
            gb_mma_place_of(a, t, { row.token, row.head });
    gb_sync();
    if constexpr (!head::has_lines)
        gb_mma_load_fragments<head>(s.queries[0], q);
    GB_UNROLL
    for (int i = 0; i < 2; i++)
        rows.scale[i] = gb_mma_scale_of(a) * s.inverses[gb_lane() / 4 + 8 * i];
}

/* The mask of N keys from FIRST on. */
template <typename head>
GB_DEVICE void
gb_mma_fetch_mask(const gb_cuda_attention_args &a, const gb_mma_rows &rows,
                  int first, int n, uint32_t mask[2][head::keys / 8])
{
    constexpr int keys = head::keys;

    GB_UNROLL
    for (int i = 0; i < 2; i++)
        gb_mma_load_mask<keys>(a, rows, 2 * (int64_t)first,
                               n < keys ? n : keys, i, mask[i]);
}

/*
 * All steps of a warp.  Groups of copies are keys and values of a step, then
 * those of the next one: three may be on their way when the first is needed.
 */
template <typename head>
GB_DEVICE void
gb_mma_take_share(const gb_cuda_attention_args &a, const gb_attention_tile &t,
                  typename head::memory &s, gb_mma_rows &rows,
                  gb_mma_sums<head> &sums)
{
    constexpr int keys = head::keys, step = head::step;
    const gb_mma_matrix k = gb_mma_share_of(a.k, a.of_k, t);
    const gb_mma_matrix v = gb_mma_share_of(a.v, a.of_v, t);
    const gb_mma_lane_row row = gb_mma_row_of_lane(a, t);
    typename head::ring &ring = s.rings[gb_warp()];
    int first = gb_warp() * keys, next;
    gb_mma_steps steps = { (int)t.first_key, (int)(t.end_key - t.first_key),
                           first - 31 * step, false };
    uint32_t q[head::fragments][4], mask[2][keys / 8] = {};

    /* Looking at the mask would take as long as the first keys. */
    gb_mma_load_lines<head>(ring.k[0], k, first, steps.end, t.width);
    gb_mma_load_lines<head>(ring.v[0], v, first, steps.end, t.width);
    next = gb_mma_next_step<step>(a, steps, first + step);
    gb_mma_load_lines<head>(ring.k[1], k, next, steps.end, t.width);
    gb_mma_load_lines<head>(ring.v[1], v, next, steps.end, t.width);
    gb_mma_begin_decode(a, t, row, rows);
    if (a.has_mask)
        gb_mma_fetch_mask<head>(a, rows, first, steps.end - first, mask);
    gb_mma_share_queries<head>(a, t, row, s, rows, q);
    for (int at = 0; first < steps.end; at ^= 1) {
        const int after = gb_mma_next_step<step>(a, steps, next + step);
        float z[keys / 8][4], factors[2];
        uint32_t p[keys / 16][4];

        gb_copy_async_wait<3>(); /* keys */
        gb_warp_sync();
        gb_mma_find_scores<head>(ring.k[at], s.queries[0], q, head::size, z);
        gb_warp_sync();
        gb_mma_load_lines<head>(ring.k[at], k, after, steps.end, t.width);
        gb_mma_scale_scores<keys>(a, rows, 1.0f, z);
        if (a.has_mask) {
            GB_UNROLL
            for (int i = 0; i < 2; i++)
                gb_mma_add_mask<keys>(rows, mask[i], i, z);
            gb_mma_fetch_mask<head>(a, rows, next, steps.end - next, mask);
        }
        if (first + keys > steps.end)
            gb_mma_hide<keys>(steps.end - first, z);
        gb_mma_take_softmax<keys>(rows, z, p, factors);
        gb_mma_change_sums<head>(sums, factors, 1.0f);
        gb_mma_sum_exponentials<head>(sums, 1.0f, p);
        gb_copy_async_wait<3>(); /* values */
        gb_warp_sync();
        gb_mma_add_values<head>(ring.v[at], p, head::size, sums);
        gb_warp_sync();
        gb_mma_load_lines<head>(ring.v[at], v, after, steps.end, t.width);
        first = next;
        next = after;
    }
    gb_copy_async_wait<0>();
}

/* ---- shares together ---- */

template <typename head>
GB_DEVICE void
gb_mma_put_share(const gb_mma_rows &rows, const gb_mma_sums<head> &sums,
                 gb_mma_shares<head::warps, head::size> &s)
{
    struct alignas(8) pair {
        float at[2];
    };

    GB_UNROLL
    for (int i = 0; i < 2; i++) {
        const int row = gb_lane() / 4 + 8 * i;
        float *const to = &s.values[gb_warp()][row][gb_lane() % 4 * 2];

        if (gb_lane() % 4 == 0) {
            s.max[gb_warp()][row] = rows.max[i];
            s.sum[gb_warp()][row] = sums.of_exponentials[2 * i];
        }
        GB_UNROLL
        for (int j = 0; j < head::size / 8; j++)
            *(pair *)(to + 8 * j) =
                { { sums.at[j][2 * i], sums.at[j][2 * i + 1] } };
    }
}

/* What row ROW of the tile has from each warp, in their order; all lanes.  A
 * head's blocks of q8 are the warp's. */
template <typename head>
GB_DEVICE void
gb_mma_join_shares(const gb_cuda_attention_args &a,
                   const typename head::memory &s, int row)
{
    constexpr int warps = head::warps;
    const int d = (int)a.q.ne[0];
    float *const to = s.places[row];
    float factors[warps], max = -GB_INFINITY, sum = 0.0f, shift, unit;
    float values[head::size / 32];

    GB_UNROLL
    for (int w = 0; w < warps; w++)
        max = gb_mma_larger(max, s.shares.max[w][row]);
    shift = max == -GB_INFINITY ? 0.0f : max;
    GB_UNROLL
    for (int w = 0; w < warps; w++) {
        factors[w] = gb_mma_exp2(s.shares.max[w][row] - shift);
        sum = gb_fma(s.shares.sum[w][row], factors[w], sum);
    }
    unit = a.n_parts > 1 ? 1.0f : sum > 0.0f ? 1.0f / sum : 0.0f;
    if (a.n_parts > 1 && gb_lane() == 0)
        gb_mma_store_weight(to, max, sum);
    GB_UNROLL
    for (int i = 0; i < head::size / 32; i++) {
        const int at = 32 * i + gb_lane();

        values[i] = 0.0f;
        GB_UNROLL
        for (int w = 0; w < warps; w++)
            values[i] =
                gb_fma(s.shares.values[w][row][at], factors[w], values[i]);
        values[i] *= unit;
        if (at < d)
            to[at] = values[i];
    }
    if (a.columns == nullptr)
        return;
    GB_UNROLL
    for (int i = 0; i < head::size / 32; i++)
        gb_store_q8(a.columns, (to - a.dst) / 32 + i, gb_lane(), values[i],
                    32 * i < d);
}

template <typename head>
GB_DEVICE void
gb_mma_decode(const gb_cuda_attention_args &a)
{
    typedef typename head::memory memory;
    GB_DYNAMIC_SHARED(memory, s);

    for (int64_t n = gb_block(); n < a.n_tiles; n += gb_n_blocks()) {
        gb_mma_sums<head> sums = {};
        gb_mma_rows rows;

        gb_mma_take_share<head>(a, gb_mma_decode_tile_of(a, n), *s, rows, sums);
        gb_sync(); /* nobody's ring is needed any more */
        gb_mma_put_share<head>(rows, sums, s->shares);
        gb_sync();
        for (int row = gb_warp(); row < (int)a.rows; row += head::warps)
            gb_mma_join_shares<head>(a, *s, row);
        gb_sync();
    }
}

#endif
