/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-softmaxback.h - the gradient of softmax: dst, dy, y.
 */
#include "params.h"

/* Rows of N elements, F32 and dense; counts and strides of dimensions 1 to
 * 3. */
GB_PARAMS(gb_vk_softmax_back_params, 3)
    uint32_t ne[3];
    uint32_t dst_nb[3];
    uint32_t dy_nb[3];
    uint32_t y_nb[3];
    uint32_t n;
    uint32_t n_rows;
    float scale;
GB_PARAMS_END
