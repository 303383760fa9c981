/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-outprod.h - sums of outer products: dst, weights, b.
 */
#ifndef GB_VULKAN_SHADERS_PARAMS_OUTPROD_H
#define GB_VULKAN_SHADERS_PARAMS_OUTPROD_H

#include "params.h"

/* dst[i, j, p, q] = the sum over k of weights[i, k, p / r2, q / r3] *
 * b[j, k, p, q], r2 and r3 saying how many matrices of b share one. */
GB_PARAMS(gb_vk_out_prod_params, 4)
    uint32_t ne[4]; /* of dst */
    uint32_t dst_nb[4];
    uint32_t a_nb[3]; /* of dimensions 1 to 3 */
    uint32_t b_nb[4];
    uint32_t n_k;
    uint32_t share[2]; /* r2, r3 */
    uint32_t n_tiles[2]; /* along dimensions 0 and 1 */
GB_PARAMS_END

/* A tile's side. */
#define GB_VK_OUT_PROD_TILE 64

#endif
