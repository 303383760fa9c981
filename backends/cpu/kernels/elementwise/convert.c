/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/elementwise/convert.c - rows of 16-bit floats from and to F32.
 *
 * F16 is IEEE binary16, BF16 the upper half of an F32.  To F32 both are exact;
 * back they are rounded to the nearest, ties to even, and a NaN stays one.
 */
#include "backends/cpu/kernels/api/prototypes.h"
#include "backends/cpu/simd/simd.h"

void
GB_K(f16_to_f32)(int64_t n, float *dst, const uint16_t *src)
{
    int64_t i = 0;

    for (; i + VF_LEN <= n; i += VF_LEN)
        vf_store(dst + i, vf_load_f16(src + i));
    if (i < n) {
        const int rest = (int)(n - i);

        vf_store_n(dst + i, vf_load_f16_n(src + i, rest), rest);
    }
}

void
GB_K(f32_to_f16)(int64_t n, uint16_t *dst, const float *src)
{
    int64_t i = 0;

    for (; i + VF_LEN <= n; i += VF_LEN)
        vf_store_f16(dst + i, vf_load(src + i));
    if (i < n) {
        const int rest = (int)(n - i);

        vf_store_f16_n(dst + i, vf_load_n(src + i, rest), rest);
    }
}

void
GB_K(bf16_to_f32)(int64_t n, float *dst, const uint16_t *src)
{
    int64_t i = 0;

    for (; i + VF_LEN <= n; i += VF_LEN)
        vf_store(dst + i, vf_load_bf16(src + i));
    if (i < n) {
        const int rest = (int)(n - i);

        vf_store_n(dst + i, vf_load_bf16_n(src + i, rest), rest);
    }
}

void
GB_K(f32_to_bf16)(int64_t n, uint16_t *dst, const float *src)
{
    int64_t i = 0;

    for (; i + VF_LEN <= n; i += VF_LEN)
        vf_store_bf16(dst + i, vf_load(src + i));
    if (i < n) {
        const int rest = (int)(n - i);

        vf_store_bf16_n(dst + i, vf_load_n(src + i, rest), rest);
    }
}
