/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/gemv.h - GEMV: rows of quantised weights times one column, for
 * a format that says how a super-block of 256 values is read (struct
 * gb_block_reader).
 *
 * Weights are used where they lie.  64 codes at a time come out of a register by
 * shifts and masks and meet the activations, which were packed in the same order;
 * dot4 sums of int32 become floats once a sub-block, times both scales, or once a
 * super-block where activations are lane-interleaved.
 *
 * Memory is the limit, and the processor fetches ahead what is read in order: row
 * after row.  Four rows at a time, from places far apart, are a twentieth faster
 * with two threads, and a quarter slower with one.  Two that share what they load
 * of a column are a twentieth faster in the caches and a fifth slower from memory.
 * Instructions that fetch make it slower by a tenth, but for those kernels that
 * take longer than reading a short block.
 */
#ifndef GB_CPU_KERNELS_FORMAT_GEMV_H
#define GB_CPU_KERNELS_FORMAT_GEMV_H

#include "backends/cpu/kernels/format/reader.h"
#include "lib/base/attr.h"

/* Lane-interleaved blocks of at most SHORT_BLOCK bytes are fetched AHEAD bytes before
 * they are needed, into the second cache.  (The first one waits for some lines
 * only; and where one is left out the processor stops fetching by itself.) */
#define AHEAD       6144
#define SHORT_BLOCK 144

/* Block I of a super-block of N that have BYTES each, or the last one: what is behind
 * it meets activations that are 0. */
GB_INLINE const char *
gb_nth_block(const void *super_block, size_t bytes, int i, int n)
{
    return (const char *)super_block + (size_t)(i < n ? i : n - 1) * bytes;
}

/* The nibbles, AT bytes behind their beginnings, of the four blocks of step
 * I. */
GB_INLINE void
gb_nibble_units(const void *super_block, size_t bytes, size_t at, int i, int n,
                q64 *u)
{
    const q64 both = q64_load4(gb_nth_block(super_block, bytes, 4 * i, n) + at,
                               gb_nth_block(super_block, bytes, 4 * i + 1, n) + at,
                               gb_nth_block(super_block, bytes, 4 * i + 2, n) + at,
                               gb_nth_block(super_block, bytes, 4 * i + 3, n) + at);

    u[0] = q64_bits(both, 0, 15);
    u[1] = q64_bits(both, 4, 15);
}

/* The half floats that N blocks begin with. */
GB_INLINE qf
gb_block_halves(const void *super_block, size_t bytes, int n)
{
    float d[8];

    if (n == 8)
        return q_eight_halves(super_block, bytes);
    q_halves(d, super_block, bytes, n);
    return qf_load(d);
}

/* The first two of each. */
GB_INLINE void
gb_block_half_pairs(const void *super_block, size_t bytes, int n, qf *d, qf *m)
{
    float first[8];
    float second[8];

    if (n == 8) {
        *d = q_eight_halves(super_block, bytes);
        *m = q_eight_halves((const char *)super_block + 2, bytes);
        return;
    }
    q_half_pairs(first, second, super_block, bytes, n);
    *d = qf_load(first);
    *m = qf_load(second);
}

GB_INLINE q64s
gb_add_unit(bool is_wide, q64s s, q64 codes, const int8_t *y)
{
    return is_wide ? q64s_dot_wide(s, codes, q64_load(y))
                   : q64s_dot(s, codes, q64_load(y));
}

GB_INLINE void
super_block_scales(const struct gb_block_reader *b, const void *super_block, int n, qf *d,
                qf *m)
{
    float floats[2][16];

    if (b->all_scales != NULL) {
        b->all_scales(super_block, n, d, m);
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

/* Add the products of step I of a super-block. */
GB_INLINE void
add_step(const struct gb_block_reader *b, struct gb_gemv_sums *sums, const void *super_block,
         int n, int i, const struct gb_q8_super_block *y, q64t scales)
{
    const struct gb_format *format = b->format;
    const bool is_wide = format->dot4s == 0;
    const int width = gb_step_units(format);
    const int first = gb_order_sub_block(format->order, 4 * width * i);
    const int third = gb_order_sub_block(format->order, 4 * width * i + 2);
    q64f *acc = &sums->acc[i % 2];
    q64s s = q64s_zero();
    q64 u[2];

    if (b->units != NULL)
        b->units(super_block, i, n, u);
    else
        u[0] = q64_join(b->codes(super_block, 2 * i), b->codes(super_block, 2 * i + 1));
#pragma GCC unroll 2
    for (int j = 0; j < width; j++)
        s = gb_add_unit(is_wide, s, u[j], y->high + 64 * (width * i + j));
    if (y->has_low[i] != 0) {
        s = q64s_add_256(q64s_zero(), s);
#pragma GCC unroll 2
        for (int j = 0; j < width; j++)
            s = gb_add_unit(is_wide, s, u[j], y->low + 64 * (width * i + j));
    }
    if (format->sub_block == 16)
        *acc = q64f_add4(*acc, s, scales, first, third);
    else if (width == 2)
        *acc = q64f_add4(*acc, s, scales, first / 2, third / 2);
    else
        *acc = q64f_add2(*acc, s, scales, first / 2, third / 2);
}

/* N is 8 or 1, constants, or what there is at the end of a row. */
GB_INLINE void
add_super_block(const struct gb_block_reader *b, struct gb_gemv_sums *sums,
          const void *super_block, int n, const struct gb_q8_super_block *y)
{
    const struct gb_format *format = b->format;
    const int steps = 4 / gb_step_units(format);
    const bool has_sum = format->has_min || format->bias != 0;
    qf d[2] = { qf_zero(), qf_zero() };
    qf m[2] = { qf_zero(), qf_zero() };

    super_block_scales(b, super_block, n, d, m);
#pragma GCC unroll 2
    for (int i = 0; i < 32 / format->sub_block; i++) {
        if (has_sum)
            sums->mins = qf_fma(format->has_min ? m[i] : d[i],
                                qf_load(y->sum + 8 * i), sums->mins);
        d[i] = qf_mul(d[i], qf_load(y->scale + 8 * i));
    }
#pragma GCC unroll 4
    for (int i = 0; i < steps; i++) {
        if (format->block == 32 && i * (8 / steps) >= n)
            break;
        add_step(b, sums, super_block, n, i, y, q64t_set(d[0], d[1]));
    }
}

/* FIRST and the products of units from I on to N with lane-interleaved
 * activations. */
GB_INLINE q64s
gb_add_some_units(q64s first, bool is_wide, const q64 *u, int i, int n,
                  const struct gb_q8_super_block *y)
{
    const int8_t *codes = y->high;
    q64s s = q64s_zero();

    if (y->has_low[0] != 0) {
#pragma GCC unroll 4
        for (int j = i; j < n; j++)
            s = gb_add_unit(is_wide, s, u[j], codes + 64 * j);
        first = q64s_add_256(first, s);
        codes = y->low;
    }
#pragma GCC unroll 4
    for (int j = i; j < n; j++)
        first = gb_add_unit(is_wide, first, u[j], codes + 64 * j);
    return first;
}

/* The same of all, whose codes have their weights' scales in them. */
GB_INLINE q64s
gb_add_units(q64s first, bool is_wide, const q64 *u, const struct gb_q8_super_block *y)
{
    return gb_add_some_units(first, is_wide, u, 0, 4, y);
}

/* Add S * SCALE * D, a block's part of a product. */
GB_INLINE void
gb_add_scaled(q64f *sum, q64s s, const float *scale, q64f d)
{
    *sum = q64f_fma(q64f_mul(q64f_from(s), q64f_load(scale)), d, *sum);
}

/* The same with D at HALVES, and MINS, the products of mins and sums of
 * sub-blocks, times the half behind it. */
GB_INLINE void
gb_add_minima(struct gb_gemv_sums *sums, q64s s, qs mins,
              const struct gb_q8_super_block *y, const void *halves)
{
    q64f d;
    qf dmin;

    q64f_two_halves(halves, &d, &dmin);
    gb_add_scaled(&sums->acc[0], s, y->scale, d);
    sums->mins = qf_fma(qf_mul(qf_from(mins), qf_load(y->sub_block_sums.scale)), dmin,
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
    const size_t y_bytes =
        gb_path_activation_bytes(b->format, GB_PATH_GEMV, GB_SUPER_BLOCK);
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

GB_INLINE float
gemv_in_order(const struct gb_block_reader *b, int64_t k, const char *x,
               const struct gb_q8_super_block *y)
{
    const struct gb_format *format = b->format;
    const int blocks = GB_SUPER_BLOCK / format->block;
    const size_t bytes = (size_t)blocks * format->bytes;
    const int64_t super_blocks = k / GB_SUPER_BLOCK;
    struct gb_gemv_sums sums = no_sums();

    for (int64_t i = 0; i < super_blocks; i++, x += bytes, y++)
        add_super_block(b, &sums, x, blocks, y);
    if (format->block == 32 && k % GB_SUPER_BLOCK != 0)
        add_super_block(b, &sums, x, (int)(k % GB_SUPER_BLOCK / 32), y);
    return sum_of_row(&sums);
}

/* gb_gemv_fn for blocks. */
GB_INLINE void
gb_block_gemv(const struct gb_block_reader *b, int64_t k, int64_t rows,
              const void *x, size_t pitch, const void *column, float *dst)
{
    const char *row = x;

    for (int64_t r = 0; r < rows; r++, row += pitch)
        dst[r] = b->add != NULL ? gemv_lanes(b, k, row, column)
                                : gemv_in_order(b, k, row, column);
}

#endif
