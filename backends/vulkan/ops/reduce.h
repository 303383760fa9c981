/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/reduce.h - the second dispatch of sums over everything.
 */
#ifndef GB_VULKAN_OPS_REDUCE_H
#define GB_VULKAN_OPS_REDUCE_H

#include "backends/vulkan/ops/emit.h"

#include "ggml.h"

/* Scratch for N_PARTS floats, also where there are none. */
size_t gb_vk_sum_parts_size(int64_t n_parts);

/* DST[0], of a floating-point type, = the sum of N_PARTS floats at the
 * beginning of the scratch, in an order that follows from their number, divided
 * by DIVISOR. */
void gb_vk_join_parts(struct gb_vk_emit *emit, const struct ggml_tensor *dst,
                      int64_t n_parts, float divisor);

#endif
