/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/float-types.h - how rows of f32, f16 and bf16 are read.
 */
#ifndef GB_CPU_KERNELS_FORMAT_FLOAT_TYPES_H
#define GB_CPU_KERNELS_FORMAT_FLOAT_TYPES_H

#include "backends/cpu/kernels/gemm/panel.h"

/* How values are read: VF_LEN of them, or the first n; BYTES is one's size.
 * TRANSPOSE, NULL where there is none, reads GB_TRANSPOSED values of VF_LEN rows and
 * transposes them. */
struct gb_float_type {
    size_t bytes;
    vf (*load)(const void *p);
    vf (*load_n)(const void *p, int64_t n);
    void (*transpose)(float *dst, const void *src, int64_t pitch);
};

/* Cache lines of half floats are read as a whole, since rows a power of two
 * apart share the cache's places. */
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
