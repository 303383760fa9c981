/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/rows.h - products of one column with weights that are rows of a
 * grid, on machines that look up bytes in large tables.
 *
 * A grid's row is a number that has some bits for each value's level.  Tables
 * of bytes, which stay in registers or in the first cache, have the numbers'
 * low and high halves, so that some instructions look up 64 rows where there
 * was a load for each.
 *
 * Unit i of a block has row i of each piece of 32 values (GB_ORDER_ROWS), so
 * that a lane's products share the piece's scale.  Codes are magnitudes; signs
 * are given to the activations, which are -127 at least.
 */
#ifndef GB_CPU_KERNELS_ROWS_H
#define GB_CPU_KERNELS_ROWS_H

#include "backends/cpu/kernels/few.h"
#include "backends/cpu/simd/q64-vbmi.h"

/* A block of 256 values. */
struct gb_rows {
    q64 levels[2];         /* of its rows */
    q64 more;              /* what else codes are made of */
    q64s scales;           /* of each chunk of 16 values */
    /* Of each unit, a bit for each value; or NULL.  Read from memory, where
     * masks are loaded from: compilers would rather take vectors to pieces. */
    const volatile uint64_t *minus;
    float d;
};

struct gb_rows_type {
    const struct gb_layout *layout;
    float factor;   /* of all products */
    bool has_minus;
    bool has_pairs; /* units 0 and 1 have another scale than 2 and 3 */
    /* Two blocks, of which the second may be the first; MINUS has room for the
     * signs of both. */
    void (*read)(const void *block, const void *next, uint64_t *minus,
                 struct gb_rows *to);
    /* The codes of unit I. */
    q64 (*unit)(const struct gb_rows *rows, int i);
};

/* Row NUMBERS, whose bits from the seventh on are TABLES, below N; a table has
 * 128 low halves each and then as many high ones. */
GB_INLINE void
gb_rows_lookup(const uint8_t *table, int n, q64 numbers, q64 tables,
               q64 *low, q64 *high)
{
    *low = numbers;
    *high = numbers;
#pragma GCC unroll 16
    for (int i = 0; i < n; i++) {
        const uint64_t k = q64_is(tables, i);

        *low = q64_choose(k, table + 128 * i, *low);
        *high = q64_choose(k, table + 128 * (n + i), *high);
    }
}

/* Where row I's levels of two bits are. */
GB_INLINE q64
gb_rows_pairs(const struct gb_rows *rows, int i)
{
    return q64_fields(rows->levels[0],
                      q64_repeat(0x0e0c0a0806040200 +
                                 (uint64_t)i * 0x1010101010101010));
}

/* All 64 signs of a unit side by side: byte 8 * i + j to 8 * j + i. */
GB_INLINE q64
gb_rows_turned(void)
{
    const uint8_t from[64] = {
        0, 8,  16, 24, 32, 40, 48, 56, 1, 9,  17, 25, 33, 41, 49, 57,
        2, 10, 18, 26, 34, 42, 50, 58, 3, 11, 19, 27, 35, 43, 51, 59,
        4, 12, 20, 28, 36, 44, 52, 60, 5, 13, 21, 29, 37, 45, 53, 61,
        6, 14, 22, 30, 38, 46, 54, 62, 7, 15, 23, 31, 39, 47, 55, 63,
    };

    return q64_load(from);
}

#define EIGHTH(i)   ((i) | (0x6996 >> (((i) ^ (i) >> 4) & 15) & 1) << 7)
#define EIGHTHS4(i) EIGHTH(i), EIGHTH((i) + 1), EIGHTH((i) + 2), EIGHTH((i) + 3)
#define EIGHTHS16(i) \
    EIGHTHS4(i), EIGHTHS4((i) + 4), EIGHTHS4((i) + 8), EIGHTHS4((i) + 12)

/* Seven signs with the eighth: there is always an even number of them. */
static const uint8_t gb_rows_eighths[128] = {
    EIGHTHS16(0),  EIGHTHS16(16), EIGHTHS16(32), EIGHTHS16(48),
    EIGHTHS16(64), EIGHTHS16(80), EIGHTHS16(96), EIGHTHS16(112),
};

GB_INLINE q64
gb_rows_with_eighths(q64 sevens)
{
    return q64_pick2(q64_load(gb_rows_eighths), q64_load(gb_rows_eighths + 64),
                     sevens);
}

/* The signs of two blocks: four times seven in each 32 bits, those of the
 * second block in the high ones. */
GB_INLINE void
gb_rows_four_sevens(q64 words, uint64_t *minus)
{
    const q64 sevens = q64_fields(words, q64_repeat(0x352e2720150e0700));

    q64_store(minus,
              gb_rows_with_eighths(q64_pick(sevens, gb_rows_turned())));
}

/* The products of units from I on to N. */
GB_INLINE q64s
gb_rows_dot(const struct gb_rows_type *t, q64s s, const struct gb_rows *rows,
            const q64 *u, const int8_t *codes, int i, int n)
{
#pragma GCC unroll 4
    for (; i < n; i++) {
        q64 y = q64_load(codes + 64 * i);

        if (t->has_minus)
            y = q64_negate_where(y, rows->minus[i]);
        s = q64s_dot(s, u[i], y);
    }
    return s;
}

GB_INLINE q64f
gb_rows_add(const struct gb_rows_type *t, q64f sum, const struct gb_rows *rows,
            const struct gb_group *y)
{
    const int one = t->has_pairs ? 2 : 4;
    const int8_t *codes = y->high;
    q64s s[2] = { q64s_zero(), q64s_zero() };
    q64 u[4];

#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        u[i] = t->unit(rows, i);
    if (y->has_low[0] != 0) {
        s[0] = q64s_add_256(q64s_zero(),
                            gb_rows_dot(t, s[0], rows, u, codes, 0, one));
        if (t->has_pairs)
            s[1] = q64s_add_256(q64s_zero(),
                                gb_rows_dot(t, s[1], rows, u, codes, 2, 4));
        codes = y->low;
    }
    s[0] = gb_rows_dot(t, s[0], rows, u, codes, 0, one);
    if (t->has_pairs)
        s[1] = gb_rows_dot(t, s[1], rows, u, codes, 2, 4);
    if (t->layout->one_offset != 0)
        s[0] = q64s_add(s[0], q64s_load(y->first));
    if (t->has_pairs)
        s[0] = q64s_add(q64s_mul(s[0], q64s_even(rows->scales)),
                        q64s_mul(s[1], q64s_odd(rows->scales)));
    else
        s[0] = q64s_mul(s[0], rows->scales);
    return gb_add_scaled(sum, s[0], y->scale, rows->d);
}

/* Two blocks, or one, which is taken for two. */
GB_INLINE void
gb_rows_read(const struct gb_rows_type *t, const char *block, bool are_two,
             uint64_t *minus, struct gb_rows *to)
{
    const size_t bytes = t->layout->bytes;

    for (size_t at = 0; at < 2 * bytes; at += 64)
        GB_PREFETCH(block + AHEAD + at);
    t->read(block, are_two ? block + bytes : block, minus, to);
}

/* gb_dots_fn.  What follows is read before two blocks are multiplied, so that
 * neither waits for the other. */
GB_INLINE void
gb_rows_dots(const struct gb_rows_type *t, int64_t k, int64_t rows,
             const void *x, size_t pitch, const void *column, float *dst)
{
    const int64_t n = k / GB_GROUP;
    const char *row = x;
    struct gb_rows two[2];
    struct gb_rows next[2];
    uint64_t minus[16];
    unsigned turn = 0;

    if (n == 0 || rows == 0) {
        memset(dst, 0, (size_t)rows * sizeof(*dst));
        return;
    }
    gb_rows_read(t, row, n > 1, minus, two);
    for (int64_t r = 1; r <= rows; r++) {
        const struct gb_group *y = column;
        q64f sum = q64f_zero();

        for (int64_t i = 2; i < n + 2; i += 2, y += 2) {
            const char *from = row + (size_t)i * t->layout->bytes;
            bool are_two = i + 1 < n;

            if (i >= n) {
                row += r < rows ? pitch : 0;
                from = row;
                are_two = n > 1;
            }
            turn ^= 8;
            gb_rows_read(t, from, are_two, minus + turn, next);
            sum = gb_rows_add(t, sum, &two[0], y);
            if (i <= n)
                sum = gb_rows_add(t, sum, &two[1], y + 1);
            two[0] = next[0];
            two[1] = next[1];
        }
        *dst++ = t->factor * q64f_sum(sum, q64f_zero(), qf_zero());
    }
}

#define GB_ROWS_WEIGHT(name)                                                   \
    GB_BLOCK_MANY(name)                                                        \
                                                                               \
    void GB_K(dots_##name)(int64_t k, int64_t rows, const void *x,             \
                           size_t pitch, const void *column, float *dst)       \
    {                                                                          \
        gb_rows_dots(&name##_rows, k, rows, x, pitch, column, dst);            \
    }

#endif
