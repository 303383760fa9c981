/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-move.h - values moved to other places bit by bit: dst,
 * a, b.
 *
 * Values whose type does not matter are moved as units of 1, 2, 4, 8 or 16
 * bytes.  ne[0] and nb[0] of tensors are about units instead of elements.
 */
#ifndef GB_VULKAN_SHADERS_PARAMS_MOVE_H
#define GB_VULKAN_SHADERS_PARAMS_MOVE_H

#include "params.h"

/* What unit of a, or of b, becomes one of dst. */
#define GB_VK_MOVE_SAME    0u /* the one at the same place */
#define GB_VK_MOVE_COPY    1u /* the one of the same number in another shape */
#define GB_VK_MOVE_REPEAT  2u /* a is tiled over dst */
#define GB_VK_MOVE_CONCAT  3u /* b is behind a along dimension dim */
#define GB_VK_MOVE_PAD     4u /* zeros are behind a along each dimension */
#define GB_VK_MOVE_REFLECT 5u /* rows of a between their mirror images */
#define GB_VK_MOVE_UPSCALE 6u /* the nearest one */

GB_PARAMS(gb_vk_move_params, 3)
    uint32_t dst_ne[4];
    uint32_t dst_nb[4];
    uint32_t a_ne[4];
    uint32_t a_nb[4];
    uint32_t more[4]; /* CONCAT: strides of b; UPSCALE: how many of dst are one
                       * of a, bits of floats */
    uint32_t n;       /* units of dst */
    uint32_t kind;    /* GB_VK_MOVE_SAME … */
    uint32_t size;    /* bytes of a unit: below 4, or a multiple of 4 */
    uint32_t parts;   /* units of a that are one of dst; not 1 for units of
                       * fewer bytes than 4 where that many are a word of dst */
    uint32_t dim;
    uint32_t before;  /* REFLECT: units in front of a */
GB_PARAMS_END

#endif
