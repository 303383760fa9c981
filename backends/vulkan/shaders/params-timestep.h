/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-timestep.h - embeddings of times: dst, times, both F32.
 */
#include "params.h"

/*
 * With the phase p = times[j] * 2^(i (high + low)) for i < frequencies:
 *     dst[i, j] = cos p, dst[frequencies + i, j] = sin p, the rest of the row 0
 */
GB_PARAMS(gb_vk_timestep_params, 2)
    uint32_t ne0; /* of dst */
    uint32_t n;   /* elements of dst */
    uint32_t dst_nb[2];
    uint32_t times_nb;
    uint32_t frequencies;
    float high;   /* of few enough bits that i * high is exact */
    float low;
GB_PARAMS_END
