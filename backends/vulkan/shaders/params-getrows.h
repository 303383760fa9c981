/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-getrows.h - rows picked by their numbers: dst, weights,
 * ids, and the table of the type of weights.
 */
#include "params.h"

/* dst[:, i, j, k] = weights[:, ids[i, j, k], j, k] */
GB_PARAMS(gb_vk_get_rows_params, 4)
    uint32_t units[4];  /* of dst: values, or runs of 8 for types in blocks, by
                         * rows */
    uint32_t dst_nb[4]; /* of a unit, and of rows */
    uint32_t src_nb[4]; /* the first: of a value, for types without blocks */
    uint32_t ids_nb[3];
    uint32_t first, rows; /* of weights: those that are shown */
    uint32_t all_rows;  /* of weights */
    uint32_t n;         /* units of dst */
GB_PARAMS_END
