/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders.h - the shaders as they were compiled, SPIR-V, which are data here.
 */
#ifndef GB_VULKAN_SHADERS_H
#define GB_VULKAN_SHADERS_H

#include "backends/vulkan/ops/emit.h"

#include <stddef.h>
#include <stdint.h>

struct gb_vk_shader {
    const uint32_t *words;
    size_t size; /* bytes */
};

/* What PIPELINE is made of; its entry point is main. */
struct gb_vk_shader gb_vk_shader(enum gb_vk_pipeline pipeline);

#endif
