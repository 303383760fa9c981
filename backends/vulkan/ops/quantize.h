/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/quantize.h - floats into blocks, and blocks into floats.
 */
#ifndef GB_VULKAN_OPS_QUANTIZE_H
#define GB_VULKAN_OPS_QUANTIZE_H

#include "backends/vulkan/ops/emit.h"

#include "ggml.h"

#include <stdbool.h>

/*
 * Can the elements of SRC, in row-major order, become those of DST, where one
 * is of a type in blocks and the other of a floating-point type, F32 if it is
 * DST?  Both have dense rows, and the elements of each block lie side by side.
 */
bool gb_vk_can_convert_blocks(
    const struct ggml_tensor *dst, const struct ggml_tensor *src);

/* Dispatch that, for at least one element, where TO and FROM show the tensors:
 * their data, or scratch. */
void gb_vk_emit_convert_blocks(
    struct gb_vk_emit *emit, const struct ggml_tensor *dst,
    struct gb_vk_bind to, const struct ggml_tensor *src,
    struct gb_vk_bind from);

#endif
