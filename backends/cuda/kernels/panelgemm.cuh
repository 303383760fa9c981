/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/panelgemm.cuh - GEMM by matrix instructions on halves in shared
 * memory, whatever the instructions are.
 *
 * Tiles of 64 rows and 64 columns by 128 threads.  A step has 32 values of k, in
 * two stages of 8 KB: while one is multiplied, each thread fetches 16 weights
 * and 32 bytes of packed columns of the next, and stores the weights as halves
 * behind the products.  Unpacking is the limit.
 *
 * Lines of a panel are 64 bytes, four pieces of 16; piece i of line r is in the
 * place i ^ r / 2 % 4.  So the eight pieces that eight lanes load or store at a
 * time lie in different banks.
 *
 * Blocks may hold values beyond f16's 65,504.  Each thread keeps a bound of all
 * that it unpacked; where a row of the tile has such values, the tile is
 * multiplied again with those rows times powers of two.  Nearly no weights have
 * that, and looking at the scales beforehand would read all of them twice.
 *
 * A HOW says what a warp does with a stage and with its sums (sums, step, store),
 * and whether columns arrive by copies that go on by themselves
 * (copies_async): otherwise they are in registers while a stage is multiplied.
 */
#ifndef GB_CUDA_KERNELS_PANELGEMM_CUH
#define GB_CUDA_KERNELS_PANELGEMM_CUH

#include "backends/cuda/kernels/halves.cuh"
#include "backends/cuda/kernels/mma.cuh"
#include "backends/cuda/kernels/product.cuh"

#define GB_MMA_TILE  64 /* rows, and columns */
#define GB_MMA_SHARE 2  /* threads that unpack a row */

/* Lines of four pieces, GB_CUDA_K_STEP halves. */
typedef gb_piece gb_mma_panel[GB_MMA_TILE][4];

struct gb_mma_panels {
    gb_mma_panel rows[2], cols[2];
    gb_column columns[GB_MMA_TILE];
    float row_scales[GB_MMA_TILE]; /* of the sums */
};

GB_DEVICE gb_piece *
gb_mma_piece_of(gb_mma_panel &panel, int line, int i)
{
    return &panel[line][i ^ line / 2 % 4];
}

/* A row of weights as one thread works on it. */
template <typename T>
struct gb_mma_row {
    const T *weights; /* of the last row for those behind it */
    float factor;     /* the row is multiplied by it */
    float largest;    /* no magnitude that was loaded is above, without it */
};

/* Sixteen weights on their way: of blocks, or halves. */
struct gb_fetched_halves {
    uint32_t halves[8];
};

template <typename T, bool is_float>
struct gb_fetched_of {
    typedef gb_loaded_sixteen<T> type;
};

template <typename T>
struct gb_fetched_of<T, true> {
    typedef gb_fetched_halves type;
};

template <typename T>
using gb_mma_fetched = typename gb_fetched_of<T, gb_format<T>::is_float>::type;

/* Those of ROW from K on, which is in a step of STEP; zeros behind END, where a
 * row in blocks ends with one of them. */
template <int step, typename T, typename index>
GB_DEVICE gb_mma_fetched<T>
gb_mma_fetch(const gb_mma_row<T> &row, index k, index end)
{
    gb_mma_fetched<T> fetched;

    if constexpr (gb_format<T>::is_float)
        gb_sixteen_floats(row.weights, k, end, fetched.halves);
    else if (T::values % step == 0 || k < end)
        fetched = gb_load_sixteen(row.weights, (index)(gb_unsigned(k) / 16));
    else
        fetched = {};
    return fetched;
}

/* SIXTEEN is of ROW. */
template <typename T>
GB_DEVICE void
gb_mma_keep_bound(gb_mma_row<T> &row, const gb_sixteen &sixteen)
{
    const float bound = gb_sixteen_bound(sixteen);

    row.largest = bound > row.largest ? bound : row.largest;
}

/* What was fetched of ROW, which is in blocks. */
template <typename T>
GB_DEVICE gb_sixteen
gb_mma_sixteen(gb_mma_row<T> &row, const gb_mma_fetched<T> &fetched)
{
    const gb_sixteen sixteen = gb_sixteen_of(fetched);

    gb_mma_keep_bound(row, sixteen);
    return sixteen;
}

/* Halves of what was fetched of ROW. */
template <typename T>
GB_DEVICE void
gb_mma_unpack(gb_mma_row<T> &row,
              const gb_mma_fetched<T> &fetched,
              uint32_t out[8])
{
    if constexpr (gb_format<T>::is_float) {
        GB_UNROLL
        for (int i = 0; i < 8; i++)
            out[i] = fetched.halves[i];
    } else {
        gb_sixteen_halves<T::has_mins>(gb_mma_sixteen(row, fetched), row.factor,
                                       out);
    }
}

/* Two pieces of a thread's line. */
GB_DEVICE void
gb_mma_store_row(gb_mma_panel &panel, const uint32_t halves[8])
{
    const int line = gb_thread() / GB_MMA_SHARE;
    const int first = gb_thread() % GB_MMA_SHARE * 2;

    GB_UNROLL
    for (int i = 0; i < 2; i++)
        *gb_mma_piece_of(panel, line, first + i) = gb_piece_of(halves + 4 * i);
}

/* Two pieces of 16 bytes of the columns' panel. */
struct gb_mma_cols {
    gb_piece at[2];
};

/* Begin to load those of K into STAGE: by themselves, or into COLS. */
template <typename how>
GB_DEVICE void
gb_mma_load_cols(gb_mma_panels &p, int stage, int n_cols, int64_t k,
                 gb_mma_cols &cols)
{
    const int line = gb_thread() / 4, piece = gb_thread() % 4;

    GB_UNROLL
    for (int i = 0; i < 2; i++) {
        const char *const from = p.columns[line + 32 * i].from +
                                 GB_CUDA_HALVES_HEAD + 2 * k + 16 * piece;

        if constexpr (how::copies_async)
            gb_copy_async_16(
                gb_mma_piece_of(p.cols[stage], line + 32 * i, piece), from,
                line + 32 * i < n_cols ? 16 : 0);
        else
            cols.at[i] = gb_load_16(from);
    }
    if constexpr (how::copies_async)
        gb_copy_async_commit();
}

/* Columns that are in registers, into STAGE. */
template <typename how>
GB_DEVICE void
gb_mma_store_cols(gb_mma_panels &p, int stage, const gb_mma_cols &cols)
{
    const int line = gb_thread() / 4, piece = gb_thread() % 4;

    if constexpr (!how::copies_async)
        GB_UNROLL
        for (int i = 0; i < 2; i++)
            *gb_mma_piece_of(p.cols[stage], line + 32 * i, piece) = cols.at[i];
}

/*
 * The sums over the tile's k.  Behind the barrier of a step all warps have done
 * with the step before it, whose stage is then filled again.
 */
template <typename T, typename how>
GB_DEVICE typename how::sums
gb_mma_sum_up(const gb_product_tile &tile, gb_mma_panels &p, gb_mma_row<T> &row)
{
    const int first = gb_thread() % GB_MMA_SHARE * 16;
    typename how::sums sums = {};
    gb_mma_cols cols = {};
    uint32_t halves[8];
    int stage = 0;

    gb_sync();
    if (tile.k < tile.k_end) {
        gb_mma_load_cols<how>(p, 0, tile.n_cols, tile.k, cols);
        gb_mma_unpack(row,
                      gb_mma_fetch<GB_CUDA_K_STEP>(row, tile.k + first,
                                                   tile.k_end),
                      halves);
        gb_mma_store_cols<how>(p, 0, cols);
        gb_mma_store_row(p.rows[0], halves);
    }
    GB_DO_NOT_UNROLL
    for (int64_t k = tile.k; k < tile.k_end; k += GB_CUDA_K_STEP) {
        const int64_t next = k + GB_CUDA_K_STEP;
        gb_mma_fetched<T> fetched = {};

        if constexpr (how::copies_async)
            gb_copy_async_wait<0>();
        gb_sync();
        if (next < tile.k_end) {
            gb_mma_load_cols<how>(p, 1 - stage, tile.n_cols, next, cols);
            fetched = gb_mma_fetch<GB_CUDA_K_STEP>(row, next + first,
                                                   tile.k_end);
        }
        how::step(p, stage, sums);
        stage = 1 - stage;
        if (next < tile.k_end) {
            gb_mma_store_cols<how>(p, stage, cols);
            gb_mma_unpack(row, fetched, halves);
            gb_mma_store_row(p.rows[stage], halves);
        }
    }
    return sums;
}

/* The factor that a row needs whose LARGEST value it is. */
GB_DEVICE float
gb_mma_factor(float largest)
{
    return largest <= 65504.0f ? 1.0f : gb_f16_factor(largest);
}

/* The same of ROW, by what all of its threads loaded. */
template <int share, typename T>
GB_DEVICE float
gb_mma_factor_for(const gb_mma_row<T> &row)
{
    return gb_mma_factor(gb_warp_max<share>(row.largest));
}

/* All threads of the block, SHARE a row of ROWS: does a row need another factor
 * than it has?  It has it then. */
template <int share, int rows, typename T>
GB_DEVICE bool
gb_mma_change_factors(gb_mma_row<T> &row)
{
    const float factor = gb_mma_factor_for<share>(row);
    const bool is_changed = factor != row.factor;

    row.factor = factor;
    return gb_block_max<rows * share>(is_changed ? 1.0f : 0.0f) > 0.0f;
}

/* This thread's row, SHARE threads a row. */
template <int share, typename T>
GB_DEVICE gb_mma_row<T>
gb_mma_row_of(const gb_cuda_product_args &a, const gb_product_tile &tile)
{
    const int64_t last = a.weights.ne[1] - 1;
    const int64_t number = tile.row + gb_thread() / share;

    return { (const T *)(tile.weights +
                         (number < last ? number : last) * a.weights.nb[1]),
             1.0f, 0.0f };
}

/* All threads of the block: what the sums of each row have to be multiplied by. */
template <int share, typename T>
GB_DEVICE void
gb_mma_keep_scale(const gb_mma_row<T> &row, float *scales)
{
    if (gb_thread() % share == 0)
        scales[gb_thread() / share] = 1.0f / row.factor;
    gb_sync();
}

/* All threads of the block. */
template <typename T, typename how>
GB_DEVICE void
gb_mma_tile(const gb_cuda_product_args &a, const gb_product_tile &tile,
            gb_mma_panels &p)
{
    gb_mma_row<T> row = gb_mma_row_of<GB_MMA_SHARE, T>(a, tile);
    typename how::sums sums;

    do
        sums = gb_mma_sum_up<T, how>(tile, p, row);
    while (!gb_format<T>::is_float &&
           gb_mma_change_factors<GB_MMA_SHARE, GB_MMA_TILE>(row));
    gb_mma_keep_scale<GB_MMA_SHARE>(row, p.row_scales);
    how::store(a, tile, p, sums);
}

template <typename T, typename how>
GB_DEVICE void
gb_mma_gemm(const gb_cuda_product_args &a)
{
    GB_SHARED gb_mma_panels p;
    const gb_product_tile tile = gb_product_tile_of(a, (uint32_t)gb_block());

    if (tile.n_cols == 0)
        return;
    gb_list_columns(a, tile, p.columns, GB_MMA_TILE);
    gb_mma_tile<T, how>(a, tile, p);
}

#endif
