/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-norm.h - norms: dst, src0, src1; but for the gradient
 * also weights, bias, sums, normed, scaled.
 */
#include "params.h"

/*
 * Rows of N elements, F32 and dense; counts and strides of dimensions 1 to 3.
 * src1 is what the flags say, or for the gradient x.  Rows of sums, normed and
 * scaled, which are written where a flag says so, follow each other without
 * gaps.
 */
GB_PARAMS(gb_vk_norm_params, 8)
    uint32_t ne[3];
    uint32_t dst_nb[3];
    uint32_t src0_nb[3];
    uint32_t src1_nb[3];    /* of numbers of rows: the first, and how many rows
                               there are */
    uint32_t weights_nb[3];
    uint32_t bias_nb[3];
    uint32_t n;
    uint32_t n_rows;
    float eps;
    uint32_t flags;         /* GB_VK_NORM_… */
GB_PARAMS_END

#define GB_VK_NORM_ADDS 1u       /* rows of src1 are added before */
#define GB_VK_NORM_GETS 2u       /* src1 has the numbers of src0's rows */
#define GB_VK_NORM_WEIGHS 4u     /* the result is multiplied by weights */
#define GB_VK_NORM_HAS_BIAS 8u   /* and bias added to that */
#define GB_VK_NORM_SUMS 16u      /* sums gets what is brought to the norm */
#define GB_VK_NORM_NORMED 32u    /* normed gets what weights multiply */
#define GB_VK_NORM_SCALED 64u    /* scaled gets what bias is added to */
