/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/pipeline.c - pipelines, made on first use.
 */
#include "backends/vulkan/device/context.h"

#include "backends/vulkan/shaders.h"

#include "ggml-impl.h"
#include "ggmlbackend.h"

static const struct {
    const char *name;
    int n_bindings;
} rows[GB_VK_PIPELINE_COUNT] = {
#define GB_VK_PIPELINE(name, file, n_bindings, params, defines) \
    [GB_VK_##name] = { #name, n_bindings },
#include "backends/vulkan/shaders/pipelines.def"
#undef GB_VK_PIPELINE
};

/* A driver that cannot compile a shader has not failed for it. */
static VkResult
make(struct gb_vk_context *context, enum gb_vk_pipeline pipeline,
     VkShaderModule module)
{
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .flags = VK_PIPELINE_CREATE_DISPATCH_BASE_BIT, /* it may be cut */
        .stage = {
            .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
            .stage = VK_SHADER_STAGE_COMPUTE_BIT,
            .module = module,
            .pName = "main",
        },
        .layout = context->layouts[rows[pipeline].n_bindings],
    };

    return context->calls.CreateComputePipelines(
        context->device, VK_NULL_HANDLE, 1, &info, NULL,
        &context->pipelines[pipeline]);
}

static void
make_locked(struct gb_vk_context *context, enum gb_vk_pipeline pipeline)
{
    const struct gb_vk_shader shader = gb_vk_shader(pipeline);
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = shader.size,
        .pCode = shader.words,
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

const char *
gb_vk_pipeline_name(enum gb_vk_pipeline pipeline)
{
    return rows[pipeline].name;
}

void
gb_vk_tell_dispatches(const struct gb_vk_context *context)
{
    for (int i = 0; i < GB_VK_PIPELINE_COUNT; i++)
        GGML_LOG_WARN("vulkan dispatches: %s %u\n", rows[i].name,
                      atomic_load_explicit(&context->n_dispatches[i],
                                           memory_order_relaxed));
}
