/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-repeatback.h - dst, F32, is the sum of the tiles of its
 * shape that src consists of.
 */
#include "params.h"

GB_PARAMS(gb_vk_repeat_back_params, 2)
    uint32_t ne[4];    /* of dst */
    uint32_t dst_nb[4];
    uint32_t src_nb[4];
    uint32_t tiles[4]; /* along each dimension */
    uint32_t n;        /* elements of dst */
    uint32_t n_tiles;
    uint32_t src_type; /* GB_VK_F32 … */
GB_PARAMS_END
