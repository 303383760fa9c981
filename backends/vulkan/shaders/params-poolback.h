/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-poolback.h - the gradient of windows of planes: dst,
 * grad, places.
 */
#ifndef GB_VULKAN_SHADERS_PARAMS_POOLBACK_H
#define GB_VULKAN_SHADERS_PARAMS_POOLBACK_H

#include "params.h"

/* As params-pool.h has it; places of the windows' largest elements are in the
 * order of the results. */
GB_PARAMS(gb_vk_pool_back_params, 3)
    uint32_t ne[4];      /* of the planes */
    uint32_t dst_nb[4];
    uint32_t grad_ne[2]; /* windows of a plane */
    uint32_t grad_nb[4];
    int32_t k[2], s[2], pad[2];
    uint32_t n;          /* elements of dst */
    uint32_t is_max;     /* or else places mean nothing */
GB_PARAMS_END

#endif
