/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/block-weight.h - the kernels of a type of blocks.
 *
 * GB_BLOCK_WEIGHT(name) has all that struct gb_weight asks for, from the struct
 * gb_blocks NAME, which says how a block is read; GB_BLOCK_MANY(name) all but
 * products with one column or a few.
 */
#ifndef GB_CPU_KERNELS_BLOCK_WEIGHT_H
#define GB_CPU_KERNELS_BLOCK_WEIGHT_H

#include "backends/cpu/kernels/turned.h"
#include "backends/cpu/kernels/weights.h"

#define GB_BLOCK_WEIGHT(name)                                                  \
    GB_BLOCK_MANY(name)                                                        \
                                                                               \
    void GB_K(dots_##name)(int64_t k, int64_t rows, const void *x,             \
                           size_t pitch, const void *column, float *dst)       \
    {                                                                          \
        gb_block_dots(&(name), k, rows, x, pitch, column, dst);                \
    }                                                                          \
                                                                               \
    void GB_K(turn_##name)(int64_t k, int64_t rows, const void *x,             \
                           size_t pitch, struct gb_codes *to)                  \
    {                                                                          \
        gb_block_turn(&(name), k, rows, x, pitch, to);                         \
    }

#define GB_BLOCK_MANY(name)                                                    \
    static void read_##name(const void *blocks, int n, uint8_t *codes,         \
                            float *d, float *m)                                \
    {                                                                          \
        gb_block_read(&(name), blocks, n, codes, d, m);                        \
    }                                                                          \
                                                                               \
    void GB_K(unpack_##name)(int64_t k, int64_t rows, const void *x,           \
                             size_t pitch, const struct gb_panel *panel)       \
    {                                                                          \
        GB_K_OF(BYTES, unpack_blocks)(                                         \
            (name).layout, read_##name, k, rows, x, pitch, panel);             \
    }                                                                          \
                                                                               \
    void GB_K(floats_##name)(int64_t n, float *dst, const void *x)             \
    {                                                                          \
        GB_K_OF(BYTES, floats_of_blocks)(                                      \
            (name).layout, read_##name, n, dst, x);                            \
    }

#endif
