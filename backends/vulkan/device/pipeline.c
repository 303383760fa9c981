/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/pipeline.c - pipelines, made on first use.
 */
#include "backends/vulkan/device/context.h"

#include "backends/vulkan/shaders.h"

#include "ggml-impl.h"
#include "ggmlbackend.h"

enum { MOST_CONSTANTS = 2 };

#define SUBGROUP_SIZE_INFO \
    VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO

static const struct {
    const char *name;
    enum gb_vk_shader shader;
    int n_bindings;
    uint32_t constants[MOST_CONSTANTS]; /* a shader need not have them */
} rows[GB_VK_PIPELINE_COUNT] = {
#define GB_VK_PIPELINE(name, shader, n_bindings, params, ...)              \
    [GB_VK_##name] = { #name, GB_VK_SPIRV_##shader, n_bindings,            \
                       { __VA_ARGS__ } },
#include "backends/vulkan/shaders/pipelines.def"
#undef GB_VK_PIPELINE
};

/* A driver that cannot compile a shader has not failed for it. */
static VkResult
make(struct gb_vk_context *context, enum gb_vk_pipeline pipeline,
     VkShaderModule module)
{
    static const VkSpecializationMapEntry entries[MOST_CONSTANTS] = {
        { 0, 0, sizeof(uint32_t) },
        { 1, sizeof(uint32_t), sizeof(uint32_t) },
    };
    const VkSpecializationInfo constants = {
        MOST_CONSTANTS, entries, sizeof(rows[pipeline].constants),
        rows[pipeline].constants
    };
    const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup = {
        .sType = SUBGROUP_SIZE_INFO,
        .requiredSubgroupSize = context->card->limits.subgroup,
    };
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {
            .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
            .stage = VK_SHADER_STAGE_COMPUTE_BIT,
            .module = module,
            .pName = "main",
            .pSpecializationInfo = &constants,
        },
        .layout = context->layouts[rows[pipeline].n_bindings],
    };

    if ((gb_vk_needs_of(pipeline) & GB_VK_HAS_SUBGROUP) != 0) {
        info.stage.pNext = &subgroup;
        info.stage.flags =
            VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    }
    return context->calls.CreateComputePipelines(
        context->device, VK_NULL_HANDLE, 1, &info, NULL,
        &context->pipelines[pipeline]);
}

static void
make_locked(struct gb_vk_context *context, enum gb_vk_pipeline pipeline)
{
    const struct gb_vk_spirv spirv = gb_vk_spirv_of(rows[pipeline].shader);
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = spirv.size,
        .pCode = spirv.words,
    };
    VkShaderModule module;
    VkResult result;

    if (context->pipelines[pipeline] != VK_NULL_HANDLE ||
        GB_VK(context, CreateShaderModule,
              (context->device, &info, NULL, &module)) != GGML_STATUS_SUCCESS)
        return;
    result = make(context, pipeline, module);
    if (result != VK_SUCCESS) {
        context->pipelines[pipeline] = VK_NULL_HANDLE;
        ggmlbackend_fail(GGML_STATUS_FAILED,
                         "%s: shader %s cannot be compiled: %s",
                         context->card->label, rows[pipeline].name,
                         gb_vk_result(result));
    }
    context->calls.DestroyShaderModule(context->device, module, NULL);
}

VkPipeline
gb_vk_pipeline(struct gb_vk_context *context, enum gb_vk_pipeline pipeline)
{
    VkPipeline handle;

    pthread_mutex_lock(&context->pipeline_lock);
    make_locked(context, pipeline);
    handle = context->pipelines[pipeline];
    pthread_mutex_unlock(&context->pipeline_lock);
    return handle;
}

void
gb_vk_tell_dispatches(const struct gb_vk_context *context)
{
    for (int i = 0; i < GB_VK_PIPELINE_COUNT; i++)
        GGML_LOG_WARN("vulkan dispatches: %s %u\n", rows[i].name,
                      atomic_load_explicit(&context->n_dispatches[i],
                                           memory_order_relaxed));
}
