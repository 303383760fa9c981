/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-unary.h - functions of one tensor: dst, src.
 */
#include "params.h"

GB_PARAMS(gb_vk_unary_params, 2)
    uint32_t ne[4];
    uint32_t dst_nb[4];
    uint32_t src_nb[4];
    uint32_t n;         /* elements */
    uint32_t function;  /* a number of unary-functions.h */
    uint32_t dst_type;  /* GB_VK_F32 … */
    uint32_t src_type;
    float p0, p1;       /* the operation's parameters */
GB_PARAMS_END
