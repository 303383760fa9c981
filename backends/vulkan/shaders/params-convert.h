/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-convert.h - the values of src as those of dst, both in
 * row-major order.
 */
#include "params.h"

GB_PARAMS(gb_vk_convert_params, 2)
    uint32_t dst_ne[4];
    uint32_t dst_nb[4];
    uint32_t src_ne[4];
    uint32_t src_nb[4];
    uint32_t n;        /* values, or pairs of them, of dst */
    uint32_t values;   /* 2 where dst has words of two values, or 1 */
    uint32_t dst_type; /* GB_VK_F32 … */
    uint32_t src_type;
GB_PARAMS_END
