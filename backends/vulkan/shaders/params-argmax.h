/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-argmax.h - places of the largest elements: dst, src.
 */
#include "params.h"

/* dst[row] = the place of the largest element of src[:, row]. */
GB_PARAMS(gb_vk_argmax_params, 2)
    uint32_t n;
    uint32_t n_rows;
    uint32_t dst_nb;
    uint32_t src_nb[2];
    uint32_t src_type; /* GB_VK_F32 … */
GB_PARAMS_END
