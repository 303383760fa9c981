/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-columns.h - columns of a product as blocks of bytes: dst,
 * columns.
 */
#include "params.h"

GB_PARAMS(gb_vk_columns_params, 2)
    uint32_t n;           /* blocks of GB_VK_DOT_BLOCK values, of all columns */
    uint32_t blocks;      /* of a column */
    uint32_t ne[2];       /* columns along dimensions 1 and 2 */
    uint32_t nb[3];       /* of dimensions 1 to 3 */
    uint32_t column_type; /* GB_VK_F32 … */
    uint32_t stride;      /* bytes of a column in dst: codes, a byte each, then
                             scales, F32, of its blocks; a multiple of 16 */
GB_PARAMS_END

#define GB_VK_DOT_BLOCK 32
