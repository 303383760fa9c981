/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/wgmmagemm.cuh - GEMM by warp groups.
 *
 * Tiles of 128 rows and 256 columns by four warp groups.  Two multiply, 64 rows and
 * all columns each, with 128 sums a thread; two bring what is multiplied, and have
 * given registers to the others.  A step has 64 values of k, 16 KB of rows and 32 KB
 * of columns.  Columns come by TMA, three steps ahead, into four stages.  Rows in
 * blocks are copied unchanged, in parts of 256 values (128 of q8_0); two parts are in
 * flight or being unpacked.  A thread makes halves of 32 values of a step from them.  Bulk copies would be a loop over lanes, nine instructions a row.
 *
 * Two barriers of the block are in a step.  Behind the first its panels are there, and
 * it is queued while the step before is still multiplied.  In front of the second one
 * that step is over, and halves of the next are in registers; behind it they are
 * stored in its place.  So the tensor cores always have a step to do as long as the
 * others take less time for theirs.
 *
 * A step is 1,024 clocks of the tensor cores.  Beside it a multiprocessor issues 200
 * to 390 instructions of eight warps, halves 155, and 80 of eight others: that is the
 * limit, except for halves, q4_0 and q8_0, which the L2 cache limits: it delivers 48 KB
 * of halves, 37 KB of q4_0.  Shared memory gives the MMA 96 KB and takes 32 KB of columns,
 * 1,024 clocks, and 190 (iq1_m) to 360 (q6_K) accesses of the producer warps.
 *
 * Products with the same columns are one launch, each with its own tiles.
 *
 * Halves are copied, not unpacked.  Weights beyond f16's range are multiplied
 * once more, as in panelgemm.cuh.
 *
 * Where columns of a tile lie anywhere (MUL_MAT_ID), or the columns of a matrix
 * not one after the other, threads copy them, 16 bytes at a time; rows of halves
 * that begin nowhere in particular are loaded one by one.  That is a loop of its
 * own: the usual one has neither, and counts k in 32 bits.
 */
#ifndef GB_CUDA_KERNELS_WGMMAGEMM_CUH
#define GB_CUDA_KERNELS_WGMMAGEMM_CUH

#include "backends/cuda/kernels/addends.cuh"
#include "backends/cuda/kernels/panelgemm.cuh"
#include "backends/cuda/kernels/subblock.cuh"

#define GB_WGMMA_ROWS   GB_CUDA_WGMMA_ROWS
#define GB_WGMMA_COLS   GB_CUDA_WGMMA_COLS
#define GB_WGMMA_HALF   (GB_WGMMA_COLS / 2)      /* columns of an MMA */
#define GB_WGMMA_STEP   GB_CUDA_WGMMA_K
#define GB_WGMMA_PIECES (2 * GB_WGMMA_STEP / 16) /* of 16 bytes, in a row */
#define GB_WGMMA_MAKERS (GB_CUDA_WGMMA_THREADS / 2) /* threads that unpack */
#define GB_WGMMA_SHARE  2                        /* of which a row has so many */
#define GB_WGMMA_STAGES 4
#define GB_WGMMA_PARTS  2  /* of rows in blocks, of which a warp waits for one */
#define GB_WGMMA_LINES  32 /* that they copy at a time, a piece each */
#define GB_WGMMA_PANEL  (GB_WGMMA_ROWS * GB_WGMMA_STEP) /* halves of rows */
#define GB_WGMMA_OWN    128 /* sums of a thread that multiplies */
#define GB_WGMMA_MORE   160 /* registers of it */
#define GB_WGMMA_LESS   96  /* and of one that unpacks */

/* The launch's shared memory, from a multiple of 1,024 on. */
struct gb_wgmma_stages {
    uint16_t cols[GB_WGMMA_STAGES][GB_WGMMA_COLS * GB_WGMMA_STEP];
    /* Panels of rows, then parts of packed rows. */
    char rows[2 * 2 * GB_WGMMA_PANEL + GB_WGMMA_PARTS * GB_WGMMA_ROWS * 240];
    gb_column columns[GB_WGMMA_COLS];
    float row_scales[GB_WGMMA_ROWS]; /* of the sums */
    uint64_t arrived[GB_WGMMA_STAGES]; /* barriers: a stage's columns are there */
    gb_product_tile tile; /* here, since registers are few */
    int product; /* which of the launch's */
    bool is_changed[GB_WGMMA_MAKERS / GB_WARP]; /* a row's factor, by warps */
};

static_assert(sizeof(gb_wgmma_stages) + 1024 - 16 <= GB_CUDA_WGMMA_SHARED,
              "panels begin at a multiple of 1,024");
static_assert(GB_WGMMA_ROWS * GB_WGMMA_SHARE == GB_WGMMA_MAKERS &&
                  GB_WGMMA_LINES * GB_WGMMA_PIECES == GB_WGMMA_MAKERS,
              "all of these threads unpack and copy");
static_assert(GB_WGMMA_STEP % GB_CUDA_K_STEP == 0, "columns end with a piece");

/* Rows in blocks of T come to shared memory in parts. */
template <typename T>
struct gb_wgmma_part {
    static constexpr int values = sizeof(T) > T::values ? 128 : 256;
    static constexpr int steps = values / GB_WGMMA_STEP;
    static constexpr int bytes = values / T::values * (int)sizeof(T);
    /* From row to row: all pieces of 16 bytes that a part may touch, and an odd
     * number of them, so that those of eight rows lie in different banks. */
    static constexpr int pitch = ((bytes + 31 - (int)alignof(T)) / 16 | 1) * 16;

    static_assert(2 * 2 * GB_WGMMA_PANEL +
                          GB_WGMMA_PARTS * GB_WGMMA_ROWS * pitch <=
                      sizeof(gb_wgmma_stages::rows),
                  "parts have room");
};

/* Panels of rows: those that are copied are on their way together. */
template <bool unpacks>
static constexpr uint32_t gb_wgmma_panels = unpacks ? 2 : GB_WGMMA_STAGES;

/* What a block works on. */
struct gb_wgmma_work {
    const gb_cuda_wgmma_args &args;
    gb_wgmma_stages &p;
    int y; /* of the map: the tile's first column */
};

/* Number of this thread among those that unpack. */
GB_DEVICE int
gb_wgmma_maker()
{
    return gb_thread() & (GB_WGMMA_MAKERS - 1);
}

/* The row of which it makes halves, and its share of that: eight lanes have eight rows,
 * and the other share is eight lanes away. */
GB_DEVICE int
gb_wgmma_maker_row()
{
    return gb_wgmma_maker() / 16 * 8 + gb_wgmma_maker() % 8;
}

GB_DEVICE int
gb_wgmma_maker_share()
{
    return gb_wgmma_maker() / 8 % GB_WGMMA_SHARE;
}

/* All threads of the block meet, wherever they come from: one function for each
 * of the meetings. */
GB_DEVICE void
gb_wgmma_sync_start()
{
    gb_sync_groups(GB_CUDA_WGMMA_THREADS);
}

GB_DEVICE void
gb_wgmma_sync_ready()
{
    gb_sync_groups(GB_CUDA_WGMMA_THREADS);
}

GB_DEVICE void
gb_wgmma_sync_free()
{
    gb_sync_groups(GB_CUDA_WGMMA_THREADS);
}

GB_DEVICE void
gb_wgmma_sync_done()
{
    gb_sync_groups(GB_CUDA_WGMMA_THREADS);
}

GB_DEVICE void
gb_wgmma_sync_sums()
{
    gb_sync_groups(GB_CUDA_WGMMA_THREADS);
}

/* The product that the block's tile is of. */
GB_DEVICE const gb_cuda_product_args &
gb_wgmma_product(const gb_wgmma_work &w)
{
    return w.args.products.of[w.p.product];
}

GB_DEVICE uint16_t *
gb_wgmma_rows(const gb_wgmma_work &w, uint32_t panel)
{
    return (uint16_t *)w.p.rows + panel * GB_WGMMA_PANEL;
}

/* Piece I of row ROW of a panel. */
GB_DEVICE gb_piece *
gb_wgmma_piece_of(uint16_t *panel, int row, int i)
{
    return (gb_piece *)(panel + row * GB_WGMMA_STEP) + (i ^ row % 8);
}

/* The line and the piece of it that this thread copies first. */
GB_DEVICE int
gb_wgmma_line()
{
    return gb_wgmma_maker() / GB_WGMMA_PIECES;
}

GB_DEVICE int
gb_wgmma_piece()
{
    return gb_wgmma_maker() % GB_WGMMA_PIECES;
}

/* ---- weights ---- */

/* Row LINE of the tile; the last one's where there is none. */
GB_DEVICE const char *
gb_wgmma_row(const gb_wgmma_work &w, int line)
{
    const gb_cuda_tensor &weights = gb_wgmma_product(w).weights;
    const int64_t row = w.p.tile.row + line, last = weights.ne[1] - 1;

    return w.p.tile.weights + (row < last ? row : last) * weights.nb[1];
}

/* Where row LINE of the part with value K is in shared memory, from its first piece
 * on. */
template <typename T, typename index>
GB_DEVICE char *
gb_wgmma_part_of(const gb_wgmma_work &w, index k, int line)
{
    typedef gb_wgmma_part<T> part;
    const int place = (int)(gb_unsigned(k) / part::values % GB_WGMMA_PARTS);

    return w.p.rows + 2 * 2 * GB_WGMMA_PANEL +
           (place * GB_WGMMA_ROWS + line) * part::pitch;
}

/*
 * Of a part with an edge of its row, every second piece from FROM on to TO: what lies
 * behind SKIP bytes, as far as blocks of N values reach.  Nothing else is read.
 */
template <typename T>
GB_DEVICE void
gb_wgmma_begin_edge(char *to, const char *from, int skip, int n, bool is_first)
{
    const int end = skip + n / T::values * (int)sizeof(T);

    GB_DO_NOT_UNROLL
    for (int at = 0; at < end; at += 16 * GB_WGMMA_SHARE)
        if (is_first && at < skip)
            GB_DO_NOT_UNROLL
            for (int i = 0; i < 16; i += 2)
                *(uint16_t *)(to + i) = at + i < skip || at + i >= end
                                            ? (uint16_t)0
                                            : *(const uint16_t *)(from + i);
        else
            gb_copy_async_16(to + at, from + at, end - at < 16 ? end - at : 16);
}

/*
 * Begin to copy this thread's row of the part at K, every second piece of it, if there
 * is one.  Blocks are at multiples of 2, pieces at multiples of 16.  Where the row has
 * something in front of the part and behind it, whole pieces are copied.
 */
template <typename T, typename index>
GB_DEVICE void
gb_wgmma_begin_part(const gb_wgmma_work &w, const gb_mma_row<T> &row, index k,
                    index end)
{
    typedef gb_wgmma_part<T> part;
    constexpr int step = 16 * GB_WGMMA_SHARE;
    const index left = (index)(end - k);
    const char *const start =
        (const char *)(row.weights + gb_unsigned(k) / T::values);
    const int skip = alignof(T) < 16 ? (int)((uintptr_t)start % 16) : 0;
    const int first = gb_wgmma_maker_share() * 16;
    const char *const from = start - skip + first;
    char *const to = gb_wgmma_part_of<T>(w, k, gb_wgmma_maker_row()) + first;

    if (k == 0 || left <= part::values) {
        if (left > 0)
            gb_wgmma_begin_edge<T>(
                to, from, skip - first,
                (int)(left < part::values ? left : part::values), k == 0);
        return;
    }
    GB_UNROLL
    for (int at = 0; at < part::pitch; at += step)
        if (at + step <= part::bytes || first + at < skip + part::bytes)
            gb_copy_async_16(to + at, from + at, 16);
}

/* This thread's 32 values of the step at K, from a part in shared memory; zeros from
 * END on. */
template <typename T, typename index>
GB_DEVICE void
gb_wgmma_load_rows(const gb_wgmma_work &w, const gb_mma_row<T> &row, index k,
                   index end, gb_sixteen sixteens[2])
{
    typedef gb_wgmma_part<T> part;
    const int share = gb_wgmma_maker_share();
    const uint32_t inside = (uint32_t)gb_unsigned(k) % part::values;
    const T *const first = row.weights + (gb_unsigned(k) - inside) / T::values;
    const T *const blocks =
        (const T *)(gb_wgmma_part_of<T>(w, k, gb_wgmma_maker_row()) +
                    (alignof(T) < 16 ? (uintptr_t)first % 16 : 0));
    const uint32_t unit = inside / 32 + (uint32_t)share;

    if (T::values % GB_WGMMA_STEP == 0 || k + 32 * share < end)
        gb_load_sub_block(blocks + unit / (T::values / 32),
                          (int)(unit % (T::values / 32)), sixteens);
}

/* Halves of a row of PANEL. */
GB_DEVICE void
gb_wgmma_store_rows(uint16_t *panel, const uint32_t halves[16])
{
    const int share = gb_wgmma_maker_share();

    GB_UNROLL
    for (int i = 0; i < 4; i++)
        *gb_wgmma_piece_of(panel, gb_wgmma_maker_row(), 4 * share + i) =
            gb_piece_of(halves + 4 * i);
}

/* The panel of rows that are halves already, at multiples of 16 bytes. */
GB_DEVICE void
gb_wgmma_copy_rows(const gb_wgmma_work &w, uint32_t stage, int k, int end)
{
    const int i = gb_wgmma_piece();
    const int left = 2 * (end - k) - 16 * i;

    GB_UNROLL
    for (int j = 0; j < GB_WGMMA_ROWS; j += GB_WGMMA_LINES) {
        const int line = gb_wgmma_line() + j;

        gb_copy_async_16(gb_wgmma_piece_of(gb_wgmma_rows(w, stage), line, i),
                         gb_wgmma_row(w, line) + (left > 0 ? 2 * k + 16 * i : 0),
                         left > 16 ? 16 : left > 0 ? left : 0);
    }
}

/* ---- columns ---- */

GB_DEVICE void
gb_wgmma_fetch_cols(const gb_wgmma_work &w, uint32_t stage, int64_t k)
{
    uint64_t *const arrived = &w.p.arrived[stage];

    if (gb_wgmma_maker() != 0)
        return;
    gb_mbarrier_arrive_expect(arrived, sizeof(w.p.cols[stage]));
    gb_tma_load(w.p.cols[stage], &w.args.map, (int)k, w.y, arrived);
}

/* A thread a piece of each column whose number is its line's and so on. */
GB_DEVICE void
gb_wgmma_copy_cols(const gb_wgmma_work &w, uint32_t stage, int64_t k)
{
    const int64_t all = gb_wgmma_product(w).columns.ne[0];
    const int64_t end = (all + GB_CUDA_K_STEP - 1) / GB_CUDA_K_STEP *
                        GB_CUDA_K_STEP;
    const int i = gb_wgmma_piece();
    const bool is_inside = k + 8 * i < end;

    for (int row = gb_wgmma_line(); row < GB_WGMMA_COLS; row += GB_WGMMA_LINES)
        gb_copy_async_16(gb_wgmma_piece_of(w.p.cols[stage], row, i),
                         w.p.columns[row].from + GB_CUDA_HALVES_HEAD +
                             (is_inside ? 2 * k + 16 * i : 0),
                         is_inside && row < w.p.tile.n_cols ? 16 : 0);
}

/* ---- a stage ---- */

/* Those that unpack: begin to copy what stage N has of K and what follows up to END, if
 * there is something: columns, and rows that are halves. */
template <typename T, bool is_usual, typename index>
GB_DEVICE void
gb_wgmma_begin(const gb_wgmma_work &w, uint32_t n, index k, index end)
{
    const uint32_t stage = n % GB_WGMMA_STAGES;

    if (k < end) {
        if (is_usual || w.args.has_map)
            gb_wgmma_fetch_cols(w, stage, k);
        else
            gb_wgmma_copy_cols(w, stage, k);
        if constexpr (gb_format<T>::is_float && is_usual)
            gb_wgmma_copy_rows(w, stage, k, end);
    }
    gb_copy_async_commit();
}

/* Are rows of T unpacked by threads, or copied as they are? */
template <typename T, bool is_usual>
static constexpr bool gb_wgmma_unpacks = !(gb_format<T>::is_float && is_usual);

/* What TMA brings of stage N is there for this thread. */
template <bool is_usual>
GB_DEVICE void
gb_wgmma_wait_for_cols(const gb_wgmma_work &w, uint32_t n)
{
    if (is_usual || w.args.has_map)
        gb_mbarrier_wait(&w.p.arrived[n % GB_WGMMA_STAGES],
                         (int)(n / GB_WGMMA_STAGES % 2));
}

/* Steps of which copies may be on their way when one begins: columns and rows that
 * are three steps away are copied in front of it, and a part is as many steps away
 * as the one before it has. */
template <typename T>
GB_DEVICE constexpr int
gb_wgmma_pending()
{
    constexpr int most = GB_WGMMA_STAGES - 2;

    if constexpr (gb_format<T>::is_float)
        return most;
    else
        return gb_wgmma_part<T>::steps - 1 < most ? gb_wgmma_part<T>::steps - 1
                                                  : most;
}

/* What this thread copied and stored of the next stage is seen by the tensor cores
 * behind the next barrier, and its part of rows by others that unpack. */
template <typename T>
GB_DEVICE void
gb_wgmma_show_stage()
{
    gb_copy_async_wait<gb_wgmma_pending<T>()>();
    gb_async_proxy_fence();
}

/* ---- those that unpack ---- */

/* Halves of the step at K. */
template <typename T, typename index>
GB_DEVICE void
gb_wgmma_unpack(const gb_wgmma_work &w, gb_mma_row<T> &row, index k, index end,
                uint32_t halves[16])
{
    if constexpr (gb_format<T>::is_float) {
        GB_UNROLL
        for (int i = 0; i < 2; i++)
            gb_sixteen_floats(row.weights,
                              (index)(k + 32 * gb_wgmma_maker_share() + 16 * i),
                              end, halves + 8 * i);
    } else {
        gb_sixteen sixteens[2] = {};

        gb_wgmma_load_rows(w, row, k, end, sixteens);
        GB_UNROLL
        for (int i = 0; i < 2; i++) {
            gb_mma_keep_bound(row, sixteens[i]);
            gb_sixteen_halves_of<T, gb_bias_of<T>>(sixteens[i], row.factor,
                                                   halves + 8 * i);
        }
    }
}

/* All threads are done with the step at K: if that was the last one of its part, this
 * one's place gets another. */
template <typename T, typename index>
GB_DEVICE void
gb_wgmma_next_part(const gb_wgmma_work &w, const gb_mma_row<T> &row, index k,
                   index end)
{
    if constexpr (!gb_format<T>::is_float) {
        constexpr int values = gb_wgmma_part<T>::values;

        if (gb_unsigned(k) % values == values - GB_WGMMA_STEP)
            gb_wgmma_begin_part(w, row,
                                (index)(k + GB_WGMMA_STEP +
                                        (GB_WGMMA_PARTS - 1) * values),
                                end);
    } else {
        (void)w, (void)row, (void)k, (void)end;
    }
}

/* What is on its way before the first step of k, or there; N steps were before. */
template <typename T, bool is_usual, typename index>
GB_DEVICE void
gb_wgmma_start(const gb_wgmma_work &w, gb_mma_row<T> &row, uint32_t n,
               index first, index end)
{
    constexpr bool unpacks = gb_wgmma_unpacks<T, is_usual>;

    if constexpr (!gb_format<T>::is_float)
        for (int i = 0; i < GB_WGMMA_PARTS; i++)
            gb_wgmma_begin_part(
                w, row, (index)(first + i * gb_wgmma_part<T>::values), end);
    GB_UNROLL
    for (int i = 0; i < GB_WGMMA_STAGES - 1; i++)
        gb_wgmma_begin<T, is_usual>(w, n + i, (index)(first + i * GB_WGMMA_STEP),
                                    end);
    gb_copy_async_wait<GB_WGMMA_STAGES - 2>();
    gb_wgmma_sync_start();
    if constexpr (unpacks) {
        uint32_t halves[16];

        if (first < end) {
            gb_wgmma_unpack(w, row, first, end, halves);
            gb_wgmma_store_rows(gb_wgmma_rows(w, n % gb_wgmma_panels<unpacks>),
                                halves);
        }
    }
}

/*
 * All steps of k.  Behind the first barrier of a step its panels are there, and it
 * begins to be multiplied behind the one before.  Behind the second one that one is
 * done: its panels get the next row and the columns that are three steps away, and
 * the tensor cores have work meanwhile.
 */
template <typename T, bool is_usual, typename index>
GB_DEVICE void
gb_wgmma_make(const gb_wgmma_work &w, gb_mma_row<T> &row, uint32_t &n)
{
    constexpr bool unpacks = gb_wgmma_unpacks<T, is_usual>;
    constexpr int step = GB_WGMMA_STEP, ahead = GB_WGMMA_STAGES - 1;
    const index first = (index)w.p.tile.k, end = (index)w.p.tile.k_end;

    gb_wgmma_start<T, is_usual>(w, row, n, first, end);
    GB_DO_NOT_UNROLL
    for (index k = first; k < end; k += step, n++) {
        uint32_t halves[16];

        gb_wgmma_show_stage<T>();
        gb_wgmma_sync_ready();
        if constexpr (unpacks) {
            gb_wgmma_next_part(w, row, k, end);
            if (k + step < end)
                gb_wgmma_unpack(w, row, (index)(k + step), end, halves);
        }
        gb_wgmma_sync_free();
        gb_wgmma_begin<T, is_usual>(w, n + ahead, (index)(k + ahead * step), end);
        if (unpacks && k + step < end)
            gb_wgmma_store_rows(
                gb_wgmma_rows(w, (n + 1) % gb_wgmma_panels<unpacks>), halves);
    }
}

/* ---- those that multiply ---- */

/* The first row of the tile that this warp's group has. */
GB_DEVICE int
gb_wgmma_first_row()
{
    return gb_warp() / 4 * 64;
}

/* Begin to multiply the panels A and B, as descriptors have them: all columns, used
 * or not, since a branch would end a group of MMAs. */
template <typename how>
GB_DEVICE void
gb_wgmma_step(uint32_t a, uint32_t b, float sums[GB_WGMMA_OWN])
{
    constexpr uint32_t half = 2 * GB_WGMMA_HALF * GB_WGMMA_STEP / 16;

    gb_wgmma_fence();
    GB_UNROLL
    for (uint32_t i = 0; i < GB_WGMMA_STEP / 16; i++) {
        const uint64_t rows = gb_wgmma_descriptor(a + 2 * i);

        how::multiply(sums, rows, gb_wgmma_descriptor(b + 2 * i));
        how::multiply(sums + GB_WGMMA_OWN / 2, rows,
                      gb_wgmma_descriptor(b + half + 2 * i));
    }
    gb_wgmma_commit();
}

/* All steps of k, beside gb_wgmma_make(). */
template <typename T, typename how, bool is_usual, typename index>
GB_DEVICE void
gb_wgmma_sum_up(const gb_wgmma_work &w, uint32_t &n, float sums[GB_WGMMA_OWN])
{
    constexpr bool unpacks = gb_wgmma_unpacks<T, is_usual>;
    const index first = (index)w.p.tile.k, end = (index)w.p.tile.k_end;
    const uint32_t a0 = gb_wgmma_panel(gb_wgmma_rows(w, 0) +
                                       gb_wgmma_first_row() * GB_WGMMA_STEP);
    const uint32_t b0 = gb_wgmma_panel(w.p.cols[0]);

    GB_UNROLL
    for (int i = 0; i < GB_WGMMA_OWN; i++)
        sums[i] = 0.0f;
    gb_wgmma_sync_start();
    GB_DO_NOT_UNROLL
    for (index k = first; k < end; k += GB_WGMMA_STEP, n++) {
        const uint32_t panel = n % gb_wgmma_panels<unpacks>;
        const uint32_t stage = n % GB_WGMMA_STAGES;

        gb_wgmma_wait_for_cols<is_usual>(w, n);
        gb_wgmma_sync_ready();
        gb_wgmma_step<how>(
            a0 + panel * (uint32_t)(2 * GB_WGMMA_PANEL / 16),
            b0 + stage * (uint32_t)(sizeof(w.p.cols[0]) / 16), sums);
        gb_wgmma_wait_but_last();
        gb_wgmma_sync_free();
    }
    gb_wgmma_wait(sums);
    gb_wgmma_wait(sums + GB_WGMMA_OWN / 2);
}

/* ---- the result ---- */

/* In the place of the panels: sums by columns, whose pitch lets the lanes of a
 * warp store in different banks; and where columns stand in D. */
struct gb_wgmma_result {
    float sums[GB_WGMMA_COLS][GB_WGMMA_ROWS + 4];
    gb_row places[GB_WGMMA_COLS];
};

static_assert(sizeof(gb_wgmma_result) <= sizeof(gb_wgmma_stages::cols) +
                                             sizeof(gb_wgmma_stages::rows),
              "the result has the place of the panels");

GB_DEVICE void
gb_wgmma_keep_sums(const float sums[GB_WGMMA_OWN], gb_wgmma_result &r)
{
    const int row = gb_wgmma_first_row() + gb_warp() % 4 * 16 + gb_lane() / 4;
    const int col = gb_lane() % 4 * 2;

    GB_UNROLL
    for (int i = 0; i < GB_WGMMA_OWN; i++)
        r.sums[col + i / 4 * 8 + i % 2][row + i / 2 % 2 * 8] = sums[i];
}

/* Element ROW of column J, and what is added to it. */
GB_DEVICE void
gb_wgmma_store(const gb_wgmma_work &w, const gb_cuda_product_args &a,
               const gb_wgmma_result &r, int j, int row)
{
    const gb_column column = w.p.columns[j];
    const int64_t i0 = w.p.tile.row + row;
    float value = r.sums[j][row] * *(const float *)column.from *
                  w.p.row_scales[row];

    if (i0 >= a.weights.ne[1])
        return;
    if (a.more.n > 0)
        value = gb_add_all(a.more,
                           { { i0, r.places[j].i1, r.places[j].i2,
                               r.places[j].i3 } },
                           value);
    *(float *)(column.to + i0 * a.dst.nb[0]) = value;
}

/* All threads: neighbouring ones store neighbouring rows of a column. */
GB_DEVICE void
gb_wgmma_store_all(const gb_wgmma_work &w, const gb_wgmma_result &r)
{
    const gb_cuda_product_args &a = gb_wgmma_product(w);

    gb_wgmma_sync_sums();
    for (int i = gb_thread(); i < w.p.tile.n_cols * GB_WGMMA_ROWS;
         i += gb_n_threads())
        gb_wgmma_store(w, a, r, i / GB_WGMMA_ROWS, i % GB_WGMMA_ROWS);
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

/* Do the usual loop's conditions hold? */
template <typename T>
GB_DEVICE bool
gb_wgmma_is_usual(const gb_wgmma_work &w)
{
    const uintptr_t all = (uintptr_t)w.p.tile.weights |
                          (uintptr_t)gb_wgmma_product(w).weights.nb[1];

    return w.args.has_map && (!gb_format<T>::is_float || all % 16 == 0);
}

/* All threads: does a row need another factor than it has?  Those that unpack
 * have told it. */
GB_DEVICE bool
gb_wgmma_is_changed(const gb_wgmma_work &w)
{
    bool is_changed = false;

    gb_sync_groups(GB_CUDA_WGMMA_THREADS);
    for (int i = 0; i < GB_WGMMA_MAKERS / GB_WARP; i++)
        is_changed |= w.p.is_changed[i];
    gb_sync_groups(GB_CUDA_WGMMA_THREADS); /* all have read it */
    return is_changed;
}

/* The row gets the factor that it needs, and the warp tells whether it was
 * another one. */
template <typename T>
GB_DEVICE void
gb_wgmma_change_factor(const gb_wgmma_work &w, gb_mma_row<T> &row)
{
    const float other = gb_shuffle_xor(row.largest, 8); /* of the other share */
    const float factor =
        gb_mma_factor(other > row.largest ? other : row.largest);
    const float changed = gb_warp_max(factor != row.factor ? 1.0f : 0.0f);

    row.factor = factor;
    if (gb_lane() == 0)
        w.p.is_changed[gb_wgmma_maker() / GB_WARP] = changed > 0.0f;
}

/* Once more, with other factors?  Halves are not unpacked. */
template <typename T>
GB_DEVICE bool
gb_wgmma_is_again(const gb_wgmma_work &w)
{
    if constexpr (gb_format<T>::is_float)
        return false;
    else
        return gb_wgmma_is_changed(w);
}

/* What threads do that unpack. */
template <typename T>
GB_DEVICE void
gb_wgmma_run_maker(const gb_wgmma_work &w)
{
    const int line = gb_wgmma_maker_row();
    const bool is_usual = gb_wgmma_is_usual<T>(w);
    const gb_cuda_product_args &a = gb_wgmma_product(w);
    gb_wgmma_result &r = *(gb_wgmma_result *)&w.p;
    gb_mma_row<T> row = { (const T *)gb_wgmma_row(w, line), 1.0f, 0.0f };
    uint32_t n = 0;

    do {
        if (is_usual)
            gb_wgmma_make<T, true, int32_t>(w, row, n);
        else
            gb_wgmma_make<T, false, int64_t>(w, row, n);
        if constexpr (!gb_format<T>::is_float)
            gb_wgmma_change_factor(w, row);
    } while (gb_wgmma_is_again<T>(w));
    if (gb_wgmma_maker_share() == 0)
        w.p.row_scales[line] = 1.0f / row.factor;
    gb_wgmma_sync_done();
    if (a.more.n > 0 && gb_wgmma_maker() < w.p.tile.n_cols)
        r.places[gb_wgmma_maker()] =
            gb_column_place(a, w.p.tile, gb_wgmma_maker());
    gb_wgmma_store_all(w, r);
}

/* And those that multiply. */
template <typename T, typename how>
GB_DEVICE void
gb_wgmma_run_multiplier(const gb_wgmma_work &w)
{
    const bool is_usual = gb_wgmma_is_usual<T>(w);
    gb_wgmma_result &r = *(gb_wgmma_result *)&w.p;
    float sums[GB_WGMMA_OWN];
    uint32_t n = 0;

    do
        if (is_usual)
            gb_wgmma_sum_up<T, how, true, int32_t>(w, n, sums);
        else
            gb_wgmma_sum_up<T, how, false, int64_t>(w, n, sums);
    while (gb_wgmma_is_again<T>(w));
    gb_wgmma_sync_done();
    gb_wgmma_keep_sums(sums, r);
    gb_wgmma_store_all(w, r);
}

template <typename T, typename how>
GB_DEVICE void
gb_wgmma_gemm(const gb_cuda_wgmma_args &all)
{
    const uint32_t block = (uint32_t)gb_block();
    const int number = gb_product_of(all.products, block);
    const gb_cuda_product_args &a = all.products.of[number];
    const gb_product_tile tile =
        gb_product_tile_of(a, block - all.products.first[number]);
    gb_wgmma_stages &p = *gb_wgmma_take_stages();
    const gb_wgmma_work w = { all, p, gb_wgmma_row_of_map(a, tile) };

    if (tile.n_cols == 0)
        return;
    if (gb_thread() == 0) {
        for (int i = 0; i < GB_WGMMA_STAGES; i++)
            gb_mbarrier_init(&p.arrived[i], 1);
        gb_mbarrier_init_fence();
        p.tile = tile;
        p.product = number;
    }
    gb_list_columns(a, tile, p.columns, GB_WGMMA_COLS);
    if (gb_thread() >= GB_WGMMA_MAKERS) {
        gb_give_registers<GB_WGMMA_LESS>();
        gb_wgmma_run_maker<T>(w);
    } else {
        gb_take_registers<GB_WGMMA_MORE>();
        gb_wgmma_run_multiplier<T, how>(w);
    }
}

#endif
