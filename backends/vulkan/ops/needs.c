/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/needs.c - which pipelines a device can run.
 */
#include "backends/vulkan/ops/emit.h"
#include "backends/vulkan/shaders.h"

/* One more than there are, so that there is always a row. */
static const uint32_t needs[GB_VK_SHADER_COUNT + 1] = {
#define GB_VK_NEEDS(name, features) [GB_VK_SPIRV_##name] = features,
#include "backends/vulkan/shaders/needs.def"
#undef GB_VK_NEEDS
    [GB_VK_SHADER_COUNT] = 0,
};

static const uint16_t shaders[GB_VK_PIPELINE_COUNT] = {
#define GB_VK_PIPELINE(name, shader, n_bindings, params, ...) \
    [GB_VK_##name] = GB_VK_SPIRV_##shader,
#include "backends/vulkan/shaders/pipelines.def"
#undef GB_VK_PIPELINE
};

uint32_t
gb_vk_needs_of(enum gb_vk_pipeline pipeline)
{
    return needs[shaders[pipeline]];
}

bool
gb_vk_can_use(const struct gb_vk_limits *limits, enum gb_vk_pipeline pipeline)
{
    return (gb_vk_needs_of(pipeline) & ~limits->features) == 0 &&
           (limits->broken[pipeline / 32] >> pipeline % 32 & 1) == 0;
}
