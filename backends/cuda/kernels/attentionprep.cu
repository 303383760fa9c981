/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/attentionprep.cu - what attention on tensor cores needs made
 * beforehand, once for all that use it.
 *
 *   block_mask  what each tile of rows sees of each 64 keys, so that keys which
 *               the mask hides are not read, and a mask of zeros is not looked
 *               at: a warp a tile, two keys a lane.  Reads the mask once.
 *   halves      keys or values of other types than f16: a thread block 64 rows
 *               of a matrix, which it reads twice.  Their largest value comes to
 *               2^14 … 2^15, so that types beyond f16's range fit.
 *
 * Both are limited by memory.
 */
#include "backends/cuda/kernels/args-attention.h"
#include "backends/cuda/kernels/math.cuh"
#include "backends/cuda/kernels/tensor.cuh"
#include "backends/cuda/kernels/unpack.cuh"

#define THREADS 256
#define KEYS    GB_CUDA_MASK_KEYS

/* ---- the block mask ---- */

/* Rows FIRST to END of a group see KEY, if it is one: is the mask elsewhere
 * than at 0, elsewhere than at -infinity? */
GB_DEVICE void
look_at_key(const gb_cuda_block_mask_args &a, int64_t first, int64_t end,
            int64_t key, bool *is_some, bool *is_seen)
{
    const int64_t last = gb_quotient(end - 1, a.group);

    if (key >= a.n_keys)
        return;
    for (int64_t token = gb_quotient(first, a.group); token <= last; token++) {
        const uint16_t bits =
            *(const uint16_t *)(a.mask.data + token * a.mask.nb[1] + key * 2);

        *is_some |= (bits & 0x7fff) != 0;
        *is_seen |= bits != 0xfc00;
    }
}

GB_KERNEL(THREADS, gb_attention_block_mask, block_mask)
{
    constexpr int warps = THREADS / GB_WARP;
    const int64_t all = a.row_tiles * a.key_tiles;

    for (int64_t n = gb_block() * warps + gb_warp(); n < all;
         n += gb_n_blocks() * warps) {
        const int64_t row_tile = gb_quotient(n, a.key_tiles);
        const int64_t key_tile = n - row_tile * a.key_tiles;
        const int64_t first = row_tile * a.rows_of_tile;
        const int64_t behind = first + a.rows_of_tile;
        bool is_some = false, is_seen = false;

        for (int i = gb_lane(); i < KEYS; i += GB_WARP)
            look_at_key(a, first, behind < a.rows ? behind : a.rows,
                        key_tile * KEYS + i, &is_some, &is_seen);
        is_some = gb_warp_max(is_some ? 1.0f : 0.0f) > 0.0f;
        is_seen = gb_warp_max(is_seen ? 1.0f : 0.0f) > 0.0f;
        if (gb_lane() == 0)
            a.block_mask[n] = !is_some   ? GB_CUDA_SEES_ALL
                          : !is_seen ? GB_CUDA_SEES_NONE
                                     : GB_CUDA_SEES_SOME;
    }
}

/* ---- halves ---- */

/* Four values from I on of a row. */
template <typename T>
GB_DEVICE gb_float4
four_values(const T *row, int i, bool is_aligned)
{
    gb_float4 out;

    if constexpr (gb_format<T>::is_float) {
        struct alignas(4 * sizeof(T)) vector {
            T at[4];
        };
        vector four;

        if (is_aligned)
            four = *(const vector *)(row + i);
        else
            for (int j = 0; j < 4; j++)
                four.at[j] = row[i + j];
        GB_UNROLL
        for (int j = 0; j < 4; j++)
            out.at[j] = gb_float(four.at[j]);
    } else {
        gb_values<4>(row, i, out.at);
    }
    return out;
}

/* A block's 64 rows, and the first one's place in the result. */
struct rows_of_halves {
    const char *from;
    char *to;
    int n, d;
};

/* The largest of the values of them all if FACTOR is 0; or they are stored,
 * with that factor. */
template <typename T>
GB_DEVICE float
go_over_rows(const gb_cuda_halves_args &a, const rows_of_halves &rows,
             float factor)
{
    const int fours = rows.d / 4;
    float largest = 0.0f;

    GB_DO_NOT_UNROLL
    for (int i = gb_thread(); i < rows.n * fours; i += THREADS) {
        const int row = i / fours, at = (i - row * fours) * 4;
        const gb_float4 four =
            four_values((const T *)(rows.from + row * a.from.nb[1]), at,
                        a.is_aligned);
        struct alignas(8) {
            gb_f16 at[4];
        } halves;

        GB_UNROLL
        for (int j = 0; j < 4; j++) {
            const float magnitude = gb_abs(four.at[j]);

            largest = magnitude > largest ? magnitude : largest;
            halves.at[j] = gb_f16_of(four.at[j] * factor);
        }
        if (factor != 0.0f)
            *(decltype(halves) *)(rows.to + 2 * ((int64_t)row * rows.d + at)) =
                halves;
    }
    return largest;
}

template <typename T>
GB_DEVICE void
make_halves(const gb_cuda_halves_args &a, int64_t n)
{
    const int64_t matrix = gb_quotient(n, a.key_tiles);
    const int64_t first = (n - matrix * a.key_tiles) * KEYS;
    const int64_t batch = gb_quotient(matrix, a.from.ne[2]);
    const int64_t d = a.from.ne[0];
    const rows_of_halves rows = {
        a.from.data + first * a.from.nb[1] +
            (matrix - batch * a.from.ne[2]) * a.from.nb[2] +
            batch * a.from.nb[3],
        a.to + (matrix * a.n_keys + first) * d * 2,
        (int)(a.n_keys - first < KEYS ? a.n_keys - first : KEYS),
        (int)d,
    };
    const float factor =
        gb_f16_factor(gb_block_max<THREADS>(go_over_rows<T>(a, rows, 0.0f)));

    go_over_rows<T>(a, rows, factor);
    if (gb_thread() == 0)
        a.factors[n] = factor;
}

GB_KERNEL(THREADS, gb_attention_halves, halves)
{
    const int64_t all = a.from.ne[2] * a.from.ne[3] * a.key_tiles;

    for (int64_t n = gb_block(); n < all; n += gb_n_blocks())
        switch (a.format) {
#define GB_CUDA_FLOATS(TYPE, name, type) \
    case GB_CUDA_FORMAT_##TYPE:          \
        make_halves<type>(a, n);         \
        break;
#define GB_CUDA_BLOCKS(TYPE, name)    \
    case GB_CUDA_FORMAT_##TYPE:       \
        make_halves<gb_##name>(a, n); \
        break;
#include "backends/cuda/kernels/formats.def"
#undef GB_CUDA_BLOCKS
#undef GB_CUDA_FLOATS
        }
}
