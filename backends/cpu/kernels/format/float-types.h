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

GB_INLINE vf
gb_load_f32(const void *p)
{
    return vf_load(p);
}

GB_INLINE vf
gb_load_f32_n(const void *p, int64_t n)
{
    return vf_load_n(p, n);
}

GB_INLINE vf
gb_load_f16(const void *p)
{
    return vf_load_f16(p);
}

GB_INLINE vf
gb_load_f16_n(const void *p, int64_t n)
{
    return vf_load_f16_n(p, n);
}

GB_INLINE vf
gb_load_bf16(const void *p)
{
    return vf_load_bf16(p);
}

GB_INLINE vf
gb_load_bf16_n(const void *p, int64_t n)
{
    return vf_load_bf16_n(p, n);
}

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

static const struct gb_float_type gb_f32 = {
    4, gb_load_f32, gb_load_f32_n, gb_transpose_f32
};
static const struct gb_float_type gb_f16 = {
    2, gb_load_f16, gb_load_f16_n, gb_transpose_f16
};
static const struct gb_float_type gb_bf16 = {
    2, gb_load_bf16, gb_load_bf16_n, gb_transpose_bf16
};

#endif
