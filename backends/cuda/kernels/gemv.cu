/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/gemv.cu - GEMV and skinny GEMM: products with 1 to 8 columns at
 * once, for every type of weights.
 *
 * A thread block of 128 threads has GB_CUDA_GEMV_ROWS rows of weights, or twice
 * or four times as many where k is short: its warps share k, a stage each in
 * turn, or have rows of their own.  Weights come through a ring (weightring.cuh)
 * that keeps two thirds, or half, of up to 46 KB a block on their way.  Of a stage a
 * lane has 32 values of each row, which it unpacks once for all columns, and as
 * many of each column, which it loads once for all rows: codes meet in dot4, four
 * products at a time.  Of floats, lanes have neighbouring values.  Up to three
 * products with one right side a launch.  Memory is the limit with one column.
 * Where nothing else writes weights their first stages are on their way before
 * the kernels in front have ended.
 */
#include "backends/cuda/kernels/addends.cuh"
#include "backends/cuda/kernels/product.cuh"
#include "backends/cuda/kernels/q8.cuh"
#include "backends/cuda/kernels/unpack32.cuh"
#include "backends/cuda/kernels/weightring.cuh"

#define ROWS  GB_CUDA_GEMV_ROWS
#define WARPS (GB_CUDA_GEMV_THREADS / GB_WARP)

/* What a thread block has in shared memory. */
template <typename T, int cols>
struct gemv_memory {
    gb_weight_ring<T> rings[WARPS];
    gb_column columns[WARPS][cols]; /* each warp's own: none waits for another */
    float sums[WARPS][ROWS * cols]; /* of each warp's part of k */
};

/* A lane's. */
template <int cols>
struct gemv_sums {
    float at[ROWS * cols]; /* [row][column] */
};

/* Two to the power of it are the warps that share k.  Those that have rows of their
 * own are 1, 2 or 4, whose logarithm is the half. */
GB_DEVICE int
sharing_shift(const gb_cuda_product_args &a)
{
    return WARPS / 2 - a.row_step / ROWS / 2;
}

/* Bytes of N_VALUES, whole blocks. */
template <typename T>
GB_DEVICE int64_t
row_bytes(int64_t n_values)
{
    return n_values / gb_format<T>::values * (int64_t)sizeof(T);
}

/*
 * A warp's share of a tile: rows from ROW on, of their N stages those that are
 * STEP apart.
 */
template <typename T>
struct gemv_share {
    typedef gb_stage_of<T> stage;

    int64_t row;
    int first, step, n;
    int last_values; /* of the last stage */
    int n_in_pieces; /* the stages in front that are copied so: all whole ones */
    bool is_at_start; /* the tile's k begins where the rows do */

    GB_DEVICE gemv_share
    of_warp(const gb_cuda_product_args &a, const gb_product_tile &tile)
    {
        const int shift = sharing_shift(a);
        const int64_t k = tile.k_end - tile.k;
        gemv_share share;

        share.row = tile.row + (gb_warp() >> shift) * ROWS;
        share.step = 1 << shift;
        share.first = gb_warp() & (share.step - 1);
        share.n = share.row < a.weights.ne[1]
                      ? (int)((k + stage::values - 1) / stage::values)
                      : 0;
        share.last_values =
            (int)(k - (int64_t)(share.n - 1) * stage::values);
        share.n_in_pieces = 0;
        if (!gb_copies_by_registers &&
            gb_stage_pieces<T>::can(tile.weights, a.weights.nb[1],
                                    row_bytes<T>(a.weights.ne[0]),
                                    row_bytes<T>(tile.k)))
            share.n_in_pieces =
                share.n - (share.last_values < stage::values);
        share.is_at_start = tile.k == 0;
        return share;
    }

    /* Values of stage I. */
    __device__ __forceinline__ int
    values(int i) const
    {
        return i < n - 1 ? stage::values : last_values;
    }
};

/* Row I of the share; behind the last row, that once more. */
template <typename T>
GB_DEVICE const char *
row_of(const gb_cuda_product_args &a, const gb_product_tile &tile,
       const gemv_share<T> &share, int i)
{
    const int64_t row = share.row + i, last = a.weights.ne[1] - 1;

    return tile.weights + (row < last ? row : last) * a.weights.nb[1] +
           row_bytes<T>(tile.k);
}

/* Begin to copy stage I to ROWS of a ring: N_VALUES of the rows, of which MINE is that
 * of this lane's number modulo four, and has N_LEFT from its first stage on. */
template <typename T>
GB_DEVICE void
copy_stage(char (*rows)[gb_stage_of<T>::pitch], const char *mine, int64_t n_left,
           int i, int n_values, bool is_at_start)
{
    constexpr int most = 2 * gb_stage_of<T>::pitch;
    const int64_t behind = (int64_t)i * gb_stage_of<T>::bytes;
    const int64_t left = row_bytes<T>(n_left) - behind;

    gb_begin_stage<T>(rows,
                      { (int)row_bytes<T>(n_values),
                        i == 0 && is_at_start ? 0 : GB_SECTOR,
                        left < most ? (int)left : most },
                      mine + behind);
}

/* The same where it is seldom, hence called. */
template <typename T>
GB_DEVICE_CALL void
copy_seldom(char (*rows)[gb_stage_of<T>::pitch], const char *mine,
            int64_t n_left, int i, int n_values, bool is_at_start)
{
    copy_stage<T>(rows, mine, n_left, i, n_values, is_at_start);
}

/* Begin to copy stage I, if there is one, to place AT of the ring: in PIECES, or with
 * MINE.  All lanes. */
template <typename T>
GB_DEVICE void
begin_stage(const gb_cuda_product_args &a, const gb_product_tile &tile,
            const gemv_share<T> &share, const char *mine, int i,
            gb_stage_pieces<T> &pieces, gb_weight_ring<T> &ring, int at)
{
    if (i < share.n_in_pieces)
        pieces.copy(ring.rows[at][0], share.step * gb_stage_of<T>::bytes);
    else if (i < share.n)
        (gb_copies_by_registers ? copy_stage<T> : copy_seldom<T>)(
            ring.rows[at], mine, a.weights.ne[0] - tile.k, i, share.values(i),
            share.is_at_start);
    gb_copy_async_commit();
}

/* PIECES of this warp's first stage. */
template <typename T>
GB_DEVICE void
begin_pieces(const gb_cuda_product_args &a, const gb_product_tile &tile,
             const gemv_share<T> &share, gb_stage_pieces<T> &pieces)
{
    pieces.begin(row_of(a, tile, share, 0) +
                     share.first * gb_stage_of<T>::bytes,
                 a.weights.nb[1], a.weights.ne[1] - share.row);
}

/* Begin with as many stages as the ring has, but one; weights alone are read. */
template <typename T>
GB_DEVICE void
begin_first_stages(const gb_cuda_product_args &a, const gb_product_tile &tile,
                   const gemv_share<T> &share, const char *mine,
                   gb_stage_pieces<T> &pieces, gb_weight_ring<T> &ring)
{
    if (share.n_in_pieces > 0)
        begin_pieces(a, tile, share, pieces);
    GB_DO_NOT_UNROLL
    for (int at = 0; at < gb_stage_of<T>::depth - 1; at++)
        begin_stage(a, tile, share, mine, share.first + at * share.step, pieces,
                    ring, at);
}

/* ---- floats ---- */

/* N values of each row at WEIGHTS, from value K of the columns on. */
template <typename T, int cols>
GB_DEVICE void
add_floats(const char *const weights[ROWS], const gb_column *columns, int64_t k,
           int n, gemv_sums<cols> &sums)
{
    for (int i = gb_lane(); i < n; i += GB_WARP) {
        float x[ROWS];

        GB_UNROLL
        for (int r = 0; r < ROWS; r++)
            x[r] = gb_float(((const T *)weights[r])[i]);
        GB_UNROLL
        for (int j = 0; j < cols; j++) {
            const float y = ((const float *)columns[j].from)[k + i];

            GB_UNROLL
            for (int r = 0; r < ROWS; r++)
                sums.at[r * cols + j] = gb_fma(x[r], y, sums.at[r * cols + j]);
        }
    }
}

/* ---- blocks ---- */

/* Thirty-two values, unpacked: scale * (code - the format's offset) - min, with
 * scales and mins of the halves. */
struct gemv_values {
    int codes[8];
    float scale[2], min[2];
};

/* Of sub-block UNIT of a block that is REST behind a multiple of 4. */
template <typename T>
GB_DEVICE gemv_values
values_of(const T *block, int unit, int rest)
{
    gemv_values v;

    gb_codes32(block, unit, rest, v.codes);
    gb_scales32(block, unit, v.scale, v.min);
    return v;
}

template <typename T>
GB_DEVICE int
dot16(const int codes[4], const gb_cuda_q8_half &half)
{
    int sum = 0;

    GB_UNROLL
    for (int i = 0; i < 4; i++)
        sum = gb_stays_in_place<T>
                  ? gb_dot4_unsigned((uint32_t)codes[i], half.words[i], sum)
                  : gb_dot4(codes[i], half.words[i], sum);
    return sum;
}

/* SUM plus the values times a block of q8. */
template <typename T>
GB_DEVICE float
dot32(const gemv_values &v, const gb_q8_block &block, float sum)
{
    const gb_cuda_q8_head &head = block.head;
    const int low = dot16<T>(v.codes, block.codes[0]) -
                    gb_offset_of<T> * head.code_sums[0];
    const int high = dot16<T>(v.codes + 4, block.codes[1]) -
                     gb_offset_of<T> * head.code_sums[1];

    if (T::sub == 32) {
        sum = gb_fma(v.scale[0] * head.d, (float)(low + high), sum);
        if (T::has_mins)
            sum = gb_fma(-v.min[0], head.sum, sum);
        return sum;
    }
    sum = gb_fma(v.scale[0] * head.d, (float)low, sum);
    sum = gb_fma(v.scale[1] * head.d, (float)high, sum);
    if (T::has_mins) {
        sum = gb_fma(-v.min[0], head.d * (float)head.code_sums[0], sum);
        sum = gb_fma(-v.min[1], head.d * (float)head.code_sums[1], sum);
    }
    return sum;
}

/* Where a lane's block of the first stage is in each column. */
template <int cols>
struct gemv_columns {
    const char *at[cols];
};

template <int cols>
GB_DEVICE gemv_columns<cols>
columns_of(const char *blocks, const gb_column *columns, int64_t k)
{
    gemv_columns<cols> c;

    GB_UNROLL
    for (int j = 0; j < cols; j++) {
        const uint64_t number =
            (uint64_t)(columns[j].from - blocks) + k / 32 + gb_lane();

        c.at[j] = blocks + number / GB_CUDA_Q8_GROUP * sizeof(gb_cuda_q8_group) +
                  number % GB_CUDA_Q8_GROUP * sizeof(gb_cuda_q8_half);
    }
    return c;
}

/* This lane's block of column J, OFFSET bytes behind the first stage's, as weights of
 * type T need it. */
template <typename T, int cols>
GB_DEVICE gb_q8_block
block_of(const gemv_columns<cols> &columns, int j, int64_t offset)
{
    constexpr bool with_sum = T::has_mins && T::sub == 32;

    return gb_load_q8<with_sum,
                      gb_offset_of<T> != 0 || (T::has_mins && !with_sum)>(
        (const gb_cuda_q8_group *)(columns.at[j] + offset));
}

/* N values of each row at WEIGHTS, with blocks OFFSET bytes behind the first
 * stage's: FIRST is that of the first column. */
template <typename T, int cols>
GB_DEVICE void
add_blocks(const char *const weights[ROWS], const gemv_columns<cols> &columns,
           const gb_q8_block &first, int64_t offset, int n,
           gemv_sums<cols> &sums)
{
    constexpr int units = T::values / 32;
    const int lane = gb_lane();
    const int behind = lane / units * (int)sizeof(T);
    gemv_values v[ROWS];

    if (lane >= n / 32)
        return;
    GB_UNROLL
    for (int r = 0; r < ROWS; r++)
        v[r] = values_of(
            (const T *)__builtin_assume_aligned(weights[r] + behind,
                                                alignof(T)),
            lane % units,
            (int)(uintptr_t)(weights[r] + behind) & 2);
    GB_UNROLL
    for (int j = 0; j < cols; j++) {
        gb_q8_block block = j == 0 ? first
                                   : block_of<T, cols>(columns, j, offset);

        if (gb_stays_in_place<T>)
            block.head.d *= lane % 2 == 0 ? 1.0f : 0x1p-4f;
        GB_UNROLL
        for (int r = 0; r < ROWS; r++)
            sums.at[r * cols + j] =
                dot32<T>(v[r], block, sums.at[r * cols + j]);
    }
}

/* ---- a tile ---- */

/* All stages of this warp's share, which begin_first_stages has begun. */
template <typename T, int cols>
GB_DEVICE void
add_stages(const gb_cuda_product_args &a, const gb_product_tile &tile,
           const gb_column *columns, const gemv_share<T> &share,
           const char *mine, gb_stage_pieces<T> &pieces,
           gb_weight_ring<T> &ring, gemv_sums<cols> &sums)
{
    typedef gb_stage_of<T> stage;
    const int ahead = (stage::depth - 1) * share.step;
    gemv_columns<cols> blocks;
    const char *rows[ROWS];
    int at = 0; /* of the stage that is added */

    if constexpr (!stage::is_float)
        blocks = columns_of<cols>(a.columns.data, columns, tile.k);
    GB_UNROLL
    for (int r = 0; r < ROWS; r++)
        rows[r] = row_of(a, tile, share, r);
    GB_DO_NOT_UNROLL
    for (int i = share.first; i < share.n; i += share.step) {
        const bool in_pieces = i < share.n_in_pieces;
        const int n = share.values(i);
        const int64_t behind = (int64_t)i * stage::bytes;
        const int64_t offset = (int64_t)i * (stage::values / 1024) *
                               (int)sizeof(gb_cuda_q8_group);
        const char *weights[ROWS];
        gb_q8_block first = {};

        /* On its way while the weights are waited for. */
        if constexpr (!stage::is_float)
            if (gb_lane() < n / 32)
                first = block_of<T, cols>(blocks, 0, offset);
        begin_stage(a, tile, share, mine, i + ahead, pieces, ring,
                    (at == 0 ? stage::depth : at) - 1);
        gb_wait_for_stage<T>();
        if (in_pieces) {
            const int skip = pieces.skip_of(rows[0] + behind);

            GB_UNROLL
            for (int r = 0; r < ROWS; r++)
                weights[r] = pieces.row(ring.rows[at][0], r, skip);
        } else {
            GB_UNROLL
            for (int r = 0; r < ROWS; r++)
                weights[r] =
                    ring.rows[at][r] + gb_skip_of(rows[r] + behind);
        }
        if constexpr (stage::is_float)
            add_floats<T, cols>(weights, columns,
                                tile.k + (int64_t)i * stage::values, n, sums);
        else
            add_blocks<T, cols>(weights, blocks, first, offset, n, sums);
        gb_warp_sync(); /* all lanes are done with what is replaced next */
        at = at + 1 == stage::depth ? 0 : at + 1;
    }
    gb_copy_async_wait<0>();
}

/* Are whole stages copied by add_whole_stages()? */
template <int cols>
static constexpr bool is_ahead = GB_WARP == 64 && cols == 1;

/*
 * Whole stages of a wave of 64 lanes, where rows lie at multiples of 16 bytes: while
 * one is worked on, the next one is on its way to registers.  SHARE is then what is
 * left.
 */
template <typename T, int cols>
GB_DEVICE void
add_whole_stages(const gb_cuda_product_args &a, const gb_product_tile &tile,
                 const gb_column *columns, gemv_share<T> &share,
                 gb_weight_ring<T> &ring, gemv_sums<cols> &sums)
{
    typedef gb_stage_of<T> stage;
    constexpr int64_t block_bytes =
        stage::values / 1024 * (int64_t)sizeof(gb_cuda_q8_group);
    const int n = share.n - (share.last_values < stage::values);
    const char *const row = row_of(a, tile, share, 0);
    int64_t offset = share.first * block_bytes;
    const char *weights[ROWS];
    gemv_columns<cols> blocks;
    gb_stage_pieces<T> pieces;
    gb_q8_block next = {};

    if (share.first >= n || !gb_is_in_pieces(row, a.weights.nb[1]))
        return;
    begin_pieces(a, tile, share, pieces);
    pieces.load(share.step * stage::bytes);
    if constexpr (!stage::is_float) {
        blocks = columns_of<cols>(a.columns.data, columns, tile.k);
        next = block_of<T, cols>(blocks, 0, offset);
    }
    GB_UNROLL
    for (int r = 0; r < ROWS; r++)
        weights[r] = pieces.row(ring.rows[0][0], r, 0);
    do {
        const int i = share.first;
        const gb_q8_block first = next;

        pieces.store(ring.rows[0][0]);
        gb_warp_sync();
        share.first += share.step;
        if (share.first < n) {
            pieces.load(share.step * stage::bytes);
            if constexpr (!stage::is_float)
                next = block_of<T, cols>(blocks, 0,
                                         offset + share.step * block_bytes);
        }
        if constexpr (stage::is_float)
            add_floats<T, cols>(weights, columns,
                                tile.k + (int64_t)i * stage::values,
                                stage::values, sums);
        else
            add_blocks<T, cols>(weights, blocks, first, offset, stage::values,
                                sums);
        offset += share.step * block_bytes;
        gb_warp_sync(); /* all lanes are done with what is replaced next */
    } while (share.first < n);
}

/*
 * Of N sums of each lane, a power of two, the whole warp's one in each lane:
 * that of number lane / (lanes / N).  Each is added up by the butterfly, of which
 * a lane goes on with half of the sums.
 */
template <int n, int mask = GB_WARP / 2>
GB_DEVICE float
warp_sums(float *sums)
{
    if constexpr (mask == 0) {
        return sums[0];
    } else {
        constexpr int half = n / 2;
        const bool is_upper = gb_lane() & mask;

        GB_UNROLL
        for (int i = 0; i < half; i++) {
            const float low = sums[i], high = sums[i + half];
            const float other = is_upper ? low : high;
            const float mine = is_upper ? high : low;

            sums[i] = mine + gb_shuffle_xor(other, mask);
        }
        if constexpr (half == 0)
            sums[0] += gb_shuffle_xor(sums[0], mask);
        return warp_sums<(half > 0 ? half : 1), mask / 2>(sums);
    }
}

/* Element I of the tile: the sum of the warps that share its k, in their order,
 * and what is added to it. */
template <typename T, int cols>
GB_DEVICE void
store_element(const gb_cuda_product_args &a, const gb_product_tile &tile,
              const gemv_memory<T, cols> &s, int i)
{
    const int shift = sharing_shift(a), sharing = 1 << shift;
    const int j = i % cols, r = i / cols % ROWS, group = i / (cols * ROWS);
    const int64_t row = tile.row + group * ROWS + r;
    float sum = s.sums[group << shift][r * cols + j];

    if (j >= tile.n_cols || row >= a.weights.ne[1])
        return;
    for (int w = 1; w < sharing; w++)
        sum += s.sums[(group << shift) + w][r * cols + j];
    if (a.more.n > 0) {
        const gb_row at = gb_column_place(a, tile, j);

        sum = gb_add_all(a.more, { { row, at.i1, at.i2, at.i3 } }, sum);
    }
    *(float *)(s.columns[0][j].to + row * a.dst.nb[0]) = sum;
}

template <typename T, int cols>
GB_DEVICE void
gemv_tile(const gb_cuda_product_args &a, uint32_t number)
{
    GB_SHARED gemv_memory<T, cols> s;
    const gb_product_tile tile = gb_product_tile_of(a, number);
    gemv_share<T> share = gemv_share<T>::of_warp(a, tile);
    const char *const mine = row_of(a, tile, share, gb_lane() % ROWS);
    gb_weight_ring<T> &ring = s.rings[gb_warp()];
    const gb_column *const columns = s.columns[gb_warp()];
    constexpr int n = ROWS * cols;
    gb_stage_pieces<T> pieces;
    gemv_sums<cols> sums = {};
    float sum;

    if (tile.n_cols == 0)
        return; /* an expert that nobody asked for: the kernel has waited */
    begin_first_stages(a, tile, share, mine, pieces, ring);
    gb_wait_for_kernels_before();
    if (gb_lane() < cols)
        s.columns[gb_warp()][gb_lane()] =
            gb_column_within(a, tile, gb_lane());
    gb_warp_sync();
    if constexpr (is_ahead<cols>)
        add_whole_stages<T, cols>(a, tile, columns, share, ring, sums);
    add_stages<T, cols>(a, tile, columns, share, mine, pieces, ring, sums);
    sum = warp_sums<n>(sums.at);
    if (gb_lane() % (GB_WARP / n) == 0)
        s.sums[gb_warp()][gb_lane() / (GB_WARP / n)] = sum;
    gb_sync();
    for (int i = gb_thread(); i < a.row_step * cols;
         i += GB_CUDA_GEMV_THREADS)
        store_element<T, cols>(a, tile, s, i);
}

template <typename T, int cols>
GB_DEVICE void
gemv(const gb_cuda_gemv_args &a)
{
    const uint32_t block = (uint32_t)gb_block();
    const int i = gb_product_of(a.products, block);

    gb_let_next_begin();
    if (!a.weights_stay)
        gb_wait_for_kernels_before();
    gemv_tile<T, cols>(a.products.of[i], block - a.products.first[i]);
}

/* Thread blocks that are resident at the least.  Left alone, nvcc spills for a third
 * with more than one column.  With one, five have room in shared memory on 9.0; it
 * needs to be told there, but for types with which it would spill. */
template <typename T, int cols>
static constexpr int residents = cols == 1 && GB_MBARRIER ? 5 : 2;
template <>
constexpr int residents<gb_iq4_nl, 1> = 2;
template <>
constexpr int residents<gb_iq4_xs, 1> = 2;
template <>
constexpr int residents<gb_tq1_0, 1> = 2;

#define GEMV(name, type, cols)                                          \
    GB_KERNEL_AHEAD(GB_RESIDENT(GB_CUDA_GEMV_THREADS,                   \
                                (residents<type, cols>)),               \
                    gb_gemv_##name##_##cols, gemv)                      \
    {                                                                   \
        gemv<type, cols>(a);                                            \
    }
#define GB_CUDA_FLOATS(TYPE, name, type) \
    GEMV(name, type, 1)                  \
    GEMV(name, type, 4)                  \
    GEMV(name, type, 8)
#define GB_CUDA_BLOCKS(TYPE, name) GB_CUDA_FLOATS(TYPE, name, gb_##name)
#include "backends/cuda/kernels/formats.def"
