/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/interleave.h - packing of weights for the skinny GEMM:
 * unpacked and lane-interleaved, one sub-block of 16 values in each lane.
 *
 * Four vectors of 64 codes are the whole super-block.  Seen as four by four
 * operands of dot4 (four codes each) in each row of 16 bytes, a transpose of 4
 * x 4 gives
 *
 *     lane        0         1              15
 *     vector 0  | c0..c3  | c0..c3  | ... | c0..c3   |   of one sub-block each
 *     vector 1  | c4..c7  | c4..c7  | ... | c4..c7   |
 *
 * so that the sum of a lane needs one scale.  Which sub-block is in which lane
 * follows from the order in which the format's codes are unpacked
 * (gb_interleaved_sub_block); activations are packed likewise (packing.h).
 */
#ifndef GB_CPU_KERNELS_FORMAT_INTERLEAVE_H
#define GB_CPU_KERNELS_FORMAT_INTERLEAVE_H

#include "backends/cpu/kernels/format/gemv.h"

/* A super-block of weights, packed. */
struct gb_interleaved {
    uint8_t codes[GB_SUPER_BLOCK];
    float scale[16];
    /* Factor of the activations' sum: the min, or without mins the scale, since
     * those sums have minus the bias in them then. */
    float min[16];
};

GB_INLINE void
super_block_codes(const struct gb_block_reader *b, const void *super_block,
                  int n, q64 *u)
{
    const int width = gb_step_units(b->format);

#pragma GCC unroll 4
    for (int i = 0; i < 4 / width; i++) {
        if (b->codes64 != NULL)
            b->codes64(super_block, i, n, u + width * i);
        else
            u[i] = q64_join(b->codes32(super_block, 2 * i),
                            b->codes32(super_block, 2 * i + 1));
    }
}

/* Lane i has the scale and min of sub-block FROM[i]. */
GB_INLINE void
interleave_super_block(const struct gb_block_reader *b, const void *super_block,
                       int n, const int32_t *from, struct gb_interleaved *to)
{
    const bool has_min = b->format->has_min;
    qf d[2] = { qf_zero(), qf_zero() };
    qf m[2] = { qf_zero(), qf_zero() };
    q64f scale;
    q64 u[4];

    super_block_codes(b, super_block, n, u);
    q64_transpose(u);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        q64_store(to->codes + 64 * i, u[i]);
    super_block_scales(b, false, super_block, n, d, m);
    scale = q64t_pick(q64t_set(d[0], d[1]), from);
    q64f_store(to->scale, scale);
    q64f_store(to->min,
               has_min ? q64t_pick(q64t_set(m[0], m[1]), from) : scale);
}

/* gb_interleave_fn made of a struct gb_block_reader. */
GB_INLINE void
gb_block_interleave(const struct gb_block_reader *b, int64_t k, int64_t rows,
                    const void *x, size_t pitch, struct gb_interleaved *to)
{
    const struct gb_format *format = b->format;
    const int blocks = GB_SUPER_BLOCK / format->block;
    const size_t bytes = (size_t)blocks * format->bytes;
    const size_t ahead = (size_t)rows * pitch;
    int32_t from[16];

    for (int i = 0; i < 16; i++)
        from[i] = 16 * gb_interleaved_sub_block(format->order, i) /
                  format->sub_block;
    for (int64_t r = 0; r < rows; r++) {
        const char *super_block = (const char *)x + (size_t)r * pitch;

        for (int64_t i = 0; i < k / GB_SUPER_BLOCK;
             i++, super_block += bytes, to++) {
            for (size_t at = 0; at < bytes; at += 64)
                GB_PREFETCH(super_block + ahead + at);
            interleave_super_block(b, super_block, blocks, from, to);
        }
        if (format->block == 32 && k % GB_SUPER_BLOCK != 0)
            interleave_super_block(b, super_block,
                                   (int)(k % GB_SUPER_BLOCK / 32), from, to++);
    }
}

#endif
