/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/wgmmagemm.cuh - GEMM by warp groups.
 *
 * Tiles of 64 rows and 128 columns by one warp group, 128 threads with 64 sums
 * each.  A step has 64 values of k, in two stages of 8 KB of rows and 16 KB of
 * columns: while the tensor cores multiply one, threads unpack the weights of
 * the next, 32 values each, and TMA fetches its columns.  Unpacking is the
 * limit.
 *
 * Weights beyond f16's range are multiplied once more, as in mmagemm.cuh.
 *
 * Where columns of a tile lie anywhere (MUL_MAT_ID), or the columns of a matrix
 * not one after the other, threads copy them, 16 bytes at a time.
 */
#ifndef GB_CUDA_KERNELS_WGMMAGEMM_CUH
#define GB_CUDA_KERNELS_WGMMAGEMM_CUH

#include "backends/cuda/kernels/mmagemm.cuh"

#define GB_WGMMA_ROWS   GB_CUDA_WGMMA_ROWS
#define GB_WGMMA_COLS   GB_CUDA_WGMMA_COLS
#define GB_WGMMA_STEP   GB_CUDA_WGMMA_K
#define GB_WGMMA_PIECES (2 * GB_WGMMA_STEP / 16) /* of 16 bytes, in a row */

/* The launch's shared memory, from a multiple of 1,024 on. */
struct gb_wgmma_stages {
    uint16_t rows[2][GB_WGMMA_ROWS * GB_WGMMA_STEP];
    uint16_t cols[2][GB_WGMMA_COLS * GB_WGMMA_STEP];
    gb_column columns[GB_WGMMA_COLS];
    float row_scales[GB_WGMMA_ROWS]; /* of the sums */
    uint64_t arrived[2]; /* barriers: a stage's columns are there */
};

static_assert(sizeof(gb_wgmma_stages) + 1024 - 16 <= GB_CUDA_WGMMA_SHARED,
              "panels begin at a multiple of 1,024");
static_assert(GB_WGMMA_STEP % GB_CUDA_K_STEP == 0, "columns end with a piece");

struct gb_wgmma_f16 {
    typedef gb_f16 half;

    GB_DEVICE void
    multiply(float d[64], uint64_t a, uint64_t b)
    {
        gb_wgmma_m64n128k16_f16(d, a, b);
    }
};

struct gb_wgmma_bf16 {
    typedef gb_bf16 half;

    GB_DEVICE void
    multiply(float d[64], uint64_t a, uint64_t b)
    {
        gb_wgmma_m64n128k16_bf16(d, a, b);
    }
};

/* What a block works on. */
struct gb_wgmma_work {
    const gb_cuda_wgmma_args &a;
    const gb_product_tile &tile;
    gb_wgmma_stages &p;
    int y; /* of the map: the tile's first column */
};

struct alignas(16) gb_wgmma_piece {
    uint32_t words[4];
};

/* Piece I of row ROW of a panel. */
GB_DEVICE gb_wgmma_piece *
gb_wgmma_piece_of(uint16_t *panel, int row, int i)
{
    return (gb_wgmma_piece *)(panel + row * GB_WGMMA_STEP) + (i ^ row % 8);
}

/* ---- weights ---- */

template <typename H>
GB_DEVICE uint32_t
gb_wgmma_pair(float low, float high)
{
    H pair[2];

    gb_store(&pair[0], low);
    gb_store(&pair[1], high);
    return pair[0].bits | (uint32_t)pair[1].bits << 16;
}

/* Sixteen values: two pieces. */
template <typename H>
GB_DEVICE void
gb_wgmma_store_values(uint16_t *panel, int row, int i, const float values[16])
{
    GB_UNROLL
    for (int j = 0; j < 2; j++) {
        const float *v = values + 8 * j;

        *gb_wgmma_piece_of(panel, row, i + j) = {
            { gb_wgmma_pair<H>(v[0], v[1]), gb_wgmma_pair<H>(v[2], v[3]),
              gb_wgmma_pair<H>(v[4], v[5]), gb_wgmma_pair<H>(v[6], v[7]) }
        };
    }
}

/* Half a row of a panel, from K on; zeros behind END, where a row of weights in
 * blocks ends with one of them. */
template <typename T, typename H>
GB_DEVICE void
gb_wgmma_load_rows(uint16_t *panel, gb_mma_row<T> &row, int64_t k, int64_t end)
{
    const int half = gb_thread() % 2;

    GB_UNROLL
    for (int i = 0; i < GB_WGMMA_STEP / 2; i += 16) {
        const int64_t at = k + half * (GB_WGMMA_STEP / 2) + i;
        float values[16] = {};

        if (at < end)
            gb_mma_unpack16(row.weights, at, end, values);
        if constexpr (!gb_format<T>::is_float)
            gb_mma_scale(values, row.factor, row.largest);
        gb_wgmma_store_values<H>(panel, gb_thread() / 2,
                                 half * (GB_WGMMA_PIECES / 2) + i / 8, values);
    }
}

/* ---- columns ---- */

GB_DEVICE void
gb_wgmma_fetch_cols(const gb_wgmma_work &w, int stage, int64_t k)
{
    if (gb_thread() != 0)
        return;
    gb_mbarrier_arrive_expect(&w.p.arrived[stage], sizeof(w.p.cols[stage]));
    gb_tma_load(w.p.cols[stage], &w.a.map, (int)k, w.y, &w.p.arrived[stage]);
}

/* A thread a piece of every sixteenth column. */
GB_DEVICE void
gb_wgmma_copy_cols(const gb_wgmma_work &w, int stage, int64_t k)
{
    const int64_t all = w.a.product.columns.ne[0];
    const int64_t end = (all + GB_CUDA_K_STEP - 1) / GB_CUDA_K_STEP *
                        GB_CUDA_K_STEP;
    const int first = gb_thread() / GB_WGMMA_PIECES;
    const int i = gb_thread() % GB_WGMMA_PIECES;
    const bool is_inside = k + 8 * i < end;

    GB_UNROLL
    for (int row = first; row < GB_WGMMA_COLS; row += 128 / GB_WGMMA_PIECES)
        gb_copy_async_16(gb_wgmma_piece_of(w.p.cols[stage], row, i),
                         w.p.columns[row].from + GB_CUDA_HALVES_HEAD +
                             (is_inside ? 2 * k + 16 * i : 0),
                         is_inside && row < w.tile.n_cols ? 16 : 0);
    gb_copy_async_commit();
}

GB_DEVICE void
gb_wgmma_load_cols(const gb_wgmma_work &w, int stage, int64_t k)
{
    if (w.a.has_map)
        gb_wgmma_fetch_cols(w, stage, k);
    else
        gb_wgmma_copy_cols(w, stage, k);
}

/* A stage's columns are there for this thread, for the N-th time. */
GB_DEVICE void
gb_wgmma_wait_for_cols(const gb_wgmma_work &w, int stage, int n)
{
    if (w.a.has_map)
        gb_mbarrier_wait(&w.p.arrived[stage], n % 2);
    else
        gb_copy_async_wait<0>();
}

/* ---- a tile ---- */

template <typename how>
GB_DEVICE void
gb_wgmma_step(const gb_wgmma_work &w, int stage, float sums[64])
{
    const uint64_t a = gb_wgmma_panel(w.p.rows[stage]);
    const uint64_t b = gb_wgmma_panel(w.p.cols[stage]);

    gb_wgmma_fence();
    GB_UNROLL
    for (int i = 0; i < GB_WGMMA_STEP / 16; i++)
        how::multiply(sums, a + 2 * i, b + 2 * i);
    gb_wgmma_commit();
}

/*
 * All steps of k; N is the number of all steps before.  Behind the barrier of a
 * step all warps have waited for the step before it, whose stage is then loaded
 * again.
 */
template <typename T, typename how>
GB_DEVICE void
gb_wgmma_sum_up(const gb_wgmma_work &w, gb_mma_row<T> &row, int &n,
                float sums[64])
{
    const int64_t end = w.tile.k_end;

    GB_UNROLL
    for (int i = 0; i < 64; i++)
        sums[i] = 0.0f;
    if (w.tile.k < end) {
        gb_wgmma_load_cols(w, n % 2, w.tile.k);
        gb_wgmma_load_rows<T, typename how::half>(w.p.rows[n % 2], row,
                                                  w.tile.k, end);
    }
    GB_DO_NOT_UNROLL
    for (int64_t k = w.tile.k; k < end; k += GB_WGMMA_STEP, n++) {
        gb_wgmma_wait(sums);
        gb_wgmma_wait_for_cols(w, n % 2, n / 2);
        gb_async_proxy_fence();
        gb_sync();
        gb_wgmma_step<how>(w, n % 2, sums);
        if (k + GB_WGMMA_STEP >= end)
            continue;
        gb_wgmma_load_cols(w, (n + 1) % 2, k + GB_WGMMA_STEP);
        gb_wgmma_load_rows<T, typename how::half>(
            w.p.rows[(n + 1) % 2], row, k + GB_WGMMA_STEP, end);
    }
    gb_wgmma_wait(sums);
}

/* Columns 8 * EIGHTH and so on, two of this lane: rows ROW and ROW + 8. */
GB_DEVICE void
gb_wgmma_store_two(const gb_wgmma_work &w, const float sums[4], int eighth)
{
    const int first = gb_warp() * 16 + gb_lane() / 4;

    GB_UNROLL
    for (int i = 0; i < 4; i++) {
        const int j = 8 * eighth + gb_lane() % 4 * 2 + i % 2;
        const int64_t row = w.tile.row + first + i / 2 * 8;
        const gb_column column = w.p.columns[j];

        if (j < w.tile.n_cols && row < w.a.product.weights.ne[1])
            *(float *)(column.to + row * w.a.product.dst.nb[0]) =
                sums[i] * *(const float *)column.from *
                w.p.row_scales[first + i / 2 * 8];
    }
}

/* The first column of TILE among all rows of the map. */
GB_DEVICE int
gb_wgmma_row_of_map(const gb_cuda_product_args &a, const gb_product_tile &tile)
{
    return (int)(tile.col +
                 a.columns.ne[1] * (tile.i2 * a.r2 +
                                    a.columns.ne[2] * tile.i3 * a.r3));
}

GB_DEVICE gb_wgmma_stages *
gb_wgmma_take_stages()
{
    GB_DYNAMIC_SHARED(char, all);

    return (gb_wgmma_stages *)(all + (-(uintptr_t)all & 1023));
}

template <typename T, typename how>
GB_DEVICE void
gb_wgmma_tile(const gb_wgmma_work &w)
{
    gb_mma_row<T> row = gb_mma_row_of<T>(w.a.product, w.tile);
    float sums[64];
    int n = 0;

    do
        gb_wgmma_sum_up<T, how>(w, row, n, sums);
    while (!gb_format<T>::is_float && gb_mma_change_factors(row));
    gb_mma_keep_scale(row, w.p.row_scales);
    GB_UNROLL
    for (int eighth = 0; eighth < GB_WGMMA_COLS / 8; eighth++)
        gb_wgmma_store_two(w, sums + 4 * eighth, eighth);
}

template <typename T, typename how>
GB_DEVICE void
gb_wgmma_gemm(const gb_cuda_wgmma_args &a)
{
    const gb_product_tile tile =
        gb_product_tile_of(a.product, (uint32_t)gb_block());
    const gb_wgmma_work w = { a, tile, *gb_wgmma_take_stages(),
                              gb_wgmma_row_of_map(a.product, tile) };

    if (tile.n_cols == 0)
        return;
    if (gb_thread() == 0) {
        gb_mbarrier_init(&w.p.arrived[0], 1);
        gb_mbarrier_init(&w.p.arrived[1], 1);
        gb_mbarrier_init_fence();
    }
    gb_list_columns(a.product, tile, w.p.columns, GB_WGMMA_COLS);
    gb_wgmma_tile<T, how>(w);
}

#endif
