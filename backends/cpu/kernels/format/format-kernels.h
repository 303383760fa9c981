/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/format-kernels.h - the kernels of a quantised format, made
 * from its descriptor (struct gb_format NAME_format) and from how its blocks
 * are read (struct gb_block_reader NAME).
 *
 *   GB_FORMAT_KERNELS(name)       all kernels and the table: a format's end
 *   GB_FORMAT_GEMM_KERNELS(name)  unpacking into GEMM panels, conversion to
 *                                 floats
 *   GB_FORMAT_TABLE(name)         NAME_kernels, the struct gb_format_kernels of
 *                                 those, GEMV and interleaving (skinny GEMM)
 *
 * The reader is a constant, so that its functions are inlined into each kernel.
 * A format with a GEMV of its own uses the last two macros (codebook.h).
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

#define GB_FORMAT_GEMM_KERNELS(name)                                      \
    static void read_##name(const void *blocks, int n, uint8_t *codes,    \
                            float *d, float *m)                           \
    {                                                                     \
        gb_block_read(&(name), blocks, n, codes, d, m);                   \
    }                                                                     \
                                                                          \
    static void unpack_##name(int64_t k, int64_t rows, const void *x,     \
                              size_t pitch, const struct gb_panel *panel) \
    {                                                                     \
        GB_K_OF(BYTES, unpack_blocks)                                     \
        (&name##_format, read_##name, k, rows, x, pitch, panel);          \
    }                                                                     \
                                                                          \
    static void floats_##name(int64_t n, float *dst, const void *x)       \
    {                                                                     \
        GB_K_OF(BYTES, floats_of_blocks)                                  \
        (&name##_format, read_##name, n, dst, x);                         \
    }

#define GB_FORMAT_TABLE(name)                                   \
    extern const struct gb_format_kernels GB_K(name##_kernels); \
                                                                \
    const struct gb_format_kernels GB_K(name##_kernels) = {     \
        .format = &name##_format,                               \
        .gemv = gemv_##name,                                    \
        .unpack = unpack_##name,                                \
        .floats = floats_##name,                                \
        .interleave = interleave_##name,                        \
    };

#endif
