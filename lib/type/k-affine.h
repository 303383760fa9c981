/* SPDX-License-Identifier: MIT */
/*
 * type/k-affine.h - what q2_K, q4_K and q5_K have in common: sub-blocks with a
 * scale and a minimum, both small multiples of two halves.
 */
#ifndef GB_TYPE_K_AFFINE_H
#define GB_TYPE_K_AFFINE_H

#include "lib/type/blocks.h"
#include "lib/type/search.h"

/* Values in sub-block b are d * scales[b] * code - dmin * mins[b]. */
struct gb_k_affine {
    uint16_t d;    /* half */
    uint16_t dmin; /* half */
    uint8_t scales[16];
    uint8_t mins[16];
    uint8_t codes[GB_QK_K];
};

struct gb_k_affine_format {
    int n_subs;       /* sub-blocks: 8 or 16 */
    int top;          /* the largest code */
    int scale_top;    /* the largest scale and min */
    float energy;     /* how many times the mean square joins the weights */
    bool plain_by_rms; /* without importance w is |x| + rms(x), else |x| */
    struct gb_steps plain; /* candidates without importance */
};

/* The 256 values X, with 256 weights or NULL, as OUT. */
void gb_k_affine_quantize(const struct gb_k_affine_format *format,
                          const float *x, const float *importance,
                          struct gb_k_affine *out);

#endif
