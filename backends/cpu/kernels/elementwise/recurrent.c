/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/elementwise/recurrent.c - one token's step of the sequence
 * operations: state-space models and linear attention.
 *
 * Each keeps a state that a token decays and adds to, along one row of it:
 *
 *   ssm   state = exp(step a) state + b input; y = sum(state c)
 *   wkv6  out += r (first k v + state);        state = decay state + k v
 *   gla   state = gate state + k v;            out += q state
 *
 * The recurrence is over tokens, so that vectors go along the state.
 *
 * Source  "Mamba" (arXiv 2312.00752), algorithm 2; "Eagle and Finch" (arXiv
 * 2404.05892), section 4; "Gated Linear Attention" (arXiv 2312.06635).
 */
#include "backends/cpu/kernels/api/prototypes.h"
#include "backends/cpu/simd/math.h"
#include "backends/cpu/simd/simd.h"

/* A convolution of K taps, row by row.  K is 4 in every known model: too short
 * for vectors along it. */
void
GB_K(ssm_conv_f32)(int64_t k, int64_t rows, float *dst, const float *x,
                   int64_t x_row, const float *w)
{
    for (int64_t r = 0; r < rows; r++) {
        float sum = 0.0f;

        for (int64_t t = 0; t < k; t++)
            sum += x[r * x_row + t] * w[r * k + t];
        dst[r] = sum;
    }
}

float
GB_K(ssm_step_f32)(int64_t n, float *state, const float *a, const float *b,
                   const float *c, float step, float input)
{
    const vf vstep = vf_set1(step);
    const vf vinput = vf_set1(input);
    vf sum = vf_zero();

    for (int64_t i = 0; i < n; i += VF_LEN) {
        const int len = n - i < VF_LEN ? (int)(n - i) : VF_LEN;
        const vf decay = vf_exp(vf_mul(vstep, vf_load_n(a + i, len)));
        const vf next = vf_fma(vf_load_n(b + i, len), vinput,
                               vf_mul(vf_load_n(state + i, len), decay));

        vf_store_n(state + i, next, len);
        sum = vf_fma(next, vf_load_n(c + i, len), sum);
    }
    return vf_sum(sum);
}

/* The token itself counts with FIRST (the "bonus") instead of its decay. */
void
GB_K(wkv6_step_f32)(int64_t n, float *out, float *state, const float *v,
                    float k, float r, float first, float decay)
{
    const vf vk = vf_set1(k);
    const vf vr = vf_set1(r);
    const vf vfirst = vf_set1(first);
    const vf vdecay = vf_set1(decay);

    for (int64_t j = 0; j < n; j += VF_LEN) {
        const int len = n - j < VF_LEN ? (int)(n - j) : VF_LEN;
        const vf kv = vf_mul(vk, vf_load_n(v + j, len));
        const vf st = vf_load_n(state + j, len);
        const vf seen = vf_fma(vfirst, kv, st);

        vf_store_n(out + j, vf_fma(vr, seen, vf_load_n(out + j, len)), len);
        vf_store_n(state + j, vf_fma(vdecay, st, kv), len);
    }
}

void
GB_K(gla_step_f32)(int64_t n, float *out, float *state, const float *v,
                   float k, float q, float gate)
{
    const vf vk = vf_set1(k);
    const vf vq = vf_set1(q);
    const vf vgate = vf_set1(gate);

    for (int64_t j = 0; j < n; j += VF_LEN) {
        const int len = n - j < VF_LEN ? (int)(n - j) : VF_LEN;
        const vf kv = vf_mul(vk, vf_load_n(v + j, len));
        const vf st = vf_fma(vgate, vf_load_n(state + j, len), kv);

        vf_store_n(state + j, st, len);
        vf_store_n(out + j, vf_fma(vq, st, vf_load_n(out + j, len)), len);
    }
}
