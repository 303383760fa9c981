/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-softmax.h - softmax of rows: dst, src, mask.
 */
#include "params.h"

/* Rows of N elements, F32 and dense; counts and strides of dimensions 1 to
 * 3. */
GB_PARAMS(gb_vk_softmax_params, 3)
    uint32_t ne[3];
    uint32_t dst_nb[3];
    uint32_t src_nb[3];
    uint32_t mask_nb;   /* of dimension 1: rows are those of a matrix */
    uint32_t mask_type; /* GB_VK_F32 … */
    uint32_t has_mask;  /* or else the third operand means nothing */
    uint32_t n;
    uint32_t n_rows;
    uint32_t power;     /* of two, the largest up to the number of heads */
    float scale;
    float max_bias;
GB_PARAMS_END
