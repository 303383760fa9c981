/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-getrowsback.h - the gradient of rows picked by their
 * numbers: dst, src, ids.
 */
#include "params.h"

/* dst[:, r] = the sum of src[:, i] over all i with ids[i] = r */
GB_PARAMS(gb_vk_get_rows_back_params, 3)
    uint32_t ne0;       /* of dst and src */
    uint32_t n;         /* values of dst */
    uint32_t n_ids;
    uint32_t dst_nb[2];
    uint32_t src_nb[2];
    uint32_t ids_nb;
    uint32_t src_type;  /* GB_VK_F32 … */
GB_PARAMS_END
