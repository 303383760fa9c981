/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-im2col.h - images as windows: windows, image; for the
 * gradient image, windows.
 */
#ifndef GB_VULKAN_SHADERS_PARAMS_IM2COL_H
#define GB_VULKAN_SHADERS_PARAMS_IM2COL_H

#include "params.h"

/*
 * Images [x, y, channel, batch] and windows [element, x, y, batch]; what has
 * one dimension has a height of 1.  Along x and y: strides s, paddings pad,
 * dilations d, the kernel's sizes k.
 */
GB_PARAMS(gb_vk_im2col_params, 2)
    uint32_t ne[4];       /* of the result */
    uint32_t windows_nb[4];
    uint32_t image_nb[4];
    uint32_t src_ne[2];   /* along x and y, of the image or of the windows */
    int32_t s[2], pad[2], d[2];
    uint32_t k[2];
    uint32_t n;           /* elements of the result */
    uint32_t type;        /* of the windows, GB_VK_F32 … */
    uint32_t is_dense;    /* windows are contiguous */
GB_PARAMS_END

#endif
