/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-quantize.h - floats into blocks, and blocks into
 * floats: dst, src or weights, and the table of its type.
 */
#ifndef GB_VULKAN_SHADERS_PARAMS_QUANTIZE_H
#define GB_VULKAN_SHADERS_PARAMS_QUANTIZE_H

#include "params.h"

/*
 * The values of src as those of dst, both in row-major order.  The tensor in
 * blocks counts these instead of elements: ne[0] and nb[0] are of blocks.  The
 * elements that a block of it has lie side by side in the other tensor.
 */
GB_PARAMS(gb_vk_quantize_params, 3)
    uint32_t dst_ne[4];
    uint32_t dst_nb[4];
    uint32_t src_ne[4];
    uint32_t src_nb[4];
    uint32_t n;        /* blocks */
    uint32_t src_type; /* GB_VK_F32 …, where dst is in blocks */
GB_PARAMS_END

#endif
