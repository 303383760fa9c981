/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-route.h - softmax of rows, and which elements come first:
 * src, values, order, picked, sums, shares.
 */
#ifndef GB_VULKAN_SHADERS_PARAMS_ROUTE_H
#define GB_VULKAN_SHADERS_PARAMS_ROUTE_H

#include "params.h"

#define GB_VK_ROUTE_MOST 256 /* elements of a row */

/* Rows of src are dense, those of results follow each other without gaps. */
GB_PARAMS(gb_vk_route_params, 6)
    uint32_t src_nb;
    uint32_t n;
    uint32_t n_rows;
    uint32_t n_picked;
    uint32_t is_descending;
    uint32_t written; /* bit I: the result of member I, values being 0 */
    float scale;
GB_PARAMS_END

#endif
