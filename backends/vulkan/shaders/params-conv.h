/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-conv.h - transposed convolutions: dst, kernel, input.
 */
#include "params.h"

/* dst [x, y, out channel, batch], contiguous; kernel [x, y, out channel, in
 * channel]; input [x, y, in channel, batch].  What has one dimension has a
 * height of 1. */
GB_PARAMS(gb_vk_conv_params, 3)
    uint32_t ne[4]; /* of dst */
    uint32_t kernel_ne[2];
    uint32_t kernel_nb[4];
    uint32_t input_ne[2];
    uint32_t input_nb[4];
    uint32_t n;          /* elements of dst */
    uint32_t stride;
    uint32_t n_channels; /* in channels to go through */
    uint32_t is_half;    /* the kernel is F16, to which the input is rounded */
GB_PARAMS_END
