/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-norm.h - norms: dst, src0; for the gradient src1 too.
 */
#include "params.h"

/* Rows of N elements, F32 and dense; counts and strides of dimensions 1 to
 * 3. */
GB_PARAMS(gb_vk_norm_params, 3)
    uint32_t ne[3];
    uint32_t dst_nb[3];
    uint32_t src0_nb[3];
    uint32_t src1_nb[3];
    uint32_t n;
    uint32_t n_rows;
    float eps;
GB_PARAMS_END
