/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-joincounts.h - the sum of counts: dst, I64, and parts.
 */
#include "params.h"

GB_PARAMS(gb_vk_join_counts_params, 2)
    uint32_t n_parts;
GB_PARAMS_END
