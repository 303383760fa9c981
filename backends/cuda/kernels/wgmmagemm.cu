/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/wgmmagemm.cu - GEMM by warp groups (WGMMA), for every type of
 * weights but F32.
 *
 * Tiles of 64 rows and 128 columns by one warp group, 128 threads with 64 sums
 * each.  A step has 64 values of k, in two stages of 8 KB of rows and 16 KB of
 * columns: while the tensor cores multiply one, threads unpack the weights of the
 * next, 32 values each, and TMA fetches its columns.  Unpacking is the limit.
 *
 * Where columns of a tile lie anywhere (MUL_MAT_ID), or the columns of a matrix
 * not one after the other, threads copy them, 16 bytes at a time.
 */
#include "backends/cuda/kernels/mmagemm.cuh"

#define ROWS   GB_CUDA_WGMMA_ROWS
#define COLS   GB_CUDA_WGMMA_COLS
#define STEP   GB_CUDA_WGMMA_K
#define PIECES (2 * STEP / 16) /* of 16 bytes, in a row of a panel */

struct panels {
    uint16_t rows[2][ROWS * STEP];
    uint16_t cols[2][COLS * STEP];
    gb_column columns[COLS];
    uint64_t arrived[2]; /* barriers: a stage's columns are there */
};

static_assert(sizeof(panels) + 1024 - 16 <= GB_CUDA_WGMMA_SHARED,
              "panels begin at a multiple of 1,024");
static_assert(STEP % GB_CUDA_K_STEP == 0, "columns end with a piece");

struct wgmma_f16 {
    typedef gb_f16 half;

    GB_DEVICE void
    multiply(float d[64], uint64_t a, uint64_t b)
    {
        gb_wgmma_m64n128k16_f16(d, a, b);
    }
};

struct wgmma_bf16 {
    typedef gb_bf16 half;

    GB_DEVICE void
    multiply(float d[64], uint64_t a, uint64_t b)
    {
        gb_wgmma_m64n128k16_bf16(d, a, b);
    }
};

/* What a block works on. */
struct work {
    const gb_cuda_wgmma_args &a;
    const gb_product_tile &tile;
    panels &p;
    int y; /* of the map: the tile's first column */
};

struct alignas(16) piece {
    uint32_t words[4];
};

/* Piece I of row ROW of a panel. */
GB_DEVICE piece *
piece_of(uint16_t *panel, int row, int i)
{
    return (piece *)(panel + row * STEP) + (i ^ row % 8);
}

/* ---- weights ---- */

template <typename H>
GB_DEVICE uint32_t
pair_of(float low, float high)
{
    H pair[2];

    gb_store(&pair[0], low);
    gb_store(&pair[1], high);
    return pair[0].bits | (uint32_t)pair[1].bits << 16;
}

/* Sixteen values: two pieces. */
template <typename H>
GB_DEVICE void
store_values(uint16_t *panel, int row, int i, const float values[16])
{
    GB_UNROLL
    for (int j = 0; j < 2; j++) {
        const float *v = values + 8 * j;

        *piece_of(panel, row, i + j) = {
            { pair_of<H>(v[0], v[1]), pair_of<H>(v[2], v[3]),
              pair_of<H>(v[4], v[5]), pair_of<H>(v[6], v[7]) }
        };
    }
}

/* Half a row of a panel, from K on; zeros behind END, where a row of weights in
 * blocks ends with one of them. */
template <typename T, typename H>
GB_DEVICE void
load_rows(uint16_t *panel, const T *row, int64_t k, int64_t end)
{
    const int half = gb_thread() % 2;

    GB_UNROLL
    for (int i = 0; i < STEP / 2; i += 16) {
        const int64_t at = k + half * (STEP / 2) + i;
        float values[16] = {};

        if (at < end)
            gb_mma_unpack16(row, at, end, values);
        store_values<H>(panel, gb_thread() / 2, half * (PIECES / 2) + i / 8,
                        values);
    }
}

/* ---- columns ---- */

GB_DEVICE void
fetch_cols(const work &w, int stage, int64_t k)
{
    if (gb_thread() != 0)
        return;
    gb_mbarrier_arrive_expect(&w.p.arrived[stage], sizeof(w.p.cols[stage]));
    gb_tma_load(w.p.cols[stage], &w.a.map, (int)k, w.y, &w.p.arrived[stage]);
}

/* A thread a piece of every sixteenth column. */
GB_DEVICE void
copy_cols(const work &w, int stage, int64_t k)
{
    const int64_t all = w.a.product.columns.ne[0];
    const int64_t end = (all + GB_CUDA_K_STEP - 1) / GB_CUDA_K_STEP *
                        GB_CUDA_K_STEP;
    const int i = gb_thread() % PIECES;
    const bool is_inside = k + 8 * i < end;

    GB_UNROLL
    for (int row = gb_thread() / PIECES; row < COLS; row += 128 / PIECES)
        gb_copy_async_16(piece_of(w.p.cols[stage], row, i),
                         w.p.columns[row].from + GB_CUDA_HALVES_HEAD +
                             (is_inside ? 2 * k + 16 * i : 0),
                         is_inside && row < w.tile.n_cols ? 16 : 0);
    gb_copy_async_commit();
}

GB_DEVICE void
load_cols(const work &w, int stage, int64_t k)
{
    if (w.a.has_map)
        fetch_cols(w, stage, k);
    else
        copy_cols(w, stage, k);
}

/* A stage's columns are there for this thread, for the N-th time. */
GB_DEVICE void
wait_for_cols(const work &w, int stage, int n)
{
    if (w.a.has_map)
        gb_mbarrier_wait(&w.p.arrived[stage], n % 2);
    else
        gb_copy_async_wait<0>();
}

/* ---- a tile ---- */

template <typename how>
GB_DEVICE void
multiply(const work &w, int stage, float sums[64])
{
    const uint64_t a = gb_wgmma_panel(w.p.rows[stage]);
    const uint64_t b = gb_wgmma_panel(w.p.cols[stage]);

    gb_wgmma_fence();
    GB_UNROLL
    for (int i = 0; i < STEP / 16; i++)
        how::multiply(sums, a + 2 * i, b + 2 * i);
    gb_wgmma_commit();
}

/*
 * All steps of k.  Behind the barrier of a step all warps have waited for the
 * step before it, whose stage is then loaded again.
 */
template <typename T, typename how>
GB_DEVICE void
multiply_all(const work &w, const T *row, float sums[64])
{
    const int64_t end = w.tile.k_end;
    int n = 0;

    if (w.tile.k < end) {
        load_cols(w, 0, w.tile.k);
        load_rows<T, typename how::half>(w.p.rows[0], row, w.tile.k, end);
    }
    GB_DO_NOT_UNROLL
    for (int64_t k = w.tile.k; k < end; k += STEP, n++) {
        gb_wgmma_wait(sums);
        wait_for_cols(w, n % 2, n / 2);
        gb_async_proxy_fence();
        gb_sync();
        multiply<how>(w, n % 2, sums);
        if (k + STEP >= end)
            break;
        load_cols(w, (n + 1) % 2, k + STEP);
        load_rows<T, typename how::half>(w.p.rows[(n + 1) % 2], row, k + STEP,
                                         end);
    }
    gb_wgmma_wait(sums);
}

/* Columns 8 * EIGHTH and so on, two of this lane: rows ROW and ROW + 8. */
GB_DEVICE void
store_two_columns(const work &w, const float sums[4], int eighth)
{
    const int64_t row = w.tile.row + gb_warp() * 16 + gb_lane() / 4;

    GB_UNROLL
    for (int i = 0; i < 4; i++) {
        const int j = 8 * eighth + gb_lane() % 4 * 2 + i % 2;
        const int64_t at = row + i / 2 * 8;
        const gb_column column = w.p.columns[j];

        if (j < w.tile.n_cols && at < w.a.product.weights.ne[1])
            *(float *)(column.to + at * w.a.product.dst.nb[0]) =
                sums[i] * *(const float *)column.from;
    }
}

/* The first column of TILE among all rows of the map. */
GB_DEVICE int
row_of_map(const gb_cuda_product_args &a, const gb_product_tile &tile)
{
    return (int)(tile.col +
                 a.columns.ne[1] * (tile.i2 * a.r2 +
                                    a.columns.ne[2] * tile.i3 * a.r3));
}

/* The shared memory that the launch asked for, from a multiple of 1,024 on. */
GB_DEVICE panels *
take_panels()
{
    GB_DYNAMIC_SHARED(char, all);

    return (panels *)(all + (-(uintptr_t)all & 1023));
}

template <typename T, typename how>
GB_DEVICE void
gemm(const gb_cuda_wgmma_args &a)
{
    const gb_product_tile tile = gb_product_tile_of(a.product);
    const work w = { a, tile, *take_panels(), row_of_map(a.product, tile) };
    const int64_t last = a.product.weights.ne[1] - 1;
    const int64_t row = tile.row + gb_thread() / 2;
    float sums[64] = {};

    if (tile.n_cols == 0)
        return;
    if (gb_thread() == 0) {
        gb_mbarrier_init(&w.p.arrived[0], 1);
        gb_mbarrier_init(&w.p.arrived[1], 1);
        gb_mbarrier_init_fence();
    }
    gb_list_columns(a.product, tile, w.p.columns, COLS);
    multiply_all<T, how>(
        w,
        (const T *)(tile.weights +
                    (row < last ? row : last) * a.product.weights.nb[1]),
        sums);
    GB_UNROLL
    for (int eighth = 0; eighth < COLS / 8; eighth++)
        store_two_columns(w, sums + 4 * eighth, eighth);
}

#define GEMM(name, type, how)                   \
    GB_KERNEL(128, gb_wgmma_gemm_##name, wgmma) \
    {                                           \
        if constexpr (gb_has_wgmma)             \
            gemm<type, how>(a);                 \
    }

GEMM(f16, gb_f16, wgmma_f16)
GEMM(bf16, gb_bf16, wgmma_bf16)

#define GB_CUDA_FLOATS(TYPE, name, type)
#define GB_CUDA_BLOCKS(TYPE, name) GEMM(name, gb_##name, wgmma_f16)
#include "backends/cuda/kernels/formats.def"
