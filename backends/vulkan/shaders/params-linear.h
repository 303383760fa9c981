/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-linear.h - linear attention: dst, k, v, r, decay,
 * bonus, first.
 */
#include "params.h"

/* Heads of Z elements; all are contiguous, [Z, H, T], but bonus [Z, H] and
 * states [Z, Z, H, S].  dst has the outputs, and behind them the last
 * states. */
GB_PARAMS(gb_vk_linear_params, 7)
    uint32_t z;
    uint32_t n_heads;
    uint32_t n_seqs;
    uint32_t n_tokens; /* of each sequence */
    float scale;       /* of the output, without a bonus */
GB_PARAMS_END
