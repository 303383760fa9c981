/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shim/null.c - the null driver's objects that have nothing to them.
 */
#include "tests/vulkan/shim/null.h"

#include <stdlib.h>

/* Each object is a block of the heap, so that a checker of memory sees those that
 * stay. */
#define PLAIN(name, type)                                             \
    static VkResult VKAPI_PTR create_##name(                          \
        VkDevice device, const Vk##type##CreateInfo *info,            \
        const VkAllocationCallbacks *own, Vk##type *out)              \
    {                                                                 \
        void *block = calloc(1, 16);                                  \
                                                                      \
        (void)device;                                                 \
        (void)info;                                                   \
        (void)own;                                                    \
        *out = (Vk##type)(uintptr_t)block;                            \
        return block != NULL ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY; \
    }                                                                 \
    static void VKAPI_PTR destroy_##name(                             \
        VkDevice device, Vk##type object,                             \
        const VkAllocationCallbacks *own)                             \
    {                                                                 \
        (void)device;                                                 \
        (void)own;                                                    \
        free((void *)(uintptr_t)object);                              \
    }

PLAIN(fence, Fence)
PLAIN(shader_module, ShaderModule)
PLAIN(pipeline_cache, PipelineCache)
PLAIN(set_layout, DescriptorSetLayout)
PLAIN(pipeline_layout, PipelineLayout)
PLAIN(query_pool, QueryPool)

static VkResult VKAPI_PTR
create_pipelines(VkDevice device, VkPipelineCache cache, uint32_t n,
                 const VkComputePipelineCreateInfo *infos,
                 const VkAllocationCallbacks *own, VkPipeline *out)
{
    (void)device;
    (void)cache;
    (void)infos;
    (void)own;
    for (uint32_t i = 0; i < n; i++) {
        out[i] = (VkPipeline)(uintptr_t)calloc(1, 16);
        if (out[i] == VK_NULL_HANDLE)
            return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    return VK_SUCCESS;
}

static void VKAPI_PTR
destroy_pipeline(VkDevice device, VkPipeline object,
                 const VkAllocationCallbacks *own)
{
    (void)device;
    (void)own;
    free((void *)(uintptr_t)object);
}

static VkResult VKAPI_PTR
get_cache_data(VkDevice device, VkPipelineCache cache, size_t *size, void *out)
{
    (void)device;
    (void)cache;
    (void)out;
    *size = 0;
    return VK_SUCCESS;
}

void
shim_null_init(void)
{
    shim_null_card();
    shim_null_memory();
    shim_null_queue();
    shim_driver.CreateFence = create_fence;
    shim_driver.DestroyFence = destroy_fence;
    shim_driver.CreateShaderModule = create_shader_module;
    shim_driver.DestroyShaderModule = destroy_shader_module;
    shim_driver.CreatePipelineCache = create_pipeline_cache;
    shim_driver.DestroyPipelineCache = destroy_pipeline_cache;
    shim_driver.GetPipelineCacheData = get_cache_data;
    shim_driver.CreateDescriptorSetLayout = create_set_layout;
    shim_driver.DestroyDescriptorSetLayout = destroy_set_layout;
    shim_driver.CreatePipelineLayout = create_pipeline_layout;
    shim_driver.DestroyPipelineLayout = destroy_pipeline_layout;
    shim_driver.CreateQueryPool = create_query_pool;
    shim_driver.DestroyQueryPool = destroy_query_pool;
    shim_driver.CreateComputePipelines = create_pipelines;
    shim_driver.DestroyPipeline = destroy_pipeline;
}
