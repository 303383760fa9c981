/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/elementwise/rope.c - rotary position embedding: pairs of elements
 * rotated by an angle of their own.
 *
 *     lo' = lo cos - hi sin
 *     hi' = lo sin + hi cos
 *
 * Cosines and sines of a position are found once and used for all heads.  A
 * pair is either x[j] and x[j + distance] (two vectors at a time), or
 * neighbours: then cosines and sines are stored twice, the sines with
 * alternating signs, so that v c + swapped(v) s does both in place.
 *
 * Source  "RoFormer" (arXiv 2104.09864), section 3.4.
 */
#include "backends/cpu/kernels/api/prototypes.h"
#include "backends/cpu/simd/math.h"
#include "backends/cpu/simd/simd.h"

#include <math.h>

/* Angles can be large: whole turns of the circle are taken off in double, so
 * that what is left is small and exact enough for vf_sin. */
void
GB_K(rope_angles_f32)(int64_t n, float *c, float *s, const double *angle,
                      float m_cos, float m_sin)
{
    const double turn = 6.283185307179586;

    for (int64_t j = 0; j < n; j += VF_LEN) {
        const int len = n - j < VF_LEN ? (int)(n - j) : VF_LEN;
        float reduced[VF_LEN];
        vf r;

        for (int i = 0; i < len; i++)
            reduced[i] =
                (float)(angle[j + i] - turn * rint(angle[j + i] / turn));
        r = vf_load_n(reduced, len);
        vf_store_n(c + j, vf_mul(vf_set1(m_cos), vf_cos(r)), len);
        vf_store_n(s + j, vf_mul(vf_set1(m_sin), vf_sin(r)), len);
    }
}

/* Two vectors with either element of VF_LEN pairs. */
struct rotated {
    vf lo, hi;
};

static inline struct rotated
rotate(vf lo, vf hi, vf c, vf s)
{
    return (struct rotated){
        .lo = vf_fnma(hi, s, vf_mul(lo, c)),
        .hi = vf_fma(lo, s, vf_mul(hi, c)),
    };
}

void
GB_K(rope_halves_f32)(int64_t n, int64_t distance, float *dst, const float *x,
                      const float *c, const float *s)
{
    int64_t j = 0;

    for (; j + VF_LEN <= n; j += VF_LEN) {
        const struct rotated r =
            rotate(vf_load(x + j), vf_load(x + j + distance), vf_load(c + j),
                   vf_load(s + j));

        vf_store(dst + j, r.lo);
        vf_store(dst + j + distance, r.hi);
    }
    if (j < n) {
        const int rest = (int)(n - j);
        const struct rotated r = rotate(
            vf_load_n(x + j, rest), vf_load_n(x + j + distance, rest),
            vf_load_n(c + j, rest), vf_load_n(s + j, rest));

        vf_store_n(dst + j, r.lo, rest);
        vf_store_n(dst + j + distance, r.hi, rest);
    }
}

/* From the back, since it is done in place. */
void
GB_K(rope_spread_f32)(int64_t n, float *c, float *s)
{
    for (int64_t j = n - 1; j >= 0; j--) {
        const float cosine = c[j];
        const float sine = s[j];

        c[2 * j] = cosine;
        c[2 * j + 1] = cosine;
        s[2 * j] = -sine;
        s[2 * j + 1] = sine;
    }
}

static inline vf
rotate_pairs(vf v, vf c, vf s)
{
    return vf_fma(vf_swap_pairs(v), s, vf_mul(v, c));
}

void
GB_K(rope_pairs_f32)(int64_t n, float *dst, const float *x, const float *c,
                     const float *s)
{
    int64_t i = 0;

    for (; i + VF_LEN <= 2 * n; i += VF_LEN)
        vf_store(dst + i, rotate_pairs(vf_load(x + i), vf_load(c + i),
                                       vf_load(s + i)));
    if (i < 2 * n) {
        const int rest = (int)(2 * n - i);

        vf_store_n(dst + i,
                   rotate_pairs(vf_load_n(x + i, rest), vf_load_n(c + i, rest),
                                vf_load_n(s + i, rest)),
                   rest);
    }
}
