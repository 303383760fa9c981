/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/gemv.h - GEMV: rows of quantised weights times one column
 * of q8 activations, made of a struct gb_block_reader.
 *
 * Weights are read once and unpacked in registers, 64 codes a vector;
 * activations were packed in the order in which codes are unpacked (packing.h),
 * so codes are never permuted.  For a super-block of 256 values:
 *
 *   in order            4 dot4 of 64 bytes; the integer sums of each vector or
 *                       pair become floats, times weight scale times activation
 *                       scale.  Mins and zero-point corrections are one
 *                       multiply-add of vectors: min (or scale) times the sums
 *                       of the activations' sub-blocks.
 *   lane-interleaved    4 dot4 of 64 bytes into one integer sum a lane, which
 *   (reader's add)      becomes floats once.  The weights' integer scales are
 *                       multiplied in before that; the sum begins with the
 *                       zero-point correction.
 *
 * Activations with outliers have a low part: the same dot4s again, after the
 * high sum was multiplied with 256.
 *
 * Memory is the limit, and the hardware prefetcher follows what is read in
 * order: one row after the other.  Measured: four rows at a time are 5 % faster
 * with two threads, and 25 % slower with one.  Two rows that share loads of the
 * column are 5 % faster from the caches and 20 % slower from memory.  Software
 * prefetch makes GEMV 10 % slower, but for kernels that compute for longer than
 * a short block takes to read.
 */
#ifndef GB_CPU_KERNELS_FORMAT_GEMV_H
#define GB_CPU_KERNELS_FORMAT_GEMV_H

#include "backends/cpu/kernels/format/reader.h"
#include "backends/cpu/kernels/format/windows.h"
#include "lib/base/attr.h"

/* With lane-interleaved activations, blocks of at most SHORT_BLOCK bytes are
 * prefetched into the L2 cache, AHEAD bytes before they are needed.  (L1 can
 * wait for a few lines only; and every line is prefetched, since the hardware
 * prefetcher stops where one is left out.) */
#define AHEAD       6144
#define SHORT_BLOCK 144

/* Block I of the N blocks of a super-block, BYTES each; for I >= N the last
 * one, whose activations are 0 there. */
GB_INLINE const char *
gb_nth_block(const void *super_block, size_t bytes, int i, int n)
{
    return (const char *)super_block + (size_t)(i < n ? i : n - 1) * bytes;
}

/* Codes of four bits of blocks of 32 values: 16 bytes, AT bytes behind the
 * block's beginning, value e in the low nibble of byte e, value 16 + e in the
 * high one.  u[0] has the low nibbles of blocks 4 * i to 4 * i + 3, u[1] the
 * high ones. */
GB_INLINE void
gb_nibble_codes64(const void *super_block, size_t bytes, size_t at, int i,
                  int n, q64 *u)
{
    const q64 both = q64_load4(
        gb_nth_block(super_block, bytes, 4 * i, n) + at,
        gb_nth_block(super_block, bytes, 4 * i + 1, n) + at,
        gb_nth_block(super_block, bytes, 4 * i + 2, n) + at,
        gb_nth_block(super_block, bytes, 4 * i + 3, n) + at);

    u[0] = q64_bits(both, 0, 15);
    u[1] = q64_bits(both, 4, 15);
}

/* The scales of N blocks, which begin with a half float. */
GB_INLINE qf
gb_block_halves(const void *super_block, size_t bytes, int n)
{
    float d[8];

    if (n == 8)
        return q_eight_halves(super_block, bytes);
    q_halves(d, super_block, bytes, n);
    return qf_load(d);
}

/* The scales and mins of N blocks, which begin with a pair of half floats. */
GB_INLINE void
gb_block_half_pairs(const void *super_block, size_t bytes, int n, qf *d, qf *m)
{
    float scales[8];
    float mins[8];

    if (n == 8) {
        *d = q_eight_halves(super_block, bytes);
        *m = q_eight_halves((const char *)super_block + 2, bytes);
        return;
    }
    q_half_pairs(scales, mins, super_block, bytes, n);
    *d = qf_load(scales);
    *m = qf_load(mins);
}

/* S + the dot4 of 64 codes with 64 activations at Y. */
GB_INLINE q64s
gb_dot4(bool is_wide, q64s s, q64 codes, const int8_t *y)
{
    return is_wide ? q64s_dot_wide(s, codes, q64_load(y))
                   : q64s_dot(s, codes, q64_load(y));
}

/* Scales and mins of a super-block's sub-blocks, in vectors of eight. */
GB_INLINE void
super_block_scales(const struct gb_block_reader *b, bool by_windows,
                   const void *super_block, int n, qf *d, qf *m)
{
    float floats[2][16];

#if Q_HAS_TABLE_128
    if (by_windows) {
        gb_windows_scales(b->windows, super_block, n, d, m);
        return;
    }
#else
    (void)by_windows;
#endif
    if (b->scale_vectors != NULL) {
        b->scale_vectors(super_block, n, d, m);
        return;
    }
    b->scales(super_block, 1, floats[0], floats[1]);
#pragma GCC unroll 2
    for (int i = 0; i < 32 / b->format->sub_block; i++) {
        d[i] = qf_load(floats[0] + 8 * i);
        if (b->format->has_min)
            m[i] = qf_load(floats[1] + 8 * i);
    }
}

/* The codes of vector I of a super-block, or of pair I where codes64 unpacks
 * two. */
GB_INLINE void
vector_codes(const struct gb_block_reader *b, bool by_windows,
             const void *super_block, int i, int n, q64 *u)
{
#if Q_HAS_TABLE_128
    if (by_windows) {
        gb_windows_codes(b->windows, super_block, i, n, u);
        return;
    }
#else
    (void)by_windows;
#endif
    if (b->codes64 != NULL)
        b->codes64(super_block, i, n, u);
    else
        u[0] = q64_join(b->codes32(super_block, 2 * i),
                        b->codes32(super_block, 2 * i + 1));
}

/* Add the products of vector I of a super-block, or of pair I.  SCALES are
 * products of both operands' scales, one for each sub-block; LOWER and UPPER
 * say of which sub-blocks the first and the last eight lanes are. */
GB_INLINE void
add_vectors(const struct gb_block_reader *b, bool by_windows,
            struct gb_gemv_sums *sums, const void *super_block, int n, int i,
            const struct gb_q8_super_block *y, q64t scales)
{
    const struct gb_format *format = b->format;
    const bool is_wide = format->dot4s == 0;
    const int width = gb_step_units(format);
    const int lower = gb_order_sub_block(format->order, 4 * width * i);
    const int upper = gb_order_sub_block(format->order, 4 * width * i + 2);
    q64f *acc = &sums->acc[i % 2];
    q64s s = q64s_zero();
    q64 u[2];

    vector_codes(b, by_windows, super_block, i, n, u);
#pragma GCC unroll 2
    for (int j = 0; j < width; j++)
        s = gb_dot4(is_wide, s, u[j], y->high + 64 * (width * i + j));
    if (y->has_low[i] != 0) {
        s = q64s_add_256(q64s_zero(), s);
#pragma GCC unroll 2
        for (int j = 0; j < width; j++)
            s = gb_dot4(is_wide, s, u[j], y->low + 64 * (width * i + j));
    }
    if (format->sub_block == 16)
        *acc = q64f_add4(*acc, s, scales, lower, upper);
    else if (width == 2)
        *acc = q64f_add4(*acc, s, scales, lower / 2, upper / 2);
    else
        *acc = q64f_add2(*acc, s, scales, lower / 2, upper / 2);
}

/* Add the products of a super-block of N blocks.  Constants are 1, and 8 for
 * all but the end of a row. */
GB_INLINE void
add_super_block(const struct gb_block_reader *b, bool by_windows,
                struct gb_gemv_sums *sums, const void *super_block, int n,
                const struct gb_q8_super_block *y)
{
    const struct gb_format *format = b->format;
    const int n_vectors = 4 / gb_step_units(format);
    const bool has_sum = format->has_min || format->bias != 0;
    qf d[2] = { qf_zero(), qf_zero() };
    qf m[2] = { qf_zero(), qf_zero() };

    super_block_scales(b, by_windows, super_block, n, d, m);
#pragma GCC unroll 2
    for (int i = 0; i < 32 / format->sub_block; i++) {
        if (has_sum)
            sums->mins = qf_fma(format->has_min ? m[i] : d[i],
                                qf_load(y->sum + 8 * i), sums->mins);
        d[i] = qf_mul(d[i], qf_load(y->scale + 8 * i));
    }
#pragma GCC unroll 4
    for (int i = 0; i < n_vectors; i++) {
        if (format->block == 32 && i * (8 / n_vectors) >= n)
            break;
        add_vectors(b, by_windows, sums, super_block, n, i, y,
                    format->sub_block == 32 ? q64t_low(d[0])
                                            : q64t_set(d[0], d[1]));
    }
}

/* SUM + the products of vectors I to N - 1 of a super-block with
 * lane-interleaved activations. */
GB_INLINE q64s
gb_add_vectors_of(q64s sum, bool is_wide, const q64 *u, int i, int n,
                  const struct gb_q8_super_block *y)
{
    const int8_t *codes = y->high;
    q64s s = q64s_zero();

    if (y->has_low[0] != 0) {
#pragma GCC unroll 4
        for (int j = i; j < n; j++)
            s = gb_dot4(is_wide, s, u[j], codes + 64 * j);
        sum = q64s_add_256(sum, s);
        codes = y->low;
    }
#pragma GCC unroll 4
    for (int j = i; j < n; j++)
        sum = gb_dot4(is_wide, sum, u[j], codes + 64 * j);
    return sum;
}

/* SUM + the products of all four vectors, for one scale a super-block or codes
 * that were multiplied with the scales of their sub-blocks. */
GB_INLINE q64s
gb_add_vectors(q64s sum, bool is_wide, const q64 *u,
               const struct gb_q8_super_block *y)
{
    return gb_add_vectors_of(sum, is_wide, u, 0, 4, y);
}

/* Add a super-block's product: its integer sums S times the activations' scales
 * times the block's D. */
GB_INLINE void
gb_add_scaled(q64f *sum, q64s s, const float *scale, q64f d)
{
    *sum = q64f_fma(q64f_mul(q64f_from(s), q64f_load(scale)), d, *sum);
}

/* The same for a block whose D and DMIN are two half floats at HALVES.  MINS
 * are integers, the mins times the sums of the activations' sub-blocks. */
GB_INLINE void
gb_add_minima(struct gb_gemv_sums *sums, q64s s, qs mins,
              const struct gb_q8_super_block *y, const void *halves)
{
    q64f d;
    qf dmin;

    q64f_two_halves(halves, &d, &dmin);
    gb_add_scaled(&sums->acc[0], s, y->scale, d);
    sums->mins = qf_fma(
        qf_mul(qf_from(mins), qf_load(y->sub_block_sums.scale)), dmin,
        sums->mins);
}

GB_INLINE struct gb_gemv_sums
no_sums(void)
{
    return (struct gb_gemv_sums){
        .acc = { q64f_zero(), q64f_zero() },
        .mins = qf_zero(),
    };
}

GB_INLINE float
sum_of_row(const struct gb_gemv_sums *sums)
{
    return q64f_sum(sums->acc[0], sums->acc[1], sums->mins);
}

GB_INLINE float
gemv_lanes(const struct gb_block_reader *b, int64_t k, const char *x,
           const char *y)
{
    const size_t y_bytes = gb_path_activation_bytes(b->format, GB_PATH_GEMV,
                                                    GB_SUPER_BLOCK);
    const size_t bytes = b->format->bytes;
    struct gb_gemv_sums sums = no_sums();

    for (int64_t i = 0; i < k / GB_SUPER_BLOCK; i++) {
        for (size_t at = 0; bytes <= SHORT_BLOCK && at < bytes; at += 64)
            GB_PREFETCH_FAR(x + AHEAD + at);
        b->add(&sums, x, y);
        x += bytes;
        y += y_bytes;
    }
    return sum_of_row(&sums);
}

/* Add the products of N blocks from X on with activations in order. */
GB_INLINE void
add_in_order(const struct gb_block_reader *b, bool by_windows,
             struct gb_gemv_sums *sums, const char *x, int n,
             const struct gb_q8_super_block *y)
{
#if Q_HAS_TABLE_128
    if (by_windows)
        gb_windows_prefetch(b->windows, x, n);
#endif
    add_super_block(b, by_windows, sums, x, n, y);
}

GB_INLINE float
gemv_in_order(const struct gb_block_reader *b, bool by_windows, int64_t k,
              const char *x, const struct gb_q8_super_block *y)
{
    const struct gb_format *format = b->format;
    const int blocks = GB_SUPER_BLOCK / format->block;
    const size_t bytes = (size_t)blocks * format->bytes;
    const int64_t super_blocks = k / GB_SUPER_BLOCK;
    struct gb_gemv_sums sums = no_sums();

    for (int64_t i = 0; i < super_blocks; i++, x += bytes, y++)
        add_in_order(b, by_windows, &sums, x, blocks, y);
    if (format->block == 32 && k % GB_SUPER_BLOCK != 0)
        add_in_order(b, by_windows, &sums, x, (int)(k % GB_SUPER_BLOCK / 32),
                     y);
    return sum_of_row(&sums);
}

GB_INLINE void
gemv_rows_in_order(const struct gb_block_reader *b, bool by_windows, int64_t k,
                   int64_t rows, const char *x, size_t pitch,
                   const void *column, float *dst)
{
    for (int64_t r = 0; r < rows; r++, x += pitch)
        dst[r] = gemv_in_order(b, by_windows, k, x, column);
}

/* gb_gemv_fn made of a struct gb_block_reader. */
GB_INLINE void
gb_block_gemv(const struct gb_block_reader *b, int64_t k, int64_t rows,
              const void *x, size_t pitch, const void *column, float *dst)
{
    const char *row = x;

    if (b->add == NULL && Q_HAS_TABLE_128 && b->windows != NULL &&
        k % GB_SUPER_BLOCK != 0)
        gemv_rows_in_order(b, true, k, rows, row, pitch, column, dst);
    else if (b->add == NULL)
        gemv_rows_in_order(b, false, k, rows, row, pitch, column, dst);
    else
        for (int64_t r = 0; r < rows; r++, row += pitch)
            dst[r] = gemv_lanes(b, k, row, column);
}

#endif
