/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/format-kernels.h - the kernels of a type of blocks, made from
 * the struct gb_block_reader NAME, which says how a block is read.
 *
 * GB_FORMAT_KERNELS(name) ends a format's file: it defines NAME_kernels with the
 * GEMV, the unpacking for GEMM, the floats and the interleaving for the skinny
 * GEMM, each inlined with the reader's functions as constants.
 * GB_FORMAT_GEMM_KERNELS(name) makes the second and third alone, for formats with
 * a GEMV of their own.
 */
#ifndef GB_CPU_KERNELS_FORMAT_FORMAT_KERNELS_H
#define GB_CPU_KERNELS_FORMAT_FORMAT_KERNELS_H

#include "backends/cpu/kernels/format/formats.h"
#include "backends/cpu/kernels/format/interleave.h"

#define GB_FORMAT_KERNELS(name)                                                \
    GB_FORMAT_GEMM_KERNELS(name)                                               \
                                                                               \
    static void gemv_##name(int64_t k, int64_t rows, const void *x,            \
                            size_t pitch, const void *column, float *dst)      \
    {                                                                          \
        gb_block_gemv(&(name), k, rows, x, pitch, column, dst);                \
    }                                                                          \
                                                                               \
    static void interleave_##name(int64_t k, int64_t rows, const void *x,      \
                                  size_t pitch, struct gb_interleaved *to)     \
    {                                                                          \
        gb_block_interleave(&(name), k, rows, x, pitch, to);                   \
    }                                                                          \
                                                                               \
    GB_FORMAT_TABLE(name)

#define GB_FORMAT_GEMM_KERNELS(name)                                           \
    static void read_##name(const void *blocks, int n, uint8_t *codes,         \
                            float *d, float *m)                                \
    {                                                                          \
        gb_block_read(&(name), blocks, n, codes, d, m);                        \
    }                                                                          \
                                                                               \
    static void unpack_##name(int64_t k, int64_t rows, const void *x,          \
                              size_t pitch, const struct gb_panel *panel)      \
    {                                                                          \
        GB_K_OF(BYTES, unpack_blocks)(                                         \
            &name##_format, read_##name, k, rows, x, pitch, panel);            \
    }                                                                          \
                                                                               \
    static void floats_##name(int64_t n, float *dst, const void *x)            \
    {                                                                          \
        GB_K_OF(BYTES, floats_of_blocks)(                                      \
            &name##_format, read_##name, n, dst, x);                           \
    }

#define GB_FORMAT_TABLE(name)                                                  \
    extern const struct gb_format_kernels GB_K(name##_kernels);                \
                                                                               \
    const struct gb_format_kernels GB_K(name##_kernels) = {                    \
        .format = &name##_format,                                              \
        .gemv = gemv_##name,                                                   \
        .unpack = unpack_##name,                                               \
        .floats = floats_##name,                                               \
        .interleave = interleave_##name,                                       \
    };

#endif
