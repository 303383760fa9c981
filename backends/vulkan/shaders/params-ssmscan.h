/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-ssmscan.h - scans of state spaces: dst, first, x, dt,
 * a, b, c.
 */
#ifndef GB_VULKAN_SHADERS_PARAMS_SSMSCAN_H
#define GB_VULKAN_SHADERS_PARAMS_SSMSCAN_H

#include "params.h"

/* dst has the outputs [R, T, S], and behind them the last states [N, R, S].
 * Strides are those of dimensions 1 and 2; rows are dense. */
GB_PARAMS(gb_vk_ssm_scan_params, 7)
    uint32_t n_state;    /* N */
    uint32_t n_channels; /* R */
    uint32_t n_tokens;   /* T */
    uint32_t n_seqs;     /* S */
    uint32_t first_nb[2]; /* [N, R, S] */
    uint32_t x_nb[2];     /* [R, T, S] */
    uint32_t dt_nb[2];
    uint32_t a_nb;        /* [N, R] */
    uint32_t b_nb[2];     /* [N, T, S] */
    uint32_t c_nb[2];
GB_PARAMS_END

/* Lanes of a channel. */
#define GB_VK_SCAN_LANES 16

#endif
