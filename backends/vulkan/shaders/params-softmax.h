/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-softmax.h - softmax of rows: dst, src, mask, scaled,
 * masked.
 */
#include "params.h"

/* Rows of N elements, F32 and dense; counts and strides of dimensions 1 to 3.
 * Operands behind src mean nothing where a flag does not say so; rows of scaled
 * and masked follow each other without gaps. */
GB_PARAMS(gb_vk_softmax_params, 5)
    uint32_t ne[3];
    uint32_t dst_nb[3];
    uint32_t src_nb[3];
    uint32_t mask_nb[3];
    uint32_t mask_type; /* GB_VK_F32 … */
    uint32_t flags;     /* GB_VK_SOFT_MAX_… */
    uint32_t n;
    uint32_t n_rows;
    uint32_t power;     /* of two, the largest up to the number of heads */
    float scale;
    float max_bias;
    float factor;
    uint32_t n_past;
    uint32_t value;     /* what is right of the diagonal, as bits */
GB_PARAMS_END

#define GB_VK_SOFT_MAX_HAS_MASK 1u /* mask times a slope is added to scores */
/* Before that, in this order: */
#define GB_VK_SOFT_MAX_FACTOR 2u   /* elements are multiplied by factor */
#define GB_VK_SOFT_MAX_SCALED 4u   /* scaled gets that */
#define GB_VK_SOFT_MAX_ADDS 8u     /* mask is added, F32 */
#define GB_VK_SOFT_MAX_DIAGONAL 16u /* n_past and more right of the diagonal is
                                       value */
#define GB_VK_SOFT_MAX_MASKED 32u  /* masked gets that */
