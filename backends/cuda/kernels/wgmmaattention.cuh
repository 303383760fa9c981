/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/wgmmaattention.cuh - attention by warp groups, for heads of up to
 * 128 elements, a multiple of 8, and keys and values in f16.
 *
 * A tile has 128 rows, of which two warp groups have 64 each; a third one only
 * brings keys and values, by TMA, 128 of them at a time, into two stages each.
 * As many are there as are worked on, so a group waits for memory only where a
 * tile begins.
 *
 * A group begins the scores of the next keys, and then the product of the
 * exponentials before with their values; while the tensor cores make the
 * second, it makes exponentials of the first ("FlashAttention-3", arXiv
 * 2407.08608, section 3.2).  The other group has its own rhythm, and tensor cores
 * are busy with one group's products while the other one computes.
 *
 * What the mask has for a step is asked for as soon as the step's scores are
 * begun, 32 words a lane, and is there when they are.
 *
 * Where the mask hides nothing, and there is no softcap, scores stay as they are:
 * an exponential is one fused multiply-add and one instruction of the unit for
 * special functions.  Scores too large for that, 2^22 and more, are scaled first.
 *
 * What limits it: for heads of 128 a step of a group has 4.2 million operations,
 * 1,024 clocks of the tensor cores of a multiprocessor; exponentials take 512 of
 * that unit's.  A warp issues about 610 instructions for it where the mask hides
 * nothing: 16 HGMMA; 64 maxima, 64 fused multiply-adds, 64 exponentials, 32 that
 * round two of them; and 128 that add these up, while scores are made.  Where the
 * mask is looked at there are about 260 more: 32 loads, and for each score a
 * product, a conversion, and a fused multiply-add.
 */
#ifndef GB_CUDA_KERNELS_WGMMAATTENTION_CUH
#define GB_CUDA_KERNELS_WGMMAATTENTION_CUH

#include "backends/cuda/kernels/groupmma.cuh"
#include "backends/cuda/kernels/mmaattention.cuh"

#define GB_GROUP_ROWS    GB_CUDA_WGMMA_QUERIES
#define GB_GROUP_KEYS    GB_CUDA_WGMMA_KEYS
#define GB_GROUP_STAGES  2
#define GB_GROUP_LINE    64 /* halves: 128 bytes, swizzled together */
#define GB_GROUP_WORKERS (GB_GROUP_ROWS / 16) /* warps with rows */
#define GB_GROUP_THREADS ((GB_GROUP_WORKERS + 4) * 32)
#define GB_GROUP_LARGE   0x1p+22f /* scores as multiples of ln 2 */

/* Registers of a thread: as many as a block of three groups can be launched with;
 * then of those who bring, and of those who compute.  A group that asks for more
 * than others gave waits forever. */
#define GB_GROUP_EVEN 168
#define GB_GROUP_FEW  40
#define GB_GROUP_MANY 232
static_assert(GB_GROUP_FEW + 2 * GB_GROUP_MANY <= 3 * GB_GROUP_EVEN &&
                  GB_GROUP_EVEN * GB_GROUP_THREADS <= 65536,
              "registers are divided, and not made");

/* Panels of 64 elements of all lines; both are as long. */
static_assert(GB_GROUP_ROWS == GB_GROUP_KEYS, "one length of panels");
static constexpr int gb_group_panel = GB_GROUP_KEYS * GB_GROUP_LINE;

/* Barriers of the stages: one is full, one is empty. */
struct gb_group_ring {
    uint64_t full[GB_GROUP_STAGES], empty[GB_GROUP_STAGES];
};

/* What is not in registers, since these are few. */
struct gb_group_rest {
    gb_group_ring of_k, of_v;
    gb_attention_tile tile;
    int64_t mask[GB_GROUP_ROWS]; /* of struct gb_mma_rows */
    float slope[GB_GROUP_ROWS];
};

template <int size_>
struct gb_group_head {
    static constexpr int size = size_; /* of the longest head */
    static constexpr int keys = GB_GROUP_KEYS;
    static constexpr int panels = size / GB_GROUP_LINE;
    static constexpr bool is_8 = true;

    /* The launch's shared memory, from a multiple of 1,024 on. */
    struct memory {
        uint16_t q[panels][gb_group_panel];
        uint16_t k[GB_GROUP_STAGES][panels][gb_group_panel];
        uint16_t v[GB_GROUP_STAGES][panels][gb_group_panel];
        gb_group_rest rest;
    };

    /* Element AT of line LINE, a multiple of 8 lines behind the panel's first. */
    GB_DEVICE uint16_t *
    place(uint16_t *lines, int line, int at)
    {
        return lines + at / GB_GROUP_LINE * gb_group_panel +
               line * GB_GROUP_LINE +
               ((at % GB_GROUP_LINE / 8) ^ line % 8) * 8 + at % 8;
    }
};

static_assert(sizeof(gb_group_head<64>::memory) + 1024 - 16 <=
                      GB_CUDA_WGMMA_ATTENTION_64_SHARED &&
                  sizeof(gb_group_head<128>::memory) + 1024 - 16 <=
                      GB_CUDA_WGMMA_ATTENTION_128_SHARED,
              "panels begin at a multiple of 1,024");

/* ---- steps of keys ---- */

/* Keys from FIRST on, and what a tile sees of them. */
struct gb_group_step {
    int first, seen;
};

/* What a tile with keys up to END sees of those from FIRST on. */
GB_DEVICE int
gb_group_sees(const gb_cuda_attention_args &a, const uint8_t *block_mask,
              int first, int end)
{
    const uint8_t *const seen = block_mask + first / GB_CUDA_MASK_KEYS;

    if (a.block_mask == nullptr)
        return GB_CUDA_SEES_ALL;
    if (first + GB_CUDA_MASK_KEYS >= end || seen[0] == seen[1])
        return seen[0];
    return GB_CUDA_SEES_SOME;
}

/* The first step from FIRST on of which it sees anything, if there is one before
 * END. */
GB_DEVICE gb_group_step
gb_group_next(const gb_cuda_attention_args &a, const uint8_t *block_mask,
              int first, int end)
{
    gb_group_step next = { first, GB_CUDA_SEES_NONE };

    GB_DO_NOT_UNROLL
    for (; next.first < end; next.first += GB_GROUP_KEYS) {
        next.seen = gb_group_sees(a, block_mask, next.first, end);
        if (next.seen != GB_CUDA_SEES_NONE)
            break;
    }
    return next;
}

GB_DEVICE const uint8_t *
gb_group_block_mask(const gb_cuda_attention_args &a, const gb_attention_tile &t)
{
    return a.block_mask + t.first_row / GB_GROUP_ROWS * a.key_tiles;
}

/* Tile N; those with more keys to see, of a causal mask, come first. */
template <typename head>
GB_DEVICE gb_attention_tile
gb_group_tile_of(const gb_cuda_attention_args &a, int64_t n)
{
    return gb_tile_of(a, a.n_tiles - 1 - n, GB_GROUP_ROWS, head::size);
}

/* ---- who brings keys and values ---- */

/* Keys or values of some heads, as TMA knows them. */
struct gb_group_matrix {
    const gb_cuda_tensor_map &map;
    int head, batch;
    bool heads_first;
};

GB_DEVICE gb_group_matrix
gb_group_matrix_of(const gb_cuda_tensor_map &map, int32_t heads_first,
                   const gb_cuda_sharing &sharing, const gb_attention_tile &t)
{
    return { map, (int)gb_quotient(t.first_head, sharing.heads),
             (int)gb_quotient(t.batch, sharing.batches), heads_first != 0 };
}

/* The stage N of all, when nobody reads any more what was there. */
template <typename head>
GB_DEVICE void
gb_group_bring(const gb_group_matrix &m, int first,
               uint16_t (*to)[head::panels][gb_group_panel],
               gb_group_ring &ring, uint32_t n)
{
    const uint32_t stage = n % GB_GROUP_STAGES;

    gb_mbarrier_wait(&ring.empty[stage], (int)(n / GB_GROUP_STAGES % 2 ^ 1));
    gb_mbarrier_arrive_expect(&ring.full[stage], (int)sizeof(to[0]));
    GB_UNROLL
    for (int i = 0; i < head::panels; i++)
        gb_tma_load_4(to[stage][i], &m.map, i * GB_GROUP_LINE,
                      m.heads_first ? m.head : first,
                      m.heads_first ? first : m.head, m.batch,
                      &ring.full[stage]);
}

/* All of a tile, in the order in which it is waited for; one thread.  N counts
 * steps. */
template <typename head>
GB_DEVICE void
gb_group_bring_all(const gb_cuda_wgmma_attention_args &all,
                   const gb_attention_tile &t, typename head::memory &s,
                   uint32_t &n)
{
    const gb_cuda_attention_args &a = all.of;
    const uint8_t *const block_mask = gb_group_block_mask(a, t);
    const gb_group_matrix k =
        gb_group_matrix_of(all.k_map, all.k_heads_first, a.of_k, t);
    const gb_group_matrix v =
        gb_group_matrix_of(all.v_map, all.v_heads_first, a.of_v, t);
    const int end = (int)t.end_key;
    int first = gb_group_next(a, block_mask, (int)t.first_key, end).first;

    if (first < end)
        gb_group_bring<head>(k, first, s.k, s.rest.of_k, n);
    GB_DO_NOT_UNROLL
    while (first < end) {
        const int next =
            gb_group_next(a, block_mask, first + GB_GROUP_KEYS, end).first;

        if (next < end)
            gb_group_bring<head>(k, next, s.k, s.rest.of_k, n + 1);
        gb_group_bring<head>(v, first, s.v, s.rest.of_v, n);
        first = next;
        n++;
    }
}

/* Step N is there. */
GB_DEVICE void
gb_group_wait(gb_group_ring &ring, uint32_t n)
{
    gb_mbarrier_wait(&ring.full[n % GB_GROUP_STAGES],
                     (int)(n / GB_GROUP_STAGES % 2));
}

/* This warp needs it no more; all lanes. */
GB_DEVICE void
gb_group_leave(gb_group_ring &ring, uint32_t n)
{
    gb_warp_sync();
    if (gb_lane() == 0)
        gb_mbarrier_arrive(&ring.empty[n % GB_GROUP_STAGES]);
}

/* ---- products ---- */

/* Begin the scores of step N. */
template <typename head>
GB_DEVICE void
gb_group_begin_scores(uint32_t q, uint32_t k, uint32_t n,
                      float z[GB_GROUP_KEYS / 2])
{
    constexpr uint32_t panel = gb_group_panel * 2 / 16;

    q = gb_anew(q);
    k += n % GB_GROUP_STAGES * head::panels * panel;
    GB_UNROLL
    for (uint32_t i = 0; i < head::size / 16; i++) {
        const uint32_t at = i / 4 * panel + i % 4 * 2;
        const uint64_t of_q = gb_wgmma_descriptor(q + at);
        const uint64_t of_k = gb_wgmma_descriptor(k + at);

        if (i == 0)
            gb_wgmma_begin_m64n128k16_f16(z, of_q, of_k);
        else
            gb_wgmma_m64n128k16_f16(z, of_q, of_k);
    }
    gb_wgmma_commit();
}

/* Begin to add the values of step N, times exponentials. */
template <typename head>
GB_DEVICE void
gb_group_begin_values(const uint32_t p[GB_GROUP_KEYS / 16][4], uint32_t v,
                      uint32_t n, float sums[head::size / 2])
{
    constexpr uint32_t panel = gb_group_panel * 2 / 16;

    v += n % GB_GROUP_STAGES * head::panels * panel;
    GB_UNROLL
    for (uint32_t i = 0; i < GB_GROUP_KEYS / 16; i++) {
        const uint64_t of_v =
            gb_wgmma_descriptor(v + i * (16 * GB_GROUP_LINE * 2 / 16));

        if constexpr (head::size == 128)
            gb_wgmma_add_columns(sums, p[i], of_v);
        else
            gb_wgmma_add_64_columns(sums, p[i], of_v);
    }
    gb_wgmma_commit();
}

template <typename head>
GB_DEVICE void
gb_group_wait_for_values(float sums[head::size / 2])
{
    if constexpr (head::size == 128)
        gb_wgmma_wait(sums);
    else
        gb_wgmma_wait_for_32(sums);
}

/* ---- scores to exponentials ---- */

/* What the mask has for a lane's scores of a step, two values a word. */
struct gb_group_mask {
    uint32_t of[2][GB_GROUP_KEYS / 8];
};

/* One of STEP, if it is looked at; its loads are on their way. */
GB_DEVICE void
gb_group_load_mask(const gb_cuda_attention_args &a, const gb_group_rest &s,
                   const gb_group_step &step, int end, gb_group_mask &mask)
{
    const int n = end - step.first, at = gb_lane() % 4;
    const char *from[2];

    gb_forget(mask.of[0]);
    gb_forget(mask.of[1]);
    if (step.seen == GB_CUDA_SEES_ALL)
        return;
    GB_UNROLL
    for (int i = 0; i < 2; i++)
        from[i] = a.mask.data + 2 * (int64_t)step.first +
                  s.mask[gb_warp() * 16 + gb_lane() / 4 + 8 * i];
    if (a.mask_is_paired && n >= GB_GROUP_KEYS) {
        GB_UNROLL
        for (int i = 0; i < GB_GROUP_KEYS / 4; i++)
            mask.of[i % 2][i / 2] =
                ((const uint32_t *)from[i % 2])[i / 2 * 4 + at];
        return;
    }
    GB_UNROLL
    for (int i = 0; i < GB_GROUP_KEYS / 4; i++)
        mask.of[i % 2][i / 2] =
            gb_mma_mask_pair(from[i % 2], i / 2 * 8 + at * 2, n);
}

/* Scores of STEP with all that belongs to them; UNITS are what they are multiplied
 * by then. */
GB_DEVICE void
gb_group_finish_scores(const gb_cuda_attention_args &a, const gb_group_rest &s,
                       const gb_group_step &step, int end,
                       const gb_group_mask &mask, gb_mma_rows rows,
                       float z[GB_GROUP_KEYS / 8][4], float units[2])
{
    constexpr int keys = GB_GROUP_KEYS;
    const int n = end - step.first;

    units[0] = rows.scale[0];
    units[1] = rows.scale[1];
    if (step.seen == GB_CUDA_SEES_ALL && n >= keys && a.softcap == 0.0f &&
        a.scale >= 0.0f)
        return;
    units[0] = units[1] = 1.0f;
    gb_mma_scale_scores<keys>(a, rows, 1.0f, z);
    if (step.seen != GB_CUDA_SEES_ALL)
        GB_UNROLL
        for (int i = 0; i < 2; i++) {
            rows.slope[i] = s.slope[gb_warp() * 16 + gb_lane() / 4 + 8 * i];
            gb_mma_add_mask<keys>(rows, mask.of[i], i, z);
        }
    if (n < keys)
        gb_mma_hide<keys>(n, z);
}

/* The largest of a lane's scores of row I, from BEFORE on, times UNIT. */
GB_DEVICE float
gb_group_largest(const float z[GB_GROUP_KEYS / 8][4], int i)
{
    float max = gb_mma_larger(z[0][2 * i], z[0][2 * i + 1]);

    GB_UNROLL
    for (int j = 1; j < GB_GROUP_KEYS / 8; j++)
        max = gb_mma_larger(max, gb_mma_larger(z[j][2 * i], z[j][2 * i + 1]));
    return gb_warp_max<4>(max);
}

/* Exponentials in the place of scores, and the factors for what belongs to the
 * maxima before, which are 1 where these stay. */
GB_DEVICE void
gb_group_take_exponentials(gb_mma_rows &rows, const float units[2],
                           float z[GB_GROUP_KEYS / 8][4], float factors[2])
{
    GB_UNROLL
    for (int i = 0; i < 2; i++) {
        const float before = rows.max[i];
        float unit = units[i], shift;
        float max = gb_group_largest(z, i) * unit;

        /* A product rounded once less than its maximum would count. */
        if (gb_abs(max) >= GB_GROUP_LARGE) {
            GB_UNROLL
            for (int j = 0; j < GB_GROUP_KEYS / 4; j++)
                z[j / 2][2 * i + j % 2] *= unit;
            unit = 1.0f;
        }
        max = gb_mma_larger(before, max);
        /* Nothing seen up to now: all exponentials are those of -infinity. */
        shift = max == -GB_INFINITY ? 0.0f : max;
        rows.max[i] = max;
        factors[i] = max == before ? 1.0f : gb_exp2_by_unit(before - shift);
        GB_UNROLL
        for (int j = 0; j < GB_GROUP_KEYS / 4; j++) {
            float &at = z[j / 2][2 * i + j % 2];

            at = gb_exp2_by_unit(gb_fma(at, unit, -shift));
        }
    }
}

/* They as halves. */
GB_DEVICE void
gb_group_round(const float z[GB_GROUP_KEYS / 8][4],
               uint32_t p[GB_GROUP_KEYS / 16][4])
{
    GB_UNROLL
    for (int j = 0; j < GB_GROUP_KEYS / 16; j++)
        GB_UNROLL
        for (int i = 0; i < 4; i++) {
            const float *const two = &z[2 * j + i / 2][i % 2 * 2];

            p[j][i] = gb_f16_pair(two[0], two[1]);
        }
}

/* Those added to a lane's sums, two of a row, while tensor cores make scores. */
template <typename head>
GB_DEVICE void
gb_group_sum(const uint32_t p[GB_GROUP_KEYS / 16][4], gb_mma_sums<head> &sums)
{
    GB_UNROLL
    for (int j = 0; j < GB_GROUP_KEYS / 16; j++)
        GB_UNROLL
        for (int i = 0; i < 4; i++) {
            sums.of_exponentials[i % 2 * 2] +=
                gb_float(gb_f16{ (uint16_t)p[j][i] });
            sums.of_exponentials[i % 2 * 2 + 1] +=
                gb_float(gb_f16{ (uint16_t)(p[j][i] >> 16) });
        }
}

/* ---- a tile ---- */

/* The first panels as a group multiplies them. */
struct gb_group_work {
    uint32_t q, k, v;
};

/* All keys of a tile.  N counts steps; one's values are left in the next, which may
 * be another tile's. */
template <typename head>
GB_DEVICE void
gb_group_go_through(const gb_cuda_attention_args &a, const gb_attention_tile &t,
                    gb_group_rest &s, const gb_group_work &w, uint32_t &n,
                    gb_mma_rows &rows, gb_mma_sums<head> &sums)
{
    const uint8_t *const block_mask = gb_group_block_mask(a, t);
    const int end = (int)t.end_key;
    gb_group_step step = gb_group_next(a, block_mask, (int)t.first_key, end);
    float z[GB_GROUP_KEYS / 8][4];
    uint32_t p[GB_GROUP_KEYS / 16][4];
    gb_group_mask mask;

    if (step.first >= end)
        return;
    gb_group_wait(s.of_k, n);
    gb_wgmma_fence();
    gb_group_begin_scores<head>(w.q, w.k, n, z[0]);
    gb_group_load_mask(a, s, step, end, mask);
    gb_wgmma_wait(z[0]);
    gb_group_leave(s.of_k, n);
    GB_DO_NOT_UNROLL
    for (;;) {
        const gb_group_step next =
            gb_group_next(a, block_mask, step.first + GB_GROUP_KEYS, end);
        float factors[2], units[2];

        gb_group_finish_scores(a, s, step, end, mask, rows, z, units);
        gb_group_take_exponentials(rows, units, z, factors);
        /* Two waits that keep compilers from having the third one earlier. */
        gb_warp_sync();
        if (next.first < end)
            gb_group_wait(s.of_k, n + 1);
        gb_group_wait_for_values<head>(sums.at[0]);
        if (n > 0)
            gb_group_leave(s.of_v, n - 1);
        gb_mma_change_sums<head>(sums, factors, 1.0f);
        gb_group_round(z, p);
        if (next.first >= end)
            break;
        gb_wgmma_fence();
        gb_group_begin_scores<head>(w.q, w.k, n + 1, z[0]);
        gb_group_load_mask(a, s, next, end, mask);
        gb_group_wait(s.of_v, n);
        gb_wgmma_fence();
        gb_group_begin_values<head>(p, w.v, n, sums.at[0]);
        gb_group_sum<head>(p, sums);
        gb_wgmma_wait_for_first(z[0]);
        gb_group_leave(s.of_k, ++n);
        step = next;
    }
    gb_group_wait(s.of_v, n);
    gb_wgmma_fence();
    gb_group_begin_values<head>(p, w.v, n, sums.at[0]);
    gb_group_sum<head>(p, sums);
    gb_group_wait_for_values<head>(sums.at[0]);
    n++;
}

/* A group with rows, whose queries are there: the rest of a tile. */
template <typename head>
GB_DEVICE void
gb_group_work_on(const gb_cuda_attention_args &a, typename head::memory &s,
                 uint32_t &n, gb_mma_rows &rows)
{
    const gb_group_work w = {
        gb_wgmma_panel(s.q[0] + gb_warp() / 4 * 64 * GB_GROUP_LINE),
        gb_wgmma_panel(s.k[0][0]),
        gb_wgmma_columns(s.v[0][0], 2 * gb_group_panel),
    };
    gb_mma_sums<head> sums = {};
    gb_attention_tile t;

    sums.factor = 1.0f;
    gb_group_go_through<head>(a, s.rest.tile, s.rest, w, n, rows, sums);
    t = s.rest.tile;
    t.first_row += gb_warp() * 16;
    GB_UNROLL
    for (int i = 0; i < 2; i++) {
        sums.of_exponentials[2 * i] = gb_warp_sum<4>(
            sums.of_exponentials[2 * i] + sums.of_exponentials[2 * i + 1]);
        gb_mma_store_row<head>(a, t, rows, sums, i);
    }
}

/* ---- a block ---- */

/* All threads, whatever they do. */
GB_DEVICE void
gb_group_sync()
{
    gb_sync_groups(GB_GROUP_THREADS);
}

template <typename head>
GB_DEVICE typename head::memory &
gb_group_take_memory()
{
    GB_DYNAMIC_SHARED(char, all);

    return *(typename head::memory *)(all + (-(uintptr_t)all & 1023));
}

GB_DEVICE void
gb_group_init_ring(gb_group_ring &ring)
{
    for (int i = 0; i < GB_GROUP_STAGES; i++) {
        gb_mbarrier_init(&ring.full[i], 1);
        gb_mbarrier_init(&ring.empty[i], GB_GROUP_WORKERS);
    }
}

/* The third group. */
template <typename head>
GB_DEVICE void
gb_group_serve(const gb_cuda_wgmma_attention_args &all,
               typename head::memory &s)
{
    uint32_t n = 0;

    gb_give_registers<GB_GROUP_FEW>();
    GB_DO_NOT_UNROLL
    for (int64_t i = gb_block(); i < all.of.n_tiles; i += gb_n_blocks()) {
        gb_group_sync();
        gb_group_sync();
        if (gb_thread() == GB_GROUP_WORKERS * GB_WARP)
            gb_group_bring_all<head>(all, gb_group_tile_of<head>(all.of, i), s,
                                     n);
    }
}

/* Tile N's, of a warp with rows: what they need in shared memory. */
template <typename head>
GB_DEVICE void
gb_group_begin(const gb_cuda_attention_args &a, int64_t n,
               typename head::memory &s, gb_mma_rows &rows)
{
    gb_attention_tile t = gb_group_tile_of<head>(a, n);

    if (gb_thread() == 0)
        s.rest.tile = t;
    t.first_row += gb_warp() * 16;
    gb_mma_begin_rows(a, t, rows);
    if (gb_lane() % 4 == 0)
        GB_UNROLL
        for (int i = 0; i < 2; i++) {
            const int row = gb_warp() * 16 + gb_lane() / 4 + 8 * i;

            s.rest.slope[row] = rows.slope[i];
            s.rest.mask[row] = rows.mask[i];
        }
    gb_mma_store_queries<head, 4>(
        a, t, s.q[0] + gb_warp() * 16 * GB_GROUP_LINE, rows);
    gb_async_proxy_fence();
}

/* The other two. */
template <typename head>
GB_DEVICE void
gb_group_work_all(const gb_cuda_attention_args &a, typename head::memory &s)
{
    uint32_t n = 0;

    gb_take_registers<GB_GROUP_MANY>();
    GB_DO_NOT_UNROLL
    for (int64_t i = gb_block(); i < a.n_tiles; i += gb_n_blocks()) {
        gb_mma_rows rows;

        gb_group_sync(); /* nobody uses the tile before */
        gb_group_begin<head>(a, i, s, rows);
        gb_group_sync();
        gb_group_work_on<head>(a, s, n, rows);
    }
}

template <typename head>
GB_DEVICE void
gb_group_attend(const gb_cuda_wgmma_attention_args &all)
{
    typename head::memory &s = gb_group_take_memory<head>();

    if (gb_thread() == 0) {
        gb_group_init_ring(s.rest.of_k);
        gb_group_init_ring(s.rest.of_v);
        gb_mbarrier_init_fence();
    }
    /* By a shuffle, for compilers to know that a warp goes one way. */
    if (gb_shuffle(gb_warp(), 0) < GB_GROUP_WORKERS)
        gb_group_work_all<head>(all.of, s);
    else
        gb_group_serve<head>(all, s);
}

#endif
