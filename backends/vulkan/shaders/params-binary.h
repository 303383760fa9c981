/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-binary.h - functions of two tensors, the second one
 * being repeated along its shorter dimensions: dst, a, b.
 */
#ifndef GB_VULKAN_SHADERS_PARAMS_BINARY_H
#define GB_VULKAN_SHADERS_PARAMS_BINARY_H

#include "params.h"

#define GB_VK_ADD       0u /* a + b */
#define GB_VK_SUB       1u /* a - b */
#define GB_VK_MUL       2u /* a * b */
#define GB_VK_DIV       3u /* a / b */
#define GB_VK_SILU_BACK 4u /* a times the derivative of b / (1 + e^-b) */

#define GB_VK_ALIKE    1 /* b has the shape of a */
#define GB_VK_REPEATED 2 /* b is repeated as a whole */

GB_PARAMS(gb_vk_binary_params, 3)
    uint32_t ne[4];    /* of dst and a */
    uint32_t dst_nb[4];
    uint32_t a_nb[4];
    uint32_t b_ne[4];
    uint32_t b_nb[4];
    uint32_t n;        /* elements of dst */
    uint32_t n_b;      /* of b, where all are contiguous F32 and b is repeated
                        * as a whole; otherwise 0 */
    uint32_t function; /* GB_VK_ADD … */
    uint32_t types;    /* GB_VK_F32 … of dst, a and b, four bits each */
GB_PARAMS_END

#endif
