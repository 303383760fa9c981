/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/matrixmfma.cuh - GEMM on MFMA by tiles of 128 x 128, for products
 * of so many columns that such tiles fill a card.
 *
 * Four waves of 64 lanes have 64 rows and 64 columns of the tile each, by the
 * instruction of 32 x 32 sums: 16 of them for 16 loads from shared memory, and
 * weights are unpacked once for 128 columns.  The instruction's rows are the
 * tile's columns, so that 32 neighbouring lanes store 128 bytes of a column of D.
 *
 * A step has 32 values of k.  What a thread fetches for it, 16 weights and 32
 * bytes of columns, is in registers two steps before it is multiplied: one stage
 * of shared memory is written while the other is read.  Two thread blocks share
 * a compute unit, whose 64 KB the two stages of both fill to the byte; so what
 * else is shared lies where the stages were, before the first and behind the
 * last step.
 *
 * Rows of floats are whole steps and lie at pieces of 16 bytes; others are for
 * the smaller tiles.  Panels, rows and what becomes of values beyond f16's are
 * those of panelgemm.cuh.
 */
#ifndef GB_CUDA_KERNELS_MATRIXMFMA_CUH
#define GB_CUDA_KERNELS_MATRIXMFMA_CUH

#include "backends/cuda/kernels/matrix.cuh"
#include "backends/cuda/kernels/panelgemm.cuh"

#define GB_MFMA_LINES 2                                   /* of 32, of a wave */
#define GB_MFMA_WAVES (GB_CUDA_MFMA_THREADS / GB_WARP)
#define GB_MFMA_SHARE (GB_CUDA_MFMA_THREADS / GB_CUDA_MFMA_TILE)

typedef gb_piece gb_mfma_panel[GB_CUDA_MFMA_TILE][4];

struct gb_mfma_panels {
    gb_mfma_panel rows[2], cols[2];
};

struct gb_mfma_lists {
    gb_column columns[GB_CUDA_MFMA_TILE];
    float row_scales[GB_CUDA_MFMA_TILE]; /* of the sums */
    float changed[GB_MFMA_WAVES];
};

union gb_mfma_memory {
    gb_mfma_panels panels;
    gb_mfma_lists lists;
};

/* [rows / 32][columns / 32][of a lane]. */
struct gb_mfma_sums {
    float at[GB_MFMA_LINES][GB_MFMA_LINES][GB_MATRIX_WIDE_SUMS];
};

GB_DEVICE int
gb_mfma_first_row()
{
    return gb_warp() % 2 * 64;
}

GB_DEVICE int
gb_mfma_first_col()
{
    return gb_warp() / 2 * 64;
}

GB_DEVICE gb_piece *
gb_mfma_piece_of(gb_mfma_panel &panel, int line, int i)
{
    return &panel[line][i ^ line / 2 % 4];
}

/* What a thread has of a step until it is stored. */
template <typename T>
struct gb_mfma_fetched {
    gb_mma_fetched<T> weights;
    gb_piece cols[2];
};

/* And where it comes from, from the tile's k on; N steps. */
template <typename T>
struct gb_mfma_source {
    gb_mma_row<T> row;
    const char *cols[2];
    int n;
};

/* Step I of SOURCE, or the last one. */
template <typename T>
GB_DEVICE gb_mfma_fetched<T>
gb_mfma_fetch(const gb_mfma_source<T> &source, int i)
{
    const int at = i < source.n ? i : source.n - 1;
    const int sixteen = 2 * at + gb_thread() % GB_MFMA_SHARE;
    gb_mfma_fetched<T> fetched;

    if constexpr (!gb_format<T>::is_float) {
        fetched.weights = gb_load_sixteen(source.row.weights, sixteen);
    } else {
        GB_UNROLL
        for (int j = 0; j < 2; j++) {
            const gb_piece piece =
                gb_load_16(source.row.weights + 16 * (int64_t)sixteen + 8 * j);

            GB_UNROLL
            for (int l = 0; l < 4; l++)
                fetched.weights.halves[4 * j + l] = piece.words[l];
        }
    }
    GB_UNROLL
    for (int j = 0; j < 2; j++)
        fetched.cols[j] = gb_load_16(source.cols[j] + 64 * (int64_t)at);
    return fetched;
}

/* Which of a block's values were fetched follows from the step, which all lanes
 * have in common: so that it need not be kept, nor be worked with lane by lane. */
template <typename L>
GB_DEVICE void
gb_mfma_tell_step(L &, int)
{
}

GB_DEVICE void
gb_mfma_tell_step(gb_loaded_sixteen<gb_q4_k> &loaded, int i)
{
    loaded.first = i % 8 * 32;
}

/* What was fetched of step I, into STAGE. */
template <typename T>
GB_DEVICE void
gb_mfma_store(gb_mfma_panels &p, int stage, gb_mma_row<T> &row,
              gb_mfma_fetched<T> &fetched, int i)
{
    const int first = gb_thread() % GB_MFMA_SHARE * 2;
    uint32_t halves[8];

    GB_UNROLL
    for (int j = 0; j < 2; j++)
        *gb_mfma_piece_of(p.cols[stage], gb_thread() / 4 + 64 * j,
                          gb_thread() % 4) = fetched.cols[j];
    gb_mfma_tell_step(fetched.weights, i);
    gb_mma_unpack(row, fetched.weights, halves);
    GB_UNROLL
    for (int j = 0; j < 2; j++)
        *gb_mfma_piece_of(p.rows[stage], gb_thread() / GB_MFMA_SHARE,
                          first + j) = gb_piece_of(halves + 4 * j);
}

/* Of 32 values of k this lane has pieces lane / 32 and 2 + lane / 32. */
template <typename how>
GB_DEVICE void
gb_mfma_multiply(gb_mfma_panels &p, int stage, gb_mfma_sums &sums)
{
    GB_UNROLL
    for (int half = 0; half < 2; half++) {
        const int piece = 2 * half + gb_lane() / 32, line = gb_lane() % 32;
        gb_piece rows[GB_MFMA_LINES], cols[GB_MFMA_LINES];

        GB_UNROLL
        for (int i = 0; i < GB_MFMA_LINES; i++) {
            rows[i] = *gb_mfma_piece_of(
                p.rows[stage], gb_mfma_first_row() + 32 * i + line, piece);
            cols[i] = *gb_mfma_piece_of(
                p.cols[stage], gb_mfma_first_col() + 32 * i + line, piece);
        }
        GB_UNROLL
        for (int at = 0; at < 4; at += 2)
            GB_UNROLL
            for (int j = 0; j < GB_MFMA_LINES; j++)
                GB_UNROLL
                for (int i = 0; i < GB_MFMA_LINES; i++)
                    how::multiply(sums.at[i][j], cols[j].words + at,
                                  rows[i].words + at);
    }
}

/* The sums over the tile's k.  Behind the barrier of a step all waves have done
 * with the step before it, whose stage is then filled again. */
template <typename T, typename how>
GB_DEVICE gb_mfma_sums
gb_mfma_sum_up(gb_mfma_source<T> &source, gb_mfma_panels &p)
{
    gb_mfma_sums sums = {};
    gb_mfma_fetched<T> even, odd;

    if (source.n == 0)
        return sums;
    even = gb_mfma_fetch(source, 0);
    odd = gb_mfma_fetch(source, 1);
    gb_sync(); /* nobody reads lists there any more */
    gb_mfma_store(p, 0, source.row, even, 0);
    even = gb_mfma_fetch(source, 2);
    GB_DO_NOT_UNROLL
    for (int i = 1; i < source.n; i += 2) {
        gb_sync();
        gb_mfma_multiply<how>(p, 0, sums);
        gb_mfma_store(p, 1, source.row, odd, i);
        odd = gb_mfma_fetch(source, i + 2);
        gb_sync();
        gb_mfma_multiply<how>(p, 1, sums);
        gb_mfma_store(p, 0, source.row, even, i + 1);
        even = gb_mfma_fetch(source, i + 3);
    }
    gb_sync();
    if (source.n % 2 != 0)
        gb_mfma_multiply<how>(p, 0, sums);
    gb_sync(); /* and now they may be there again */
    return sums;
}

/* All threads of the block: does a row need another factor than it has?  It has
 * it then. */
template <typename T>
GB_DEVICE bool
gb_mfma_change_factors(gb_mma_row<T> &row, gb_mfma_lists &lists)
{
    const float factor = gb_mma_factor_for<GB_MFMA_SHARE>(row);
    const float changed = gb_warp_max(factor != row.factor ? 1.0f : 0.0f);
    float any = 0.0f;

    row.factor = factor;
    if (gb_lane() == 0)
        lists.changed[gb_warp()] = changed;
    gb_sync();
    GB_UNROLL
    for (int i = 0; i < GB_MFMA_WAVES; i++)
        any += lists.changed[i];
    return any > 0.0f;
}

GB_DEVICE void
gb_mfma_store_sums(const gb_cuda_product_args &a, const gb_product_tile &tile,
                   const gb_mfma_lists &lists, const gb_mfma_sums &sums)
{
    const int first = gb_mfma_first_row() + gb_lane() % 32;

    GB_UNROLL
    for (int j = 0; j < GB_MFMA_LINES; j++)
        GB_UNROLL
        for (int e = 0; e < GB_MATRIX_WIDE_SUMS; e++) {
            const int col =
                gb_mfma_first_col() + 32 * j + gb_matrix_wide_row(e);
            const gb_column column = lists.columns[col];

            if (col >= tile.n_cols)
                continue;
            GB_UNROLL
            for (int i = 0; i < GB_MFMA_LINES; i++) {
                const int64_t row = tile.row + first + 32 * i;

                if (row < a.weights.ne[1])
                    *(float *)(column.to + row * a.dst.nb[0]) =
                        sums.at[i][j][e] * *(const float *)column.from *
                        lists.row_scales[first + 32 * i];
            }
        }
}

/* All threads of the block. */
template <typename T, typename how>
GB_DEVICE void
gb_mfma_tile(const gb_cuda_product_args &a, const gb_product_tile &tile,
             gb_mfma_memory &memory)
{
    gb_mfma_source<T> source;
    gb_mfma_sums sums;

    source.row = gb_mma_row_of<GB_MFMA_SHARE, T>(a, tile);
    source.n = (int)(tile.k_end - tile.k) / GB_CUDA_K_STEP;
    source.row.weights += tile.k / gb_format<T>::values;
    gb_list_columns(a, tile, memory.lists.columns, GB_CUDA_MFMA_TILE);
    GB_UNROLL
    for (int i = 0; i < 2; i++)
        source.cols[i] =
            memory.lists.columns[gb_thread() / 4 + 64 * i].from +
            GB_CUDA_HALVES_HEAD + 2 * tile.k + 16 * (gb_thread() % 4);
    do {
        gb_sync();
        sums = gb_mfma_sum_up<T, how>(source, memory.panels);
    } while (!gb_format<T>::is_float &&
             gb_mfma_change_factors(source.row, memory.lists));
    gb_sync();
    gb_list_columns(a, tile, memory.lists.columns, GB_CUDA_MFMA_TILE);
    gb_mma_keep_scale<GB_MFMA_SHARE>(source.row, memory.lists.row_scales);
    gb_mfma_store_sums(a, tile, memory.lists, sums);
}

template <typename T, typename how>
GB_DEVICE void
gb_mfma_gemm(const gb_cuda_product_args &a)
{
    GB_SHARED gb_mfma_memory memory;
    const gb_product_tile tile = gb_product_tile_of(a, (uint32_t)gb_block());

    if (tile.n_cols == 0)
        return;
    gb_mfma_tile<T, how>(a, tile, memory);
}

#endif
