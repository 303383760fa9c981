/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/float-types.h - how rows of floats (F32, F16, BF16) are
 * read: loads that convert to F32, and a transpose with conversion.
 */
#ifndef GB_CPU_KERNELS_FORMAT_FLOAT_TYPES_H
#define GB_CPU_KERNELS_FORMAT_FLOAT_TYPES_H

#include "backends/cpu/kernels/gemm/panel.h"

struct gb_float_type {
    size_t bytes;                           /* of a value */
    vf (*load)(const void *p);              /* VF_LEN values */
    vf (*load_n)(const void *p, int64_t n); /* N of them, the rest 0 */
    /* GB_TRANSPOSED values of each of VF_LEN rows, PITCH bytes apart; NULL
     * where the instruction set has none that is fast. */
    void (*transpose)(float *dst, const void *src, int64_t pitch);
};

/* A whole cache line of half floats: with rows a power of two apart, lines
 * would be evicted before the rest of them is read (cache-set conflicts). */
#define GB_TRANSPOSED (2 * VF_LEN)

GB_INLINE void
gb_transpose_f32(float *dst, const void *src, int64_t pitch)
{
    vq_transpose(dst, src, pitch);
    vq_transpose(dst + VF_LEN * VF_LEN, (const float *)src + VF_LEN, pitch);
}

#if VQ_TRANSPOSES_HALVES
#define gb_transpose_f16  vq_transpose_f16
#define gb_transpose_bf16 vq_transpose_bf16
#else
#define gb_transpose_f16  NULL
#define gb_transpose_bf16 NULL
#endif

/* Defines struct gb_float_type gb_NAME.  The loads are wrapped, so that they
 * take any pointer and are always inlined. */
#define GB_FLOAT_TYPE(name, size, vf_load_name, vf_load_name_n) \
    GB_INLINE vf gb_load_##name(const void *p)                  \
    {                                                           \
        return vf_load_name(p);                                 \
    }                                                           \
                                                                \
    GB_INLINE vf gb_load_##name##_n(const void *p, int64_t n)   \
    {                                                           \
        return vf_load_name_n(p, n);                            \
    }                                                           \
                                                                \
    static const struct gb_float_type gb_##name = {             \
        .bytes = size,                                          \
        .load = gb_load_##name,                                 \
        .load_n = gb_load_##name##_n,                           \
        .transpose = gb_transpose_##name,                       \
    };

GB_FLOAT_TYPE(f32, 4, vf_load, vf_load_n)
GB_FLOAT_TYPE(f16, 2, vf_load_f16, vf_load_f16_n)
GB_FLOAT_TYPE(bf16, 2, vf_load_bf16, vf_load_bf16_n)

#endif
