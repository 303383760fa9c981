/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-arange.h - dst[i] = start + step * i, F32.
 */
#include "params.h"

GB_PARAMS(gb_vk_arange_params, 1)
    uint32_t n;
    float start, step;
GB_PARAMS_END
