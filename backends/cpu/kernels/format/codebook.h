/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/codebook.h - GEMV and skinny GEMM of the codebook formats
 * (IQ1 to IQ3) on machines that look up 64 bytes at once in a table of 128
 * (Q_HAS_TABLE_128: VPERMI2B of AVX-512 VBMI).
 *
 * A codebook (ggml's "grid") has 256 to 2048 entries of eight values (IQ1, IQ2)
 * or four (IQ3).  lib/type/ has an entry as bytes, to be loaded one at a time.
 * Here it is a packed number of 16 bits: two bits for each of eight values, or
 * four bits for each of four.  Its low and high byte are in tables of 128
 * bytes:
 *
 *     table | low 0..127 | low 128..255 | .. | high 0..127 | high 128..255 | ..
 *
 * Lookup of 64 indices: for each table of 128 a compare of the index's bits
 * from 7 on with the table's number, then two masked VPERMI2B.  256 entries
 * take 2 tables, 2048 entries 16: 4 and 32 VPERMI2B for 64 entries, which would
 * be 64 loads.
 *
 * One shift of bit fields (VPMULTISHIFTQB) takes vector i of the codes out of
 * the packed entries: entry i of each sub-block of 32 values, or entries 2 * i
 * and 2 * i + 1 where they have four (GB_ORDER_ENTRIES).  So each pair of lanes
 * has one sub-block and all its products share a scale: 4 dot4 of 64 bytes a
 * super-block, times the integer scales, and one sum that becomes floats.
 *
 * Codes are magnitudes.  Sign masks are applied to the activations, which are
 * never -128.  IQ1 has no signs; its codes have a bias, and a sum begins with
 * its zero-point correction.
 *
 * Four super-blocks are looked up while the four before them are multiplied.
 */
#ifndef GB_CPU_KERNELS_FORMAT_CODEBOOK_H
#define GB_CPU_KERNELS_FORMAT_CODEBOOK_H

#include "backends/cpu/kernels/format/format-kernels.h"

/*
 * GB_CODEBOOK_FORMAT(name) is as GB_FORMAT_KERNELS; with Q_HAS_TABLE_128 GEMV
 * and interleaving for the skinny GEMM are made of the struct gb_codebook
 * NAME_codebook.
 */
#if Q_HAS_TABLE_128

#include "backends/cpu/simd/q64-vbmi.h"

/* Blocks are prefetched so many bytes ahead: the hardware prefetcher stops at
 * the end of a page. */
#define CODEBOOK_AHEAD 2048

/* Super-blocks whose entries are looked up together. */
#define GB_CODEBOOK_BLOCKS 4
#define GB_CODEBOOK_PAIRS  (GB_CODEBOOK_BLOCKS / 2)

/* Their packed entries, and the sign mask of each of their vectors. */
struct gb_codebook_values {
    _Alignas(64) uint8_t packed[GB_CODEBOOK_BLOCKS][2][64];
    uint64_t signs[GB_CODEBOOK_BLOCKS][4];
};

struct gb_codebook {
    const struct gb_format *format;
    float factor; /* of d: values are factor * d * scale * (code - bias) */
    bool has_signs;
    bool has_two_scales; /* one for vectors 0 and 1, one for 2 and 3: sub-blocks
                            of 16 values in GB_ORDER_ENTRIES */
    /* Look up the entries of GB_CODEBOOK_BLOCKS blocks. */
    void (*lookup)(const void *const *blocks, struct gb_codebook_values *to);
    /* The integer scale of each lane; with two scales, of the sub-blocks of
     * 16. */
    q64s (*lane_scales)(const void *block);
    float (*d)(const void *block);
    /* The codes of vector I, from the block's packed entries. */
    q64 (*codes64)(const void *block, const uint8_t (*packed)[64], int i);
};

/* d as the half float that blocks begin with. */
GB_INLINE float
gb_codebook_d(const void *block)
{
    return q_half(block);
}

/* Of each index the number of its table of 128 entries: bit 7 of its low byte
 * in INDICES, and above that the bits of HIGH from bit 1 on; MASK has the valid
 * ones. */
GB_INLINE q64
gb_codebook_tables(q64 high, q64 indices, int mask)
{
    return q64_and(q64_where(q64_set1(1), q64_down(indices, 7), high),
                   q64_set1(mask));
}

/* Look up COUNT times 64 indices in TABLE, which has N times 128 low bytes of
 * entries, then as many high bytes.  LOW and HIGH are the indices' low bytes
 * before and the entries' bytes after; TABLES are the indices' bits from 7 on,
 * below N. */
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

/* Entries of eight values: 32 in a block, so 64 indices are those of two
 * blocks. */
GB_INLINE void
gb_codebook_lookup_eights(const uint8_t *table, int n, const q64 *indices,
                          const q64 *tables, struct gb_codebook_values *to)
{
    q64 low[GB_CODEBOOK_PAIRS];
    q64 high[GB_CODEBOOK_PAIRS];

#pragma GCC unroll 2
    for (int i = 0; i < GB_CODEBOOK_PAIRS; i++)
        low[i] = high[i] = indices[i];
    gb_codebook_lookup(table, n, GB_CODEBOOK_PAIRS, tables, low, high);
#pragma GCC unroll 2
    for (int i = 0; i < GB_CODEBOOK_PAIRS; i++) {
        q64_store(to->packed[2 * i][0], q64_zip_low(low[i], high[i]));
        q64_store(to->packed[2 * i + 1][0], q64_zip_high(low[i], high[i]));
    }
}

/* Entries of four values: 64 in a block.  In each eight bytes are the four
 * entries of one pair of lanes in two vectors. */
GB_INLINE void
gb_codebook_lookup_fours(const uint8_t *table, int n, const q64 *indices,
                         const q64 *tables, struct gb_codebook_values *to)
{
    q64 swapped[GB_CODEBOOK_BLOCKS];
    q64 low[GB_CODEBOOK_BLOCKS];
    q64 high[GB_CODEBOOK_BLOCKS];

#pragma GCC unroll 4
    for (int i = 0; i < GB_CODEBOOK_BLOCKS; i++) {
        low[i] = high[i] = q64_swap_dwords(indices[i]);
        swapped[i] = q64_swap_dwords(tables[i]);
    }
    gb_codebook_lookup(table, n, GB_CODEBOOK_BLOCKS, swapped, low, high);
#pragma GCC unroll 4
    for (int i = 0; i < GB_CODEBOOK_BLOCKS; i++) {
        q64_store(to->packed[i][0], q64_zip_low(low[i], high[i]));
        q64_store(to->packed[i][1], q64_zip_high(low[i], high[i]));
    }
}

/* Vector I of codes of two bits, which are bits AT and AT + 1 of each byte;
 * other bits are any. */
GB_INLINE q64
gb_codebook_bits2(const uint8_t (*packed)[64], int i, int at)
{
    return q64_fields(q64_load(packed[0]),
                      q64_repeat(0x4e4c4a4846444240 -
                                 (uint64_t)at * 0x0101010101010101 +
                                 (uint64_t)i * 0x1010101010101010));
}

/* Vector I of codes of four bits, in the low half of each byte; other bits are
 * any. */
GB_INLINE q64
gb_codebook_bits4(const uint8_t (*packed)[64], int i)
{
    return q64_fields(
        q64_load(packed[i / 2]),
        q64_repeat(i % 2 == 0 ? 0x1c1814100c080400 : 0x3c3834302c282420));
}

/* F(0) to F(63). */
#define GB_EACH4(F, i)  F(i), F((i) + 1), F((i) + 2), F((i) + 3)
#define GB_EACH16(F, i) \
    GB_EACH4(F, i), GB_EACH4(F, (i) + 4), GB_EACH4(F, (i) + 8), \
        GB_EACH4(F, (i) + 12)
#define GB_EACH64(F) \
    GB_EACH16(F, 0), GB_EACH16(F, 16), GB_EACH16(F, 32), GB_EACH16(F, 48)

/* The low bytes of the 32 indices of two blocks, in the order in which zipping
 * them with the high bytes gives one block, then the other: each sixteen bytes
 * have eight of the first block and eight of the second. */
#define GB_ENTRY(i) ((i) / 16 * 8 + (i) % 8 + (i) / 8 % 2 * 32)
static const uint8_t gb_codebook_order[64] = { GB_EACH64(GB_ENTRY) };

GB_INLINE q64
gb_codebook_of_two(const uint8_t *a, const uint8_t *b)
{
    return q64_pick(q64_load2(a, b), q64_load(gb_codebook_order));
}

/* The sign mask of vector i is made of the sign bytes of entries i, i + 4 and
 * so on: where they are when the 32 bytes of each of two blocks follow each
 * other, and when each eight bytes have four of the first block, then four of
 * the second. */
#define GB_SIGN(i)       ((i) % 8 * 4 + (i) / 8 % 4 + (i) / 32 * 32)
#define GB_MIXED_SIGN(i) ((i) % 8 * 8 + (i) / 8)
static const uint8_t gb_signs_order[64] = { GB_EACH64(GB_SIGN) };
static const uint8_t gb_mixed_signs_order[64] = { GB_EACH64(GB_MIXED_SIGN) };

/* Sign masks of two blocks, from 32 sign bytes of each. */
GB_INLINE void
gb_codebook_signs(const uint8_t *a, const uint8_t *b, uint64_t *signs)
{
    q64_store(signs, q64_pick(q64_load2(a, b), q64_load(gb_signs_order)));
}

/* Sign bytes by their seven stored bits: bit 7 makes the number of ones
 * even. */
#define GB_PARITY(i)    ((i) | (0x6996 >> (((i) ^ (i) >> 4) & 15) & 1) << 7)
#define GB_PARITY_64(i) GB_PARITY((i) + 64)
static const uint8_t gb_codebook_parity_table[128] = {
    GB_EACH64(GB_PARITY),
    GB_EACH64(GB_PARITY_64),
};

/* Sign masks of two blocks, from 64 bytes with seven signs each. */
GB_INLINE void
gb_codebook_parity_signs(q64 seven, uint64_t *signs)
{
    q64_store(signs, q64_pick2(q64_load(gb_codebook_parity_table),
                               q64_load(gb_codebook_parity_table + 64), seven));
}

/* The same from 32-bit words with four times seven signs; words of the first
 * block and of the second alternate. */
GB_INLINE void
gb_codebook_parity_signs_words(q64 words, uint64_t *signs)
{
    const q64 seven = q64_fields(words, q64_repeat(0x352e2720150e0700));

    gb_codebook_parity_signs(q64_pick(seven, q64_load(gb_mixed_signs_order)),
                             signs);
}

/* Odd scales 1 + 2 * s; TWICE has s in the bits of MASK, that is from bit 1 on,
 * and anything in others. */
GB_INLINE q64s
gb_codebook_odd(q64s twice, int mask)
{
    return q64_where(q64s_set1(mask), twice, q64s_set1(1));
}

/* Odd scales of the sixteen sub-blocks of 16 values, from a nibble for each. */
GB_INLINE q64s
gb_codebook_nibble_scales(const uint8_t *nibbles)
{
    static const int32_t by[16] = { 31, 3, 7, 11, 15, 19, 23, 27,
                                    31, 3, 7, 11, 15, 19, 23, 27 };
    int32_t w[2];

    memcpy(w, nibbles, sizeof(w));
    return gb_codebook_odd(
        q64s_rotate(q64s_set2(w[0], w[1]), q64s_load(by)), 30);
}

/* S + the products of vectors I to N - 1 with the activations CODES. */
GB_INLINE q64s
gb_codebook_dot(const struct gb_codebook *t, q64s s, const q64 *u,
                const uint64_t *signs, const int8_t *codes, int i, int n)
{
#pragma GCC unroll 4
    for (; i < n; i++) {
        q64 y = q64_load(codes + 64 * i);

        if (t->has_signs)
            y = q64_negate_where(y, signs[i]);
        s = q64s_dot(s, u[i], y);
    }
    return s;
}

/* SUM + the product of a super-block with the activations Y, but for the
 * factor. */
GB_INLINE q64f
gb_codebook_add(const struct gb_codebook *t, q64f sum, const void *block,
                const uint8_t (*packed)[64], const uint64_t *signs,
                const struct gb_q8_super_block *y)
{
    const int split = t->has_two_scales ? 2 : 4;
    const q64s scales = t->lane_scales(block);
    const int8_t *codes = y->high;
    q64s s[2] = { q64s_zero(), q64s_zero() };
    q64 u[4];

#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        u[i] = t->codes64(block, packed, i);
    if (y->has_low[0] != 0) {
        s[0] = gb_codebook_dot(t, s[0], u, signs, codes, 0, split);
        s[1] = gb_codebook_dot(t, s[1], u, signs, codes, split, 4);
        s[0] = q64s_add_256(q64s_zero(), s[0]);
        s[1] = q64s_add_256(q64s_zero(), s[1]);
        codes = y->low;
    }
    s[0] = gb_codebook_dot(t, s[0], u, signs, codes, 0, split);
    s[1] = gb_codebook_dot(t, s[1], u, signs, codes, split, 4);
    if (t->format->gemv_bias != 0)
        s[0] = q64s_add(s[0], q64s_load(y->correction[0]));
    if (t->has_two_scales)
        s[0] = q64s_add(q64s_mul(s[0], q64s_even(scales)),
                        q64s_mul(s[1], q64s_odd(scales)));
    else
        s[0] = q64s_mul(s[0], scales);
    gb_add_scaled(&sum, s[0], y->scale, q64f_set1(t->d(block)));
    return sum;
}

/* Look up the entries of the next blocks from FIRST on, of which N are left;
 * the first one stands in for those that are not there. */
GB_INLINE void
gb_codebook_lookup_blocks(const struct gb_codebook *t, const char *first,
                          int64_t n, struct gb_codebook_values *to)
{
    const size_t bytes = t->format->bytes;
    const void *blocks[GB_CODEBOOK_BLOCKS];

#pragma GCC unroll 4
    for (int i = 0; i < GB_CODEBOOK_BLOCKS; i++)
        blocks[i] = i < n ? first + (size_t)i * bytes : first;
    for (size_t at = 0; at < (size_t)GB_CODEBOOK_BLOCKS * bytes; at += 64)
        GB_PREFETCH(first + CODEBOOK_AHEAD + at);
    t->lookup(blocks, to);
}

/* gb_gemv_fn.  A batch of blocks is looked up, then the batch before it is
 * multiplied, so that the two do not wait for each other (software
 * pipelining). */
GB_INLINE void
gb_codebook_gemv(const struct gb_codebook *t, int64_t k, int64_t rows,
                 const void *x, size_t pitch, const void *column, float *dst)
{
    const size_t bytes = t->format->bytes;
    const int64_t n = k / GB_SUPER_BLOCK;
    const int64_t batches =
        rows * ((n + GB_CODEBOOK_BLOCKS - 1) / GB_CODEBOOK_BLOCKS);
    const struct gb_q8_super_block *y = column;
    const struct gb_q8_super_block *end = y + n;
    const char *row = x;
    const char *ahead = x; /* blocks to look up next */
    const char *block = x; /* blocks that were looked up */
    int64_t left = n;      /* blocks from AHEAD to the end of its row */
    struct gb_codebook_values read[2];
    q64f sum = q64f_zero();

    if (n == 0)
        memset(dst, 0, (size_t)rows * sizeof(*dst));
    for (int64_t i = 0; i <= batches; i++) {
        const struct gb_codebook_values *now = &read[(i + 1) % 2];

        if (i < batches)
            gb_codebook_lookup_blocks(t, ahead, left, &read[i % 2]);
        if (i > 0) {
            for (int j = 0; j < GB_CODEBOOK_BLOCKS && y < end; j++, y++) {
                sum = gb_codebook_add(t, sum, block, now->packed[j],
                                      now->signs[j], y);
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

/* Vectors in GB_ORDER_ENTRIES become lane-interleaved, a sub-block of 16 values
 * in each lane (interleave.h). */
GB_INLINE void
gb_codebook_to_lanes(q64 *u)
{
    const q64 v[4] = { u[0], u[1], u[2], u[3] };

    u[0] = q64_low_dwords(v[0], v[2]);
    u[1] = q64_high_dwords(v[0], v[2]);
    u[2] = q64_low_dwords(v[1], v[3]);
    u[3] = q64_high_dwords(v[1], v[3]);
}

/* Pack a super-block for the skinny GEMM; signs become part of the codes, with
 * the format's bias. */
GB_INLINE void
gb_codebook_interleave_block(const struct gb_codebook *t, const void *block,
                             const uint8_t (*packed)[64], const uint64_t *signs,
                             struct gb_interleaved *to)
{
    const q64f scale = q64f_mul(q64f_from(t->lane_scales(block)),
                                q64f_set1(t->factor * t->d(block)));
    q64 u[4];

#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        u[i] = t->codes64(block, packed, i);
        if (t->has_signs)
            u[i] = q64_add(q64_negate_where(u[i], signs[i]),
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
gb_codebook_interleave(const struct gb_codebook *t, int64_t k, int64_t rows,
                       const void *x, size_t pitch, struct gb_interleaved *to)
{
    const size_t bytes = t->format->bytes;
    struct gb_codebook_values read;

    for (int64_t r = 0; r < rows; r++) {
        const char *block = (const char *)x + (size_t)r * pitch;

        for (int64_t n = k / GB_SUPER_BLOCK; n > 0; n -= GB_CODEBOOK_BLOCKS) {
            gb_codebook_lookup_blocks(t, block, n, &read);
            for (int j = 0; j < GB_CODEBOOK_BLOCKS && j < n; j++, to++) {
                gb_codebook_interleave_block(t, block, read.packed[j],
                                             read.signs[j], to);
                block += bytes;
            }
        }
    }
}

#define GB_CODEBOOK_FORMAT(name)                                            \
    GB_FORMAT_GEMM_KERNELS(name)                                            \
                                                                            \
    static void gemv_##name(int64_t k, int64_t rows, const void *x,         \
                            size_t pitch, const void *column, float *dst)   \
    {                                                                       \
        gb_codebook_gemv(&name##_codebook, k, rows, x, pitch, column, dst); \
    }                                                                       \
                                                                            \
    static void interleave_##name(int64_t k, int64_t rows, const void *x,   \
                                  size_t pitch, struct gb_interleaved *to)  \
    {                                                                       \
        gb_codebook_interleave(&name##_codebook, k, rows, x, pitch, to);    \
    }                                                                       \
                                                                            \
    GB_FORMAT_TABLE(name)

#else

#define GB_CODEBOOK_FORMAT(name) GB_FORMAT_KERNELS(name)

#endif

#endif
