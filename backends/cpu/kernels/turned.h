/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/turned.h - turned groups of weights, for a type that says how a
 * group of 256 values is read.
 */
#ifndef GB_CPU_KERNELS_TURNED_H
#define GB_CPU_KERNELS_TURNED_H

#include "backends/cpu/kernels/few.h"

/* 256 weights, a chunk of 16 in each lane: see struct gb_group. */
struct gb_codes {
    uint8_t codes[GB_GROUP];
    float scale[16];
    float side[16]; /* what an activation's side is multiplied with */
};

GB_INLINE void
units_of_group(const struct gb_blocks *b, const void *group, int n, q64 *u)
{
    const int width = gb_step_units(b->layout);

#pragma GCC unroll 4
    for (int i = 0; i < 4 / width; i++) {
        if (b->units != NULL)
            b->units(group, i, n, u + width * i);
        else
            u[i] = q64_join(b->codes(group, 2 * i), b->codes(group, 2 * i + 1));
    }
}

/* FROM[i] is the factor of lane i. */
GB_INLINE void
turn_group(const struct gb_blocks *b, const void *group, int n,
           const int32_t *from, struct gb_codes *to)
{
    const bool has_min = b->layout->has_min;
    qf d[2] = { qf_zero(), qf_zero() };
    qf m[2] = { qf_zero(), qf_zero() };
    q64f scale;
    q64 u[4];

    units_of_group(b, group, n, u);
    q64_turn(u);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        q64_store(to->codes + 64 * i, u[i]);
    scales_of_group(b, group, n, d, m);
    scale = q64t_pick(q64t_set(d[0], d[1]), from);
    q64f_store(to->scale, scale);
    q64f_store(to->side,
               has_min ? q64t_pick(q64t_set(m[0], m[1]), from) : scale);
}

/* gb_turn_fn for blocks. */
GB_INLINE void
gb_block_turn(const struct gb_blocks *b, int64_t k, int64_t rows,
              const void *x, size_t pitch, struct gb_codes *to)
{
    const struct gb_layout *layout = b->layout;
    const int blocks = GB_GROUP / layout->values;
    const size_t bytes = (size_t)blocks * layout->bytes;
    const size_t ahead = (size_t)rows * pitch;
    int32_t from[16];

    for (int i = 0; i < 16; i++)
        from[i] = 16 * gb_turned_chunk(layout->order, i) /
                  layout->piece;
    for (int64_t r = 0; r < rows; r++) {
        const char *group = (const char *)x + (size_t)r * pitch;

        for (int64_t i = 0; i < k / GB_GROUP; i++, group += bytes, to++) {
            for (size_t at = 0; at < bytes; at += 64)
                GB_PREFETCH(group + ahead + at);
            turn_group(b, group, blocks, from, to);
        }
        if (layout->values == 32 && k % GB_GROUP != 0)
            turn_group(b, group, (int)(k % GB_GROUP / 32), from, to++);
    }
}

#endif
