/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-sumrows.h - sums of rows: dst, src.
 */
#include "params.h"

/* dst[0, row] = the sum of src[:, row] / divisor, any strides. */
GB_PARAMS(gb_vk_sum_rows_params, 2)
    uint32_t ne[4];     /* of src */
    uint32_t dst_nb[3]; /* of dimensions 1 to 3 */
    uint32_t src_nb[4];
    uint32_t n_rows;
    uint32_t dst_type;  /* GB_VK_F32 … */
    uint32_t src_type;
    float divisor;
GB_PARAMS_END
