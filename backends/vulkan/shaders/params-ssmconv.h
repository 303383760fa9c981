/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-ssmconv.h - convolutions along tokens: dst, src, taps.
 */
#include "params.h"

/* dst[r, t, s] = the sum over x of src[t + x, r, s] * taps[x, r]; dst and taps
 * are contiguous. */
GB_PARAMS(gb_vk_ssm_conv_params, 3)
    uint32_t ne[2];     /* of dst: channels, tokens */
    uint32_t src_nb[2]; /* of dimensions 1 and 2 */
    uint32_t n_taps;
    uint32_t n;         /* elements of dst */
GB_PARAMS_END
