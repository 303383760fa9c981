/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/interleave.h - weights lane-interleaved for the skinny GEMM, for
 * a format that says how a super-block of 256 values is read.
 */
#ifndef GB_CPU_KERNELS_FORMAT_INTERLEAVE_H
#define GB_CPU_KERNELS_FORMAT_INTERLEAVE_H

#include "backends/cpu/kernels/format/gemv.h"

/* 256 weights, a sub-block of 16 in each lane: see packing.h. */
struct gb_interleaved {
    uint8_t codes[GB_SUPER_BLOCK];
    float scale[16];
    float min[16]; /* what an activation's sum is multiplied with: min or scale */
};

GB_INLINE void
super_block_units(const struct gb_block_reader *b, const void *super_block, int n, q64 *u)
{
    const int width = gb_step_units(b->format);

#pragma GCC unroll 4
    for (int i = 0; i < 4 / width; i++) {
        if (b->units != NULL)
            b->units(super_block, i, n, u + width * i);
        else
            u[i] = q64_join(b->codes(super_block, 2 * i), b->codes(super_block, 2 * i + 1));
    }
}

/* FROM[i] is the factor of lane i. */
GB_INLINE void
interleave_super_block(const struct gb_block_reader *b, const void *super_block, int n,
           const int32_t *from, struct gb_interleaved *to)
{
    const bool has_min = b->format->has_min;
    qf d[2] = { qf_zero(), qf_zero() };
    qf m[2] = { qf_zero(), qf_zero() };
    q64f scale;
    q64 u[4];

    super_block_units(b, super_block, n, u);
    q64_transpose(u);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        q64_store(to->codes + 64 * i, u[i]);
    super_block_scales(b, super_block, n, d, m);
    scale = q64t_pick(q64t_set(d[0], d[1]), from);
    q64f_store(to->scale, scale);
    q64f_store(to->min,
               has_min ? q64t_pick(q64t_set(m[0], m[1]), from) : scale);
}

/* gb_interleave_fn for blocks. */
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

        for (int64_t i = 0; i < k / GB_SUPER_BLOCK; i++, super_block += bytes, to++) {
            for (size_t at = 0; at < bytes; at += 64)
                GB_PREFETCH(super_block + ahead + at);
            interleave_super_block(b, super_block, blocks, from, to);
        }
        if (format->block == 32 && k % GB_SUPER_BLOCK != 0)
            interleave_super_block(b, super_block, (int)(k % GB_SUPER_BLOCK / 32), from, to++);
    }
}

#endif
