/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-attentionjoin.h - results of parts of the keys joined: dst,
 * parts, as params-attention.h says.
 */
#include "params.h"

GB_PARAMS(gb_vk_attention_join_params, 2)
    uint32_t d;
    uint32_t n_rows;
    uint32_t n_parts;
GB_PARAMS_END
