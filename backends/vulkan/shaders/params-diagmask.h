/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-diagmask.h - dst = src up to column n_past + row, VALUE
 * behind it.
 */
#include "params.h"

GB_PARAMS(gb_vk_diag_mask_params, 2)
    uint32_t ne[4];
    uint32_t dst_nb[4];
    uint32_t src_nb[4];
    uint32_t n;
    uint32_t n_past;
    uint32_t value; /* bits of a float, which may be infinite */
GB_PARAMS_END
