/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/codebook.h - GEMV and skinny GEMM of codebook types (IQ1 to IQ3)
 * on machines that look up 64 bytes at once in tables of 128 (Q_HAS_TABLE_128).
 *
 * An entry of a codebook is a number that has some bits for the magnitude of each
 * of its four or eight values.  Tables of bytes, which stay in registers or in the
 * first cache, have the numbers' low and high bytes, so that some instructions look
 * up 64 entries where there was a load for each.
 *
 * Vector i of a super-block has entry i of each sub-block of 32 values
 * (GB_ORDER_ENTRIES), so that a lane's products share the sub-block's scale.  Codes
 * are magnitudes; the sign mask is applied to the activations, which are -127 at
 * least.
 */
#ifndef GB_CPU_KERNELS_FORMAT_CODEBOOK_H
#define GB_CPU_KERNELS_FORMAT_CODEBOOK_H

#include "backends/cpu/kernels/format/format-kernels.h"

/*
 * GB_CODEBOOK_FORMAT(name) is as GB_FORMAT_KERNELS; with Q_HAS_TABLE_128 GEMV and
 * skinny GEMM go by the struct gb_codebook_format NAME_entries.
 */
#if Q_HAS_TABLE_128

#include "backends/cpu/simd/q64-vbmi.h"

/* Bytes that are fetched before they are needed, which the processor does not
 * do beyond a page. */
#define CODEBOOK_AHEAD 2048

/* Blocks of 256 values that are read at a time. */
#define GB_CODEBOOK_BLOCKS 4
#define GB_CODEBOOK_PAIRS  (GB_CODEBOOK_BLOCKS / 2)

/* What is read of them ahead of their products. */
struct gb_codebook_codes {
    _Alignas(64) uint8_t levels[GB_CODEBOOK_BLOCKS][2][64]; /* of their entries */
    uint64_t minus[GB_CODEBOOK_BLOCKS][4]; /* of each unit, a bit for each value */
};

struct gb_codebook_format {
    const struct gb_format *format;
    float factor;    /* of all products */
    bool has_minus;
    bool has_pairs;  /* units 0 and 1 have another scale than 2 and 3 */
    void (*read)(const void *const *blocks, struct gb_codebook_codes *to);
    q64s (*scales)(const void *block); /* of each sub-block of 16 values */
    float (*d)(const void *block);
    /* The codes of unit I, whose LEVELS were read. */
    q64 (*unit)(const void *block, const uint8_t (*levels)[64], int i);
};

/* The half that blocks begin with. */
GB_INLINE float
gb_codebook_d(const void *block)
{
    return q_half(block);
}

/* From the bits of HIGH that are not the lowest, and the highest of a number's
 * low eight. */
GB_INLINE q64
gb_codebook_tables(q64 high, q64 numbers, int mask)
{
    return q64_and(q64_where(q64_set1(1), q64_down(numbers, 7), high),
                   q64_set1(mask));
}

/* Entries by their NUMBERS, COUNT times 64 of them, whose bits from the seventh on
 * are TABLES, below N: of TABLE's N times 128 low halves and as many high ones.
 * HIGH and LOW are NUMBERS at first. */
GB_INLINE void
gb_codebook_lookup(const uint8_t *table, int n, int count, const q64 *tables,
               q64 *low, q64 *high)
{
#pragma GCC unroll 16
    for (int i = 0; i < n; i++) {
#pragma GCC unroll 4
        for (int j = 0; j < count; j++) {
            const uint64_t k = q64_is(tables[j], i);

            low[j] = q64_choose(k, table + 128 * i, low[j]);
            high[j] = q64_choose(k, table + 128 * (n + i), high[j]);
        }
    }
}

/* For entries of eight values, 32 in a block: those of pairs of blocks. */
GB_INLINE void
gb_codebook_read_eights(const uint8_t *table, int n, const q64 *numbers,
                    const q64 *tables, struct gb_codebook_codes *to)
{
    q64 low[GB_CODEBOOK_PAIRS];
    q64 high[GB_CODEBOOK_PAIRS];

#pragma GCC unroll 2
    for (int i = 0; i < GB_CODEBOOK_PAIRS; i++)
        low[i] = high[i] = numbers[i];
    gb_codebook_lookup(table, n, GB_CODEBOOK_PAIRS, tables, low, high);
#pragma GCC unroll 2
    for (int i = 0; i < GB_CODEBOOK_PAIRS; i++) {
        q64_store(to->levels[2 * i][0], q64_zip_low(low[i], high[i]));
        q64_store(to->levels[2 * i + 1][0], q64_zip_high(low[i], high[i]));
    }
}

/* For entries of four, 64 in a block: four entries, those of two units, in each eight
 * bytes. */
GB_INLINE void
gb_codebook_read_fours(const uint8_t *table, int n, const q64 *numbers,
                   const q64 *tables, struct gb_codebook_codes *to)
{
    q64 swapped[GB_CODEBOOK_BLOCKS];
    q64 low[GB_CODEBOOK_BLOCKS];
    q64 high[GB_CODEBOOK_BLOCKS];

#pragma GCC unroll 4
    for (int i = 0; i < GB_CODEBOOK_BLOCKS; i++) {
        low[i] = high[i] = q64_swap_dwords(numbers[i]);
        swapped[i] = q64_swap_dwords(tables[i]);
    }
    gb_codebook_lookup(table, n, GB_CODEBOOK_BLOCKS, swapped, low, high);
#pragma GCC unroll 4
    for (int i = 0; i < GB_CODEBOOK_BLOCKS; i++) {
        q64_store(to->levels[i][0], q64_zip_low(low[i], high[i]));
        q64_store(to->levels[i][1], q64_zip_high(low[i], high[i]));
    }
}

/* Entry I's levels of two bits each, from bit AT of a byte on. */
GB_INLINE q64
gb_codebook_pairs(const uint8_t (*levels)[64], int i, int at)
{
    return q64_fields(q64_load(levels[0]),
                      q64_repeat(0x4e4c4a4846444240 -
                                 (uint64_t)at * 0x0101010101010101 +
                                 (uint64_t)i * 0x1010101010101010));
}

/* The same for entries 2 * I and 2 * I + 1, of four levels of four bits. */
GB_INLINE q64
gb_codebook_nibbles(const uint8_t (*levels)[64], int i)
{
    return q64_fields(q64_load(levels[i / 2]),
                      q64_repeat(i % 2 == 0 ? 0x1c1814100c080400
                                            : 0x3c3834302c282420));
}

/* F(0) to F(63). */
#define GB_EACH4(F, i)  F(i), F((i) + 1), F((i) + 2), F((i) + 3)
#define GB_EACH16(F, i) \
    GB_EACH4(F, i), GB_EACH4(F, (i) + 4), GB_EACH4(F, (i) + 8), \
        GB_EACH4(F, (i) + 12)
#define GB_EACH64(F) \
    GB_EACH16(F, 0), GB_EACH16(F, 16), GB_EACH16(F, 32), GB_EACH16(F, 48)

/* Sixteen bytes have the rows 8 * l to 8 * l + 7 of two blocks: this is where
 * they are when a block has 32 of its own, one behind the other. */
#define GB_ROW(i) ((i) / 16 * 8 + (i) % 8 + (i) / 8 % 2 * 32)
static const uint8_t gb_codebook_order[64] = { GB_EACH64(GB_ROW) };

GB_INLINE q64
gb_codebook_of_two(const uint8_t *a, const uint8_t *b)
{
    return q64_pick(q64_load2(a, b), q64_load(gb_codebook_order));
}

/* Signs of unit i are those of rows i, i + 4 and so on: where they are when a
 * block has 32, and when eight bytes have four of the first block and four of
 * the second. */
#define GB_SIGN(i)       ((i) % 8 * 4 + (i) / 8 % 4 + (i) / 32 * 32)
#define GB_MIXED_SIGN(i) ((i) % 8 * 8 + (i) / 8)
static const uint8_t gb_signs_order[64] = { GB_EACH64(GB_SIGN) };
static const uint8_t gb_mixed_signs_order[64] = { GB_EACH64(GB_MIXED_SIGN) };

GB_INLINE void
gb_codebook_signs(const uint8_t *a, const uint8_t *b, uint64_t *minus)
{
    q64_store(minus, q64_pick(q64_load2(a, b), q64_load(gb_signs_order)));
}

/* Seven signs with the eighth: there is always an even number of them. */
#define GB_EIGHTH(i)    ((i) | (0x6996 >> (((i) ^ (i) >> 4) & 15) & 1) << 7)
#define GB_EIGHTH_64(i) GB_EIGHTH((i) + 64)
static const uint8_t gb_codebook_eighths[128] = {
    GB_EACH64(GB_EIGHTH),
    GB_EACH64(GB_EIGHTH_64),
};

/* From seven signs in the low bits of each byte. */
GB_INLINE void
gb_codebook_sevens(q64 sevens, uint64_t *minus)
{
    q64_store(minus, q64_pick2(q64_load(gb_codebook_eighths),
                               q64_load(gb_codebook_eighths + 64), sevens));
}

/* From four times seven in each 32 bits, with those of the second block in the
 * high ones of 64. */
GB_INLINE void
gb_codebook_four_sevens(q64 words, uint64_t *minus)
{
    const q64 sevens = q64_fields(words, q64_repeat(0x352e2720150e0700));

    gb_codebook_sevens(q64_pick(sevens, q64_load(gb_mixed_signs_order)), minus);
}

/* 1 + 2 * s for numbers s that the low bits of MASK, which is even, are
 * shifted left for. */
GB_INLINE q64s
gb_codebook_odd(q64s twice, int mask)
{
    return q64_where(q64s_set1(mask), twice, q64s_set1(1));
}

/* Scales of sixteen nibbles. */
GB_INLINE q64s
gb_codebook_nibble_scales(const uint8_t *nibbles)
{
    static const int32_t by[16] = { 31, 3, 7, 11, 15, 19, 23, 27,
                                    31, 3, 7, 11, 15, 19, 23, 27 };
    int32_t w[2];

    memcpy(w, nibbles, sizeof(w));
    return gb_codebook_odd(q64s_rotate(q64s_set2(w[0], w[1]), q64s_load(by)), 30);
}

/* The products of units from I on to N, whose signs are MINUS. */
GB_INLINE q64s
gb_codebook_dot(const struct gb_codebook_format *t, q64s s, const q64 *u,
            const uint64_t *minus, const int8_t *codes, int i, int n)
{
#pragma GCC unroll 4
    for (; i < n; i++) {
        q64 y = q64_load(codes + 64 * i);

        if (t->has_minus)
            y = q64_negate_where(y, minus[i]);
        s = q64s_dot(s, u[i], y);
    }
    return s;
}

GB_INLINE q64f
gb_codebook_add(const struct gb_codebook_format *t, q64f sum, const void *block,
            const uint8_t (*levels)[64], const uint64_t *minus,
            const struct gb_q8_super_block *y)
{
    const int one = t->has_pairs ? 2 : 4;
    const q64s scales = t->scales(block);
    const int8_t *codes = y->high;
    q64s s[2] = { q64s_zero(), q64s_zero() };
    q64 u[4];

#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        u[i] = t->unit(block, levels, i);
    if (y->has_low[0] != 0) {
        s[0] = gb_codebook_dot(t, s[0], u, minus, codes, 0, one);
        s[1] = gb_codebook_dot(t, s[1], u, minus, codes, one, 4);
        s[0] = q64s_add_256(q64s_zero(), s[0]);
        s[1] = q64s_add_256(q64s_zero(), s[1]);
        codes = y->low;
    }
    s[0] = gb_codebook_dot(t, s[0], u, minus, codes, 0, one);
    s[1] = gb_codebook_dot(t, s[1], u, minus, codes, one, 4);
    if (t->format->gemv_bias != 0)
        s[0] = q64s_add(s[0], q64s_load(y->correction[0]));
    if (t->has_pairs)
        s[0] = q64s_add(q64s_mul(s[0], q64s_even(scales)),
                        q64s_mul(s[1], q64s_odd(scales)));
    else
        s[0] = q64s_mul(s[0], scales);
    gb_add_scaled(&sum, s[0], y->scale, q64f_set1(t->d(block)));
    return sum;
}

/* Some blocks, of which N are left; the first one in the place of those that
 * are not there. */
GB_INLINE void
gb_codebook_read(const struct gb_codebook_format *t, const char *first, int64_t n,
             struct gb_codebook_codes *to)
{
    const size_t bytes = t->format->bytes;
    const void *blocks[GB_CODEBOOK_BLOCKS];

#pragma GCC unroll 4
    for (int i = 0; i < GB_CODEBOOK_BLOCKS; i++)
        blocks[i] = i < n ? first + (size_t)i * bytes : first;
    for (size_t at = 0; at < (size_t)GB_CODEBOOK_BLOCKS * bytes; at += 64)
        GB_PREFETCH(first + CODEBOOK_AHEAD + at);
    t->read(blocks, to);
}

/* gb_gemv_fn.  What follows is read before some blocks are multiplied, so that
 * neither waits for the other. */
GB_INLINE void
gb_codebook_gemv(const struct gb_codebook_format *t, int64_t k, int64_t rows,
             const void *x, size_t pitch, const void *column, float *dst)
{
    const size_t bytes = t->format->bytes;
    const int64_t n = k / GB_SUPER_BLOCK;
    const int64_t steps = rows * ((n + GB_CODEBOOK_BLOCKS - 1) / GB_CODEBOOK_BLOCKS);
    const struct gb_q8_super_block *y = column;
    const struct gb_q8_super_block *end = y + n;
    const char *row = x;
    const char *ahead = x; /* what is read next */
    const char *block = x; /* what was read */
    int64_t left = n;      /* blocks of the row that AHEAD is in */
    struct gb_codebook_codes read[2];
    q64f sum = q64f_zero();

    if (n == 0)
        memset(dst, 0, (size_t)rows * sizeof(*dst));
    for (int64_t i = 0; i <= steps; i++) {
        const struct gb_codebook_codes *now = &read[(i + 1) % 2];

        if (i < steps)
            gb_codebook_read(t, ahead, left, &read[i % 2]);
        if (i > 0) {
            for (int j = 0; j < GB_CODEBOOK_BLOCKS && y < end; j++, y++) {
                sum = gb_codebook_add(t, sum, block, now->levels[j], now->minus[j],
                                  y);
                block += bytes;
            }
            if (y == end) {
                *dst++ = t->factor * q64f_sum(sum, q64f_zero(), qf_zero());
                sum = q64f_zero();
                y = column;
            }
        }
        block = ahead;
        left -= GB_CODEBOOK_BLOCKS;
        if (left > 0) {
            ahead += (size_t)GB_CODEBOOK_BLOCKS * bytes;
        } else {
            row += pitch;
            ahead = row;
            left = n;
        }
    }
}

/* Vectors in GB_ORDER_ENTRIES lane-interleaved. */
GB_INLINE void
gb_codebook_to_lanes(q64 *u)
{
    const q64 v[4] = { u[0], u[1], u[2], u[3] };

    u[0] = q64_low_dwords(v[0], v[2]);
    u[1] = q64_high_dwords(v[0], v[2]);
    u[2] = q64_low_dwords(v[1], v[3]);
    u[3] = q64_high_dwords(v[1], v[3]);
}

GB_INLINE void
gb_codebook_interleave_block(const struct gb_codebook_format *t, const void *block,
                   const uint8_t (*levels)[64], const uint64_t *minus,
                   struct gb_interleaved *to)
{
    const q64f scale = q64f_mul(q64f_from(t->scales(block)),
                                q64f_set1(t->factor * t->d(block)));
    q64 u[4];

#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        u[i] = t->unit(block, levels, i);
        if (t->has_minus)
            u[i] = q64_add(q64_negate_where(u[i], minus[i]),
                           q64_set1(t->format->bias));
    }
    if (t->format->order == GB_ORDER_ENTRIES)
        gb_codebook_to_lanes(u);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        q64_store(to->codes + 64 * i, u[i]);
    q64f_store(to->scale, scale);
    q64f_store(to->min, scale);
}

/* gb_interleave_fn */
GB_INLINE void
gb_codebook_interleave(const struct gb_codebook_format *t, int64_t k, int64_t rows,
             const void *x, size_t pitch, struct gb_interleaved *to)
{
    const size_t bytes = t->format->bytes;
    struct gb_codebook_codes read;

    for (int64_t r = 0; r < rows; r++) {
        const char *block = (const char *)x + (size_t)r * pitch;

        for (int64_t n = k / GB_SUPER_BLOCK; n > 0; n -= GB_CODEBOOK_BLOCKS) {
            gb_codebook_read(t, block, n, &read);
            for (int j = 0; j < GB_CODEBOOK_BLOCKS && j < n; j++, to++) {
                gb_codebook_interleave_block(t, block, read.levels[j], read.minus[j],
                                   to);
                block += bytes;
            }
        }
    }
}

#define GB_CODEBOOK_FORMAT(name)                                               \
    GB_FORMAT_GEMM_KERNELS(name)                                               \
                                                                               \
    static void gemv_##name(int64_t k, int64_t rows, const void *x,            \
                            size_t pitch, const void *column, float *dst)      \
    {                                                                          \
        gb_codebook_gemv(&name##_entries, k, rows, x, pitch, column, dst);     \
    }                                                                          \
                                                                               \
    static void interleave_##name(int64_t k, int64_t rows, const void *x,      \
                                  size_t pitch, struct gb_interleaved *to)     \
    {                                                                          \
        gb_codebook_interleave(&name##_entries, k, rows, x, pitch, to);        \
    }                                                                          \
                                                                               \
    GB_FORMAT_TABLE(name)

#else

#define GB_CODEBOOK_FORMAT(name) GB_FORMAT_KERNELS(name)

#endif

#endif
