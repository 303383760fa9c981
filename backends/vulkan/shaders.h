/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders.h - the shaders as they were compiled, SPIR-V, which are data here.
 */
#ifndef GB_VULKAN_SHADERS_H
#define GB_VULKAN_SHADERS_H

#include <stddef.h>
#include <stdint.h>

/* One name a row of shaders.def: GB_VK_SPIRV_unary … */
enum gb_vk_shader {
#define GB_VK_SHADER(name, file, defines) GB_VK_SPIRV_##name,
#include "backends/vulkan/shaders/shaders.def"
#undef GB_VK_SHADER
    GB_VK_SHADER_COUNT
};

struct gb_vk_spirv {
    const uint32_t *words;
    size_t size; /* bytes */
};

/* Its entry point is main. */
struct gb_vk_spirv gb_vk_spirv_of(enum gb_vk_shader shader);

#endif
