/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/attention.cu - attention of queries to keys and values, for any
 * head size and any types of keys and values, by products of floats.
 * mmaattention.cuh has that on tensor cores.
 *
 * Thread blocks of 256, each with ROWS queries of a group of heads, that go
 * through a part of the keys, 64 at a time, with an online softmax ("Online
 * normalizer calculation for softmax", arXiv 1805.02867; in tiles:
 * "FlashAttention", arXiv 2205.14135):
 *
 *   scores   64 elements of queries and keys at a time come as floats into
 *            shared memory; a thread has ROWS / 8 queries times two keys
 *   softmax  256 / ROWS threads a query
 *   values   64 elements of 64 values at a time, in the place of the keys; a
 *            thread has four queries times two elements of each 64
 *
 * Sums of up to 256 elements a query are in registers; for longer heads there
 * are more tiles, which find the scores again.  About 35 KiB of shared memory
 * with 32 rows (prefill), limited by its bandwidth; 22 KiB with 8 rows
 * (decode), limited by memory.
 *
 * Where there are too few tiles for the card the keys are in parts, whose
 * results are joined in their order ("flash decoding").
 */
#include "backends/cuda/kernels/attention.cuh"
#include "backends/cuda/kernels/columns.cuh"
#include "backends/cuda/kernels/unpack.cuh"

#define THREADS 256
#define KEYS    64 /* taken at a time */
#define WIDTH   64 /* elements taken at a time */
#define RANGE   4  /* times WIDTH: elements of a result that a tile has */
#define STRIDE  68 /* floats of a row in shared memory: neighbouring rows begin
                      16 bytes of banks apart */

/* ---- into shared memory ---- */

/* Four floats of a row from I on, of which those from END on are 0. */
template <typename T>
GB_DEVICE gb_float4
four_of(const T *row, int i, int end, bool is_aligned)
{
    gb_float4 out;

    if constexpr (!gb_format<T>::is_float) {
        gb_values<4>(row, i, out.at);
    } else if (is_aligned && i + 4 <= end) {
        struct alignas(4 * sizeof(T)) vector {
            T at[4];
        };
        const vector four = *(const vector *)(row + i);

        GB_UNROLL
        for (int j = 0; j < 4; j++)
            out.at[j] = gb_float(four.at[j]);
    } else {
        GB_UNROLL
        for (int j = 0; j < 4; j++)
            out.at[j] = i + j < end ? gb_float(row[i + j]) : 0.0f;
    }
    return out;
}

/* Elements at I of WIDTH from FIRST on of N rows of MATRIX into TO; what is
 * behind N or END is 0. */
template <typename T>
GB_DEVICE void
load_four(const char *matrix, int64_t stride, int n, int first, int end,
          bool is_aligned, int i, float *to)
{
    const int row = i / (WIDTH / 4), at = i % (WIDTH / 4) * 4;
    gb_float4 four = { { 0.0f, 0.0f, 0.0f, 0.0f } };

    if (row < n && first + at < end)
        four = four_of((const T *)(matrix + row * stride), first + at, end,
                       is_aligned);
    *(gb_float4 *)(to + row * STRIDE + at) = four;
}

/* All of them.  Reading blocks is too much code to be there four times. */
template <typename T>
GB_DEVICE void
load_rows(const char *matrix, int64_t stride, int n, int first, int end,
          bool is_aligned, float *to)
{
    constexpr int all = KEYS * WIDTH / 4;

    if constexpr (gb_format<T>::is_float) {
        GB_UNROLL
        for (int i = 0; i < all; i += THREADS)
            load_four<T>(matrix, stride, n, first, end, is_aligned,
                         i + gb_thread(), to);
    } else {
        GB_DO_NOT_UNROLL
        for (int i = 0; i < all; i += THREADS)
            load_four<T>(matrix, stride, n, first, end, is_aligned,
                         i + gb_thread(), to);
    }
}

/* The same for a type that the launch gave; called, since it has code for all
 * types. */
GB_DEVICE_CALL void
load_tile(int format, const char *matrix, int64_t stride, int n, int first,
          int end, bool is_aligned, float *to)
{
    switch (format) {
#define GB_CUDA_FLOATS(TYPE, name, type)                               \
    case GB_CUDA_FORMAT_##TYPE:                                        \
        load_rows<type>(matrix, stride, n, first, end, is_aligned, to); \
        break;
#define GB_CUDA_BLOCKS(TYPE, name)                                          \
    case GB_CUDA_FORMAT_##TYPE:                                             \
        load_rows<gb_##name>(matrix, stride, n, first, end, is_aligned, to); \
        break;
#include "backends/cuda/kernels/formats.def"
#undef GB_CUDA_BLOCKS
#undef GB_CUDA_FLOATS
    }
}

/* WIDTH elements from FIRST on of the tile's queries. */
template <int rows>
GB_DEVICE void
load_queries(const gb_cuda_attention_args &a, const gb_attention_tile &t,
             int first, float *to)
{
    const int d = (int)a.q.ne[0];

    for (int i = gb_thread(); i < rows * WIDTH; i += THREADS) {
        const int row = i / WIDTH, at = i % WIDTH;
        float value = 0.0f;

        if (t.first_row + row < a.rows && first + at < d) {
            const gb_attention_query q = gb_query_of(a, t, t.first_row + row);

            value = *(const float *)(a.q.data + (first + at) * 4 +
                                     q.token * a.q.nb[1] + q.head * a.q.nb[2] +
                                     t.batch * a.q.nb[3]);
        }
        to[row * STRIDE + at] = value;
    }
}

/* ---- a tile ---- */

/* Rows are read and written four floats at a time. */
template <int rows>
struct alignas(16) attention_memory {
    float q[rows * STRIDE];
    float kv[KEYS * STRIDE];    /* keys, then values */
    float p[rows * STRIDE];     /* mask, scores, exponentials */
    float max[rows], sum[rows]; /* of the scores, of the exponentials */
    float factor[rows];         /* of what was summed up to now */
};

/*
 * p = slope * mask for keys from FIRST on, -infinity where there is no key or
 * query; true if there is anything to see.
 */
template <int rows>
GB_DEVICE bool
load_mask(const gb_cuda_attention_args &a, const gb_attention_tile &t,
          int64_t first, attention_memory<rows> &s)
{
    bool is_seen = false;

    for (int i = gb_thread(); i < rows * KEYS; i += THREADS) {
        const int row = i / KEYS, key = i % KEYS;
        float value = -GB_INFINITY;

        if (t.first_row + row < a.rows && first + key < t.end_key) {
            value = 0.0f;
            if (a.has_mask) {
                const gb_attention_query q =
                    gb_query_of(a, t, t.first_row + row);

                value = gb_slope_of(a.max_bias, a.q.ne[2], q.head) *
                        gb_float(*(const gb_f16 *)(a.mask.data +
                                                   (first + key) * 2 +
                                                   q.token * a.mask.nb[1]));
            }
            is_seen |= value != -GB_INFINITY;
        }
        s.p[row * STRIDE + key] = value;
    }
    return gb_block_max<THREADS>(is_seen ? 1.0f : 0.0f) > 0.0f;
}

/* p += the scores of the keys from FIRST on. */
template <int rows>
GB_DEVICE void
find_scores(const gb_cuda_attention_args &a, const gb_attention_tile &t,
            int64_t first, attention_memory<rows> &s)
{
    constexpr int mine = rows / 8;
    const int d = (int)a.q.ne[0];
    const int key = gb_thread() % 32, row = gb_thread() / 32 * mine;
    const int n = t.end_key - first < KEYS ? (int)(t.end_key - first) : KEYS;
    const char *const keys = gb_matrix_of(a.k, a.of_k, t) + first * a.k.nb[1];
    float z[mine][2] = {};

    for (int i = 0; i < d; i += WIDTH) {
        gb_sync();
        load_queries<rows>(a, t, i, s.q);
        load_tile(a.k_format, keys, a.k.nb[1], n, i, d, a.k_is_aligned, s.kv);
        gb_sync();
        for (int at = 0; at < WIDTH; at += 4) {
            gb_float4 k[2];

            k[0] = *(const gb_float4 *)(s.kv + key * STRIDE + at);
            k[1] = *(const gb_float4 *)(s.kv + (key + 32) * STRIDE + at);
            GB_UNROLL
            for (int r = 0; r < mine; r++) {
                const gb_float4 q =
                    *(const gb_float4 *)(s.q + (row + r) * STRIDE + at);

                GB_UNROLL
                for (int j = 0; j < 4; j++) {
                    z[r][0] = gb_fma(q.at[j], k[0].at[j], z[r][0]);
                    z[r][1] = gb_fma(q.at[j], k[1].at[j], z[r][1]);
                }
            }
        }
    }
    GB_UNROLL
    for (int r = 0; r < mine; r++)
        GB_UNROLL
        for (int c = 0; c < 2; c++) {
            float *const p = s.p + (row + r) * STRIDE + key + 32 * c;
            const float score = z[r][c] * a.scale;

            *p += a.softcap != 0.0f ? a.softcap * gb_tanh(score) : score;
        }
}

/* Exponentials of the scores in their place; the running maximum and sum, and
 * the factor for what belongs to the maximum before. */
template <int rows>
GB_DEVICE void
take_softmax(attention_memory<rows> &s)
{
    constexpr int threads = THREADS / rows;
    const int row = gb_thread() / threads, rank = gb_thread() % threads;
    float *const p = s.p + row * STRIDE;
    const float before = s.max[row];
    float max = before, sum = 0.0f, shift;

    for (int i = rank; i < KEYS; i += threads)
        max = p[i] > max ? p[i] : max;
    max = gb_warp_max<threads>(max);
    /* Nothing seen up to now: all exponentials are those of -infinity. */
    shift = max == -GB_INFINITY ? 0.0f : max;
    for (int i = rank; i < KEYS; i += threads) {
        p[i] = gb_exp(p[i] - shift);
        sum += p[i];
    }
    sum = gb_warp_sum<threads>(sum);
    gb_warp_sync(); /* all have read the maximum before */
    if (rank == 0) {
        const float factor = gb_exp(before - shift);

        s.max[row] = max;
        s.sum[row] = gb_fma(s.sum[row], factor, sum);
        s.factor[row] = factor;
    }
}

/* A thread's sums of values: four rows, two elements of each WIDTH. */
struct sums {
    float at[RANGE][4][2];
};

/* Where these are: threads of a warp have neighbouring elements, and where rows
 * do not need all threads the others have other keys. */
template <int rows>
struct place {
    static constexpr int shares = 32 / rows; /* of the keys */
    int element, row, share;

    static __device__ __forceinline__ place
    of_thread()
    {
        const int group = gb_thread() / 32;
        place p;

        p.element = gb_thread() % 32 * 2;
        p.row = group % (rows / 4) * 4;
        p.share = group / (rows / 4);
        return p;
    }
};

/* Add the values of a tile, times the exponentials; a thread's two of a row are
 * one load. */
template <int rows>
GB_DEVICE void
add_values(const attention_memory<rows> &s, const place<rows> &at,
           float sums[4][2])
{
    constexpr int n = KEYS / place<rows>::shares;

    GB_KEEP_LOOP
    for (int i = at.share * n; i < (at.share + 1) * n; i += 4) {
        gb_float4 p[4];

        GB_UNROLL
        for (int r = 0; r < 4; r++)
            p[r] = *(const gb_float4 *)(s.p + (at.row + r) * STRIDE + i);
        GB_UNROLL
        for (int j = 0; j < 4; j++) {
            const uint64_t two =
                *(const uint64_t *)(s.kv + (i + j) * STRIDE + at.element);
            const float v0 = gb_float_of_bits((uint32_t)two);
            const float v1 = gb_float_of_bits((uint32_t)(two >> 32));

            GB_UNROLL
            for (int r = 0; r < 4; r++) {
                sums[r][0] = gb_fma(p[r].at[j], v0, sums[r][0]);
                sums[r][1] = gb_fma(p[r].at[j], v1, sums[r][1]);
            }
        }
    }
}

template <int rows>
GB_DEVICE void
take_values(const gb_cuda_attention_args &a, const gb_attention_tile &t,
            int64_t first, attention_memory<rows> &s, const place<rows> &at,
            sums *to)
{
    const int n = t.end_key - first < KEYS ? (int)(t.end_key - first) : KEYS;
    const char *const values = gb_matrix_of(a.v, a.of_v, t) + first * a.v.nb[1];

    GB_UNROLL
    for (int w = 0; w < RANGE; w++) {
        if (w * WIDTH >= t.width)
            break;
        gb_sync();
        load_tile(a.v_format, values, a.v.nb[1], n, t.first + w * WIDTH,
                  t.first + t.width, a.v_is_aligned, s.kv);
        gb_sync();
        GB_UNROLL
        for (int r = 0; r < 4; r++)
            GB_UNROLL
            for (int j = 0; j < 2; j++)
                to->at[w][r][j] *= s.factor[at.row + r];
        add_values<rows>(s, at, to->at[w]);
    }
}

/* ---- results ---- */

/* The sums of those who share the keys of a row, in the first one's. */
template <int rows>
GB_DEVICE void
join_shares(attention_memory<rows> &s, const place<rows> &at, float sums[4][2])
{
    if (place<rows>::shares == 1)
        return;
    gb_sync();
    GB_UNROLL
    for (int r = 0; r < 4; r++)
        GB_UNROLL
        for (int j = 0; j < 2; j++)
            s.kv[(at.share * rows + at.row + r) * WIDTH + at.element + j] =
                sums[r][j];
    gb_sync();
    for (int share = 1; share < place<rows>::shares; share++)
        GB_UNROLL
        for (int r = 0; r < 4; r++)
            GB_UNROLL
            for (int j = 0; j < 2; j++)
                if (at.share == 0)
                    sums[r][j] += s.kv[(share * rows + at.row + r) * WIDTH +
                                       at.element + j];
}

/* Results of a row: into dst, divided by the sum of the exponentials, which is
 * 0 where the mask hides all keys; or as they are for the join. */
template <int rows>
GB_DEVICE void
store_row(const gb_cuda_attention_args &a, const gb_attention_tile &t,
          const attention_memory<rows> &s, const place<rows> &at, int r, int w,
          const float *values)
{
    const int64_t d = a.q.ne[0], row = t.first_row + at.row + r;
    const int first = t.first + w * WIDTH + at.element;
    const float sum = s.sum[at.row + r];
    const bool is_part = a.n_parts > 1;
    int64_t result;
    float *to;

    if (row >= a.rows || at.share > 0)
        return;
    result = gb_result_of(a, t, gb_query_of(a, t, row));
    to = a.dst + result * d;
    if (is_part) {
        const int64_t n_rows = a.q.ne[1] * a.q.ne[2] * a.q.ne[3];

        to = a.parts + (t.part * n_rows + result) * (d + 2);
        if (first == 0) {
            to[0] = s.max[at.row + r];
            to[1] = sum;
        }
        to += 2;
    }
    for (int j = 0; j < 2; j++)
        if (first + j < d)
            to[first + j] = is_part      ? values[j]
                            : sum > 0.0f ? values[j] / sum
                                         : 0.0f;
}

template <int rows>
GB_DEVICE void
attend(const gb_cuda_attention_args &a)
{
    GB_SHARED attention_memory<rows> s;
    const place<rows> at = place<rows>::of_thread();

    for (int64_t n = gb_block(); n < a.n_tiles; n += gb_n_blocks()) {
        const gb_attention_tile t = gb_tile_of(a, n, rows, RANGE * WIDTH);
        sums sums = {};

        gb_sync();
        if (gb_thread() < rows) {
            s.max[gb_thread()] = -GB_INFINITY;
            s.sum[gb_thread()] = 0.0f;
        }
        for (int64_t first = t.first_key; first < t.end_key; first += KEYS) {
            gb_sync();
            if (!load_mask<rows>(a, t, first, s))
                continue;
            find_scores<rows>(a, t, first, s);
            gb_sync();
            take_softmax<rows>(s);
            take_values<rows>(a, t, first, s, at, &sums);
        }
        gb_sync();
        GB_UNROLL
        for (int w = 0; w < RANGE; w++) {
            join_shares<rows>(s, at, sums.at[w]);
            GB_UNROLL
            for (int r = 0; r < 4; r++)
                store_row<rows>(a, t, s, at, r, w, sums.at[w][r]);
        }
    }
}

GB_KERNEL(THREADS, gb_attention_decode, attention)
{
    attend<8>(a);
}

/* One is resident: for a second nvcc spills. */
GB_KERNEL_RESIDENT(THREADS, 1, gb_attention_prefill, attention)
{
    attend<32>(a);
}

/* Element I of ROW; parts in the order of the keys.  A part that the mask hides
 * has a maximum of -infinity and sums of 0. */
GB_DEVICE float
joined(const gb_cuda_attention_join_args &a, int64_t row, int64_t i)
{
    float max = -GB_INFINITY, sum = 0.0f, value = 0.0f;

    for (int64_t part = 0; part < a.n_parts; part++) {
        const float of = a.parts[(part * a.n_rows + row) * (a.d + 2)];

        max = of > max ? of : max;
    }
    for (int64_t part = 0; part < a.n_parts && max > -GB_INFINITY; part++) {
        const float *const of = a.parts + (part * a.n_rows + row) * (a.d + 2);
        const float factor = gb_exp(of[0] - max);

        sum = gb_fma(of[1], factor, sum);
        value = gb_fma(of[2 + i], factor, value);
    }
    return sum > 0.0f ? value / sum : 0.0f;
}

/* One thread an element of dst. */
GB_KERNEL(THREADS, gb_attention_join, attention_join)
{
    const int64_t all = a.n_rows * a.d;

    for (int64_t first = gb_block() * THREADS; first < all;
         first += gb_n_blocks() * THREADS) {
        const int64_t n = first + gb_thread();
        const bool is_inside = n < all;
        float value = 0.0f;

        if (is_inside) {
            const int64_t row = gb_quotient(n, a.d);

            value = joined(a, row, n - row * a.d);
            a.dst[n] = value;
        }
        if (a.columns != nullptr)
            gb_store_q8(a.columns, n / 32, (int)(n % 32), value, is_inside);
    }
}

/* The same, a thread block a column of halves. */
GB_KERNEL(THREADS, gb_attention_join_halves, attention_join)
{
    for (int64_t n = gb_block(); n * a.width < a.n_rows * a.d;
         n += gb_n_blocks()) {
        float *const column = a.dst + n * a.width;
        float largest = 0.0f;

        for (int64_t i = gb_thread(); i < a.width; i += THREADS) {
            const int64_t row = gb_quotient(n * a.width + i, a.d);

            const float value =
                joined(a, row, n * a.width + i - row * a.d);

            column[i] = value;
            largest = gb_larger_magnitude(largest, value);
        }
        gb_store_halves<gb_block_team<THREADS>>(
            gb_halves_of(a.columns, n, a.width), column, a.width, largest);
    }
}
