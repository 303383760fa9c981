/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-floats.h - rows of any type as floats: dst, which is dense,
 * weights, and the table of their type.
 */
#include "params.h"

GB_PARAMS(gb_vk_floats_params, 3)
    uint32_t ne[4];
    uint32_t nb[3]; /* of weights, of dimensions 1 to 3 */
    uint32_t n;     /* runs of 8 values, those of a row up to the next 8 */
GB_PARAMS_END
