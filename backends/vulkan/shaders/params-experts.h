/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-experts.h - pairs of a token and an expert, sorted by
 * expert: chosen, counts, ids.
 *
 * chosen has the pairs, as numbers x + n * y for ids[x, y], and tiles_at bytes
 * behind the first of them the tiles: the expert, the first place and the number of
 * places of each.  What is no expert's id is that of expert n_experts.
 */
#include "params.h"

GB_PARAMS(gb_vk_experts_params, 3)
    uint32_t ids_nb[2];
    uint32_t n;         /* ids of a token */
    uint32_t n_pairs;
    uint32_t n_experts;
    uint32_t tiles_at;
    uint32_t n_tiles;   /* as many as there can be; the last have no places */
    uint32_t cols;      /* places of a tile, at most */
GB_PARAMS_END
