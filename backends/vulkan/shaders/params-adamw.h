/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-adamw.h - a step of AdamW: weights, gradient, both
 * moments, parameters.
 */
#include "params.h"

/* The parameters are alpha beta1 beta2 eps wd beta1h beta2h. */
GB_PARAMS(gb_vk_adamw_params, 5)
    uint32_t ne[4];
    uint32_t weights_nb[4];
    uint32_t gradient_nb[4];
    uint32_t first_nb[4];
    uint32_t second_nb[4];
    uint32_t n; /* elements */
GB_PARAMS_END
