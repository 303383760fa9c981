/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-groupnorm.h - norms of groups of channels: dst, src.
 */
#include "params.h"

/* Channels are dimension 2; the last group of a batch may have fewer. */
GB_PARAMS(gb_vk_group_norm_params, 2)
    uint32_t ne[4];
    uint32_t dst_nb[3]; /* of dimensions 1 to 3: rows are dense */
    uint32_t src_nb[3];
    uint32_t per_group; /* channels */
    uint32_t n_groups;  /* of each batch */
    float eps;
GB_PARAMS_END
