/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-join.h - sums of parts of products: dst, parts, which are
 * one behind the other, without gaps, and what is added to the sums.
 */
#include "params.h"

GB_PARAMS(gb_vk_join_params, 3)
    uint32_t ne[4];
    uint32_t dst_nb[4];
    uint32_t addend_nb[4];
    uint32_t has_addend; /* or else the third operand means nothing */
    uint32_t n;          /* elements */
    uint32_t n_parts;
GB_PARAMS_END
