/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-pool.h - windows of planes: dst, src.
 */
#ifndef GB_VULKAN_SHADERS_PARAMS_POOL_H
#define GB_VULKAN_SHADERS_PARAMS_POOL_H

#include "params.h"

/*
 * Windows of K columns by rows, the one of result (x, y) beginning at (x s[0] -
 * pad[0], y s[1] - pad[1]).  For POOL_1D s[1] is 0, and each row of results has
 * a plane of its own, which is a row.
 */
GB_PARAMS(gb_vk_pool_params, 2)
    uint32_t ne[4];      /* of the results */
    uint32_t dst_nb[4];  /* where those are places, nothing */
    uint32_t src_ne[2];  /* of a plane */
    uint32_t src_nb[4];
    uint32_t row_plane;  /* bytes from a row's plane to the next row's, or 0 */
    int32_t k[2], s[2], pad[2];
    uint32_t n;          /* results */
    uint32_t src_type;   /* GB_VK_F32 … */
    uint32_t is_max;
GB_PARAMS_END

/* A window of whose elements none is larger than the smallest float. */
#define GB_VK_NO_PLACE 0xffffffffu

#endif
