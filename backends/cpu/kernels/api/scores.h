/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/api/scores.h - one row that a softmax is taken of.
 */
#ifndef GB_CPU_KERNELS_API_SCORES_H
#define GB_CPU_KERNELS_API_SCORES_H

#include "ggml.h"

/* Score i is scale * x[i] + slope * mask[i]. */
struct gb_scores {
    const float *x;
    const void *mask; /* F32 or F16, or NULL for none */
    enum ggml_type mask_type;
    float scale;
    float slope;
};

#endif
