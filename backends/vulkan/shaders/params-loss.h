/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-loss.h - cross entropy: dst, logits, labels; for the
 * gradient that of the loss, one number, too.
 */
#ifndef GB_VULKAN_SHADERS_PARAMS_LOSS_H
#define GB_VULKAN_SHADERS_PARAMS_LOSS_H

#include "params.h"

/* Rows of N elements, F32 and dense; counts and strides of dimensions 1 to 3.
 * Of the loss dst has a number for each row, its share; of the gradient a
 * row. */
GB_PARAMS(gb_vk_loss_params, 4)
    uint32_t ne[3];
    uint32_t dst_nb[3];
    uint32_t logits_nb[3];
    uint32_t labels_nb[3];
    uint32_t n;
    uint32_t n_rows;
GB_PARAMS_END

#endif
