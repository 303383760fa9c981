/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-diag.h - dst[i, j] = i == j ? src[i] : 0 in each
 * matrix, F32.
 */
#include "params.h"

GB_PARAMS(gb_vk_diag_params, 2)
    uint32_t ne[4]; /* of dst */
    uint32_t dst_nb[4];
    uint32_t src_nb[4];
    uint32_t n;     /* elements of dst */
GB_PARAMS_END
