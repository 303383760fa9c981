/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/windows.h - super-blocks that are read as three windows,
 * from bytes 0, 64 and 128 on: those of Q4_0, Q4_1 and IQ4_NL, whose eight
 * blocks have 144 or 160 bytes, where one shuffle takes bytes out of 128
 * (Q_HAS_TABLE_128).
 *
 * Nibbles, scales and mins are picked out of the windows by three or four
 * shuffles, which takes the place of seven loads.  Where a row ends in the
 * middle of a super-block the windows are masked, so that the last blocks cost
 * what they have.
 *
 * GEMV reads rows so that have such an end, as most small models have (576, 896
 * or 1,152 values).  Measured on Zen 4 with rows of 576 values, from the second
 * cache: Q4_0 1.24 times as fast, IQ4_NL 1.21, Q4_1 1.08.  The hardware
 * prefetcher does not follow loads of 64 bytes that lie across two lines as it
 * follows those of 16, so weights are prefetched here; rows of thousands of
 * values, for which memory is the limit, are faster without either.
 */
#ifndef GB_CPU_KERNELS_FORMAT_WINDOWS_H
#define GB_CPU_KERNELS_FORMAT_WINDOWS_H

#include "backends/cpu/simd/q64.h"

#include "lib/base/attr.h"

#include <stddef.h>

/* Where things are in a super-block. */
struct gb_windows {
    int bytes;             /* of a block, 18 or 20 */
    const uint8_t *values; /* what nibbles stand for; NULL for themselves */
    uint16_t heads[16];    /* words of 16 bits: the first of each block, then
                              the second */
    uint8_t nibbles[2][64]; /* bytes of blocks 0 to 3, and of 4 to 7, counted
                               from byte 64 on */
};

#define GB_RUN4(at)  (at), (at) + 1, (at) + 2, (at) + 3
#define GB_RUN16(at) \
    GB_RUN4(at), GB_RUN4((at) + 4), GB_RUN4((at) + 8), GB_RUN4((at) + 12)
#define GB_WORD(at) (at) / 2

/* F of a place in each of four or eight blocks. */
#define GB_OF_4(f, at, bytes) \
    f(at), f((at) + (bytes)), f((at) + 2 * (bytes)), f((at) + 3 * (bytes))
#define GB_OF_8(f, at, bytes) \
    GB_OF_4(f, at, bytes), GB_OF_4(f, (at) + 4 * (bytes), bytes)

#define GB_WINDOWS(block, table)                                      \
    {                                                                 \
        .bytes = sizeof(struct block),                                \
        .values = (table),                                            \
        .heads = { GB_OF_8(GB_WORD, 0, sizeof(struct block)),         \
                   GB_OF_8(GB_WORD, 2, sizeof(struct block)) },       \
        .nibbles = { { GB_OF_4(GB_RUN16, offsetof(struct block, qs),  \
                               sizeof(struct block)) },               \
                     { GB_OF_4(GB_RUN16, offsetof(struct block, qs) + \
                                   4 * sizeof(struct block) - 64,     \
                               sizeof(struct block)) } },             \
    }

#if Q_HAS_TABLE_128

#include "backends/cpu/simd/q64-vbmi.h"

/* Weights are prefetched into the second cache so many bytes before they are
 * needed.  From 8,192 to 24,576 it makes no difference, 4,096 is too late. */
#define GB_WINDOWS_AHEAD 12288

GB_INLINE void
gb_windows_prefetch(const struct gb_windows *l, const char *from, int n)
{
    for (int at = 0; at < n * l->bytes; at += 64)
        GB_PREFETCH_FAR(from + GB_WINDOWS_AHEAD + at);
}

/* The windows of N blocks: 8, but at the end of a row.  The last one is no
 * longer than it has to be, since a load that begins in one line and ends in
 * the next takes twice as long. */
GB_INLINE void
gb_windows_load(const struct gb_windows *l, const char *from, int n, q64 *w)
{
    const int end = n * l->bytes;

    if (n < 8) {
        w[0] = q64_load_first(from, end);
        w[1] = q64_load_first(from + 64, end - 64);
        w[2] = q64_load_first(from + 128, end - 128);
        return;
    }
    w[0] = q64_load_once(from);
    w[1] = q64_load_once(from + 64);
    w[2] = l->bytes == 18 ? q64_load16(from + 128) : q64_load32(from + 128);
}

/* Codes of blocks 4 * I to 4 * I + 3, in GB_ORDER_NIBBLES. */
GB_INLINE void
gb_windows_codes(const struct gb_windows *l, const char *from, int i, int n,
                 q64 *u)
{
    q64 w[3], both;

    gb_windows_load(l, from, n, w);
    both = q64_pick2(w[i], w[i + 1], q64_load(l->nibbles[i]));
    u[0] = q64_bits(both, 0, 15);
    u[1] = q64_bits(both, 4, 15);
    if (l->values != NULL) {
        u[0] = q64_lookup(l->values, u[0]);
        u[1] = q64_lookup(l->values, u[1]);
    }
}

/* Scales of N blocks, and mins if these have 20 bytes; those of blocks behind
 * them are 0.  The last scale of blocks of 18 bytes ends with byte 128. */
GB_INLINE void
gb_windows_scales(const struct gb_windows *l, const char *from, int n, qf *d,
                  qf *m)
{
    q64 w[3];

    gb_windows_load(l, from, n, w);
    if (l->bytes == 18)
        *d = q64_eight_halves(q64_pick_words(w[0], w[1], l->heads));
    else
        q64_halves(q64_pick_words96(w[0], w[1], w[2], l->heads), d, m);
}

#endif

#endif
