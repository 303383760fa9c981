/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-window.h - images divided into windows: dst, src.
 */
#ifndef GB_VULKAN_SHADERS_PARAMS_WINDOW_H
#define GB_VULKAN_SHADERS_PARAMS_WINDOW_H

#include "params.h"

GB_PARAMS(gb_vk_window_params, 2)
    uint32_t ne[4]; /* of dst */
    uint32_t dst_nb[4];
    uint32_t src_ne[2]; /* positions of the image, of dimensions 1 and 2 */
    uint32_t src_nb[4];
    uint32_t kind;      /* GB_VK_PART … */
    uint32_t size;      /* bytes of an element: 1, 2, 4 or 8 */
    uint32_t side;      /* positions of a window along x and y */
    uint32_t across;    /* windows side by side */
    uint32_t n;         /* elements of dst */
GB_PARAMS_END

#define GB_VK_PART 0    /* windows of an image */
#define GB_VK_UNPART 1  /* the image again */
#define GB_VK_REL_POS 2 /* rows of a table by the distance of two positions */

#endif
