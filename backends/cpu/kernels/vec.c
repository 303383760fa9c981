/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/vec.c - products of contiguous float rows.
 */
#include "backends/cpu/isa/level.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/simd/simd.h"

float
GB_K(dot_f32)(int64_t n, const float *a, const float *b)
{
    /* Four sums in flight hide the latency of the fused multiply-add. */
    vf s0 = vf_zero();
    vf s1 = vf_zero();
    vf s2 = vf_zero();
    vf s3 = vf_zero();
    int64_t i = 0;

    for (; i + 4 * VF_LEN <= n; i += 4 * VF_LEN) {
        s0 = vf_fma(vf_load(a + i), vf_load(b + i), s0);
        s1 = vf_fma(vf_load(a + i + VF_LEN), vf_load(b + i + VF_LEN), s1);
        s2 = vf_fma(
            vf_load(a + i + 2 * VF_LEN), vf_load(b + i + 2 * VF_LEN), s2);
        s3 = vf_fma(
            vf_load(a + i + 3 * VF_LEN), vf_load(b + i + 3 * VF_LEN), s3);
    }
    for (; i + VF_LEN <= n; i += VF_LEN)
        s0 = vf_fma(vf_load(a + i), vf_load(b + i), s0);
    if (i < n)
        s1 = vf_fma(vf_load_n(a + i, n - i), vf_load_n(b + i, n - i), s1);
    return vf_sum(vf_add(vf_add(s0, s1), vf_add(s2, s3)));
}
