/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-accumulate.h - a part of dst replaced by src, or src
 * added to it: dst, src.
 */
#include "params.h"

GB_PARAMS(gb_vk_accumulate_params, 2)
    uint32_t ne[4];         /* of the part, and of src */
    uint32_t dst_nb[4];     /* of the part */
    uint32_t src_nb[4];
    uint32_t rows;          /* of the part */
    uint32_t rows_of_group; /* that a work group takes, one after another */
    uint32_t first;         /* byte of dst where the part begins */
    uint32_t size;          /* bytes of an element */
    uint32_t is_sum;        /* of F32 */
GB_PARAMS_END
