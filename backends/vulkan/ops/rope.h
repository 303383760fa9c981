/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/rope.h - a rotation whose result is copied.
 */
#ifndef GB_VULKAN_OPS_ROPE_H
#define GB_VULKAN_OPS_ROPE_H

#include "backends/vulkan/ops/emit.h"

#include "ggml.h"

/* Can the shader write to COPY what it makes of ROPE, which COPY copies? */
bool gb_vk_can_store_rope(
    const struct ggml_tensor *rope, const struct ggml_tensor *copy);

/* Dispatch both; ROPE's own result is written if IS_WRITTEN. */
void gb_vk_emit_rope_store(
    struct gb_vk_emit *emit, const struct ggml_tensor *rope,
    const struct ggml_tensor *copy, bool is_written);

#endif
