/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/formats.h - which tensors shaders read as floats.
 */
#ifndef GB_VULKAN_OPS_FORMATS_H
#define GB_VULKAN_OPS_FORMATS_H

#include "backends/vulkan/ops/tables.h"

#include "ggml.h"

#include <stdbool.h>

/* Is there a reader for TYPE (shaders/formats.def)? */
bool gb_vk_has_format(enum ggml_type type);

/* The table that pipelines for TYPE read; GB_VK_TABLE_NONE. */
enum gb_vk_table gb_vk_table_of(enum ggml_type type);

/* Do all rows of TENSOR begin where shaders can read its type: at multiples of
 * 4 bytes, or of 2 or 1 where that is all that its size is a multiple of?  The
 * stride of a single element means nothing. */
bool gb_vk_is_aligned(const struct ggml_tensor *tensor);

/* Can TENSOR's elements be read as floats: of a floating-point type with any
 * strides, or in blocks with dense rows; aligned? */
bool gb_vk_can_read(const struct ggml_tensor *tensor);

#endif
