/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-parts.h - sums and counts over parts of everything:
 * parts, src0, src1.
 */
#include "params.h"

/* parts[i] is of elements per_part * i to per_part * (i + 1), in index
 * order. */
GB_PARAMS(gb_vk_parts_params, 3)
    uint32_t ne[4];
    uint32_t src0_nb[4];
    uint32_t src1_nb[4];
    uint32_t n;        /* elements */
    uint32_t per_part;
    uint32_t n_parts;
    uint32_t src_type; /* GB_VK_F32 … */
GB_PARAMS_END
