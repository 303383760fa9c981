/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/elementwise/map.h - a function of vectors, applied along rows.
 *
 * The loops of all element by element kernels: whole vectors, then the tail by
 * loads and stores of some lanes, so that no byte behind a row is touched.
 *
 * The function is a constant where map_1 and so on are called, and is inlined
 * into the loop; without the attribute GCC leaves some of them as calls.  Two
 * operands that are the same for all elements (p, q) are spread over vectors
 * once.
 */
#ifndef GB_CPU_KERNELS_ELEMENTWISE_MAP_H
#define GB_CPU_KERNELS_ELEMENTWISE_MAP_H

#include "backends/cpu/simd/simd.h"

#include <stdint.h>

#define GB_MAP static inline __attribute__((always_inline))

/* dst = f(x) */
GB_MAP void
map_1(int64_t n, float *dst, const float *x, vf (*f)(vf x))
{
    int64_t i = 0;

    for (; i + VF_LEN <= n; i += VF_LEN)
        vf_store(dst + i, f(vf_load(x + i)));
    if (i < n) {
        const int rest = (int)(n - i);

        vf_store_n(dst + i, f(vf_load_n(x + i, rest)), rest);
    }
}

/* dst = f(x, p, q) with the same p and q for all */
GB_MAP void
map_1_with(int64_t n, float *dst, const float *x, float p, float q,
           vf (*f)(vf x, vf p, vf q))
{
    const vf vp = vf_set1(p);
    const vf vq = vf_set1(q);
    int64_t i = 0;

    for (; i + VF_LEN <= n; i += VF_LEN)
        vf_store(dst + i, f(vf_load(x + i), vp, vq));
    if (i < n) {
        const int rest = (int)(n - i);

        vf_store_n(dst + i, f(vf_load_n(x + i, rest), vp, vq), rest);
    }
}

/* dst = f(a, b) */
GB_MAP void
map_2(int64_t n, float *dst, const float *a, const float *b,
      vf (*f)(vf a, vf b))
{
    int64_t i = 0;

    for (; i + VF_LEN <= n; i += VF_LEN)
        vf_store(dst + i, f(vf_load(a + i), vf_load(b + i)));
    if (i < n) {
        const int rest = (int)(n - i);

        vf_store_n(dst + i, f(vf_load_n(a + i, rest), vf_load_n(b + i, rest)),
                   rest);
    }
}

/* dst = f(a, b, p, q) with the same p and q for all */
GB_MAP void
map_2_with(int64_t n, float *dst, const float *a, const float *b, float p,
           float q, vf (*f)(vf a, vf b, vf p, vf q))
{
    const vf vp = vf_set1(p);
    const vf vq = vf_set1(q);
    int64_t i = 0;

    for (; i + VF_LEN <= n; i += VF_LEN)
        vf_store(dst + i, f(vf_load(a + i), vf_load(b + i), vp, vq));
    if (i < n) {
        const int rest = (int)(n - i);

        vf_store_n(dst + i,
                   f(vf_load_n(a + i, rest), vf_load_n(b + i, rest), vp, vq),
                   rest);
    }
}

#endif
