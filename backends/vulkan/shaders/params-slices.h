/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-slices.h - sums of slices of a product element by
 * element: dst, src, weights, product, and up to four sums before the last one.
 */
#ifndef GB_VULKAN_SHADERS_PARAMS_SLICES_H
#define GB_VULKAN_SHADERS_PARAMS_SLICES_H

#include "params.h"

#define GB_VK_MOST_SLICES 8
#define GB_VK_INNER_SUMS 4

/* src and product are [row, slices, rows], of F32; results have no gaps. */
GB_PARAMS(gb_vk_slices_params, 8)
    uint32_t ne[3];
    uint32_t src_nb[3];
    uint32_t weights_nb[3]; /* 0 where they are repeated */
    uint32_t n;             /* elements of a sum */
    uint32_t n_slices;      /* that are added, in their order */
    uint32_t written;       /* bit 0: product; bit I: the sum of I + 1 slices,
                               which is inner sum I */
    uint32_t slices[2];     /* 8 bits each */
GB_PARAMS_END

#endif
