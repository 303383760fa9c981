/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-addrelpos.h - positions added: dst, src, columns, rows.
 */
#include "params.h"

/* dst[x + side * y, row] = src[..] + columns[x, row] + rows[y, row]; all are
 * contiguous. */
GB_PARAMS(gb_vk_add_rel_pos_params, 4)
    uint32_t side;
    uint32_t n; /* elements of dst */
GB_PARAMS_END
