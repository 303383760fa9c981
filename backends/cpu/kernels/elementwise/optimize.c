/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/elementwise/optimize.c - one step of the optimiser AdamW along a
 * row.
 *
 * With gradient g, moments m and v, and beta1h = 1 / (1 - beta1^t), beta2h
 * likewise:
 *
 *     m = beta1 m + (1 - beta1) g
 *     v = beta2 v + (1 - beta2) g^2
 *     w = (1 - alpha wd) w - alpha m beta1h / (sqrt(v beta2h) + eps)
 *
 * Three rows are read and written and one is read, so that memory is the limit.
 *
 * Source  "Decoupled Weight Decay Regularization" (arXiv 1711.05101), algorithm
 * 2, with the corrections of the bias given as factors.
 */
#include "backends/cpu/kernels/api/prototypes.h"
#include "backends/cpu/simd/simd.h"

void
GB_K(adamw_f32)(int64_t n, float *w, float *m, float *v, const float *grad,
                const float *p)
{
    const vf alpha = vf_set1(p[0]);
    const vf beta1 = vf_set1(p[1]);
    const vf beta2 = vf_set1(p[2]);
    const vf eps = vf_set1(p[3]);
    const vf keep = vf_set1(1.0f - p[0] * p[4]);
    const vf beta1h = vf_set1(p[5]);
    const vf beta2h = vf_set1(p[6]);
    const vf new1 = vf_set1(1.0f - p[1]);
    const vf new2 = vf_set1(1.0f - p[2]);

    for (int64_t i = 0; i < n; i += VF_LEN) {
        const int len = n - i < VF_LEN ? (int)(n - i) : VF_LEN;
        const vf g = vf_load_n(grad + i, len);
        const vf vm = vf_fma(vf_load_n(m + i, len), beta1, vf_mul(g, new1));
        const vf vv = vf_fma(vf_load_n(v + i, len), beta2,
                             vf_mul(vf_mul(g, g), new2));
        const vf mh = vf_mul(vm, beta1h);
        const vf vh = vf_add(vf_sqrt(vf_mul(vv, beta2h)), eps);
        const vf step = vf_mul(alpha, vf_div(mh, vh));

        vf_store_n(m + i, vm, len);
        vf_store_n(v + i, vv, len);
        vf_store_n(w + i, vf_sub(vf_mul(vf_load_n(w + i, len), keep), step),
                   len);
    }
}
