/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-unary.h - functions of one tensor: dst, src, gated,
 * inner.
 */
#include "params.h"

/* gated and inner mean nothing where a flag does not say so; inner is F32 without
 * gaps. */
GB_PARAMS(gb_vk_unary_params, 4)
    uint32_t ne[4];
    uint32_t dst_nb[4];
    uint32_t src_nb[4];
    uint32_t gated_nb[4];
    uint32_t n;         /* elements */
    uint32_t function;  /* a number of unary-functions.h */
    uint32_t dst_type;  /* GB_VK_F32 … */
    uint32_t src_type;
    uint32_t gated_type;
    uint32_t flags;     /* GB_VK_UNARY_… */
    float p0, p1;       /* the operation's parameters */
GB_PARAMS_END

#define GB_VK_UNARY_GATES 1u     /* dst is the function times gated */
#define GB_VK_UNARY_HAS_INNER 2u /* and inner gets the function */
