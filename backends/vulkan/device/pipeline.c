/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/pipeline.c - pipelines, made on first use.
 *
 * Several threads may want pipelines at once: who comes first makes one,
 * without the lock, and others that want it wait.
 */
#include "backends/vulkan/device/pipeline.h"

#include "backends/vulkan/device/cache.h"
#include "backends/vulkan/device/settings.h"
#include "backends/vulkan/ops/fused.h"
#include "backends/vulkan/shaders.h"

#include "ggml-impl.h"
#include "ggmlbackend.h"

#include <stdio.h>
#include <string.h>

/* A row's own, and a device's: M, N and K of its matrices, invocations of a
 * subgroup. */
enum { OWN_CONSTANTS = 2, MOST_CONSTANTS = 6 };

#define SUBGROUP_SIZE_INFO \
    VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO

/* Some drivers say so of shaders that they cannot compile. */
enum { MOST_SHORTAGES = 2 };

static const struct {
    const char *name;
    enum gb_vk_shader shader;
    int n_bindings;
    uint32_t constants[OWN_CONSTANTS]; /* a shader need not have them */
} rows[GB_VK_PIPELINE_COUNT] = {
#define GB_VK_PIPELINE(name, shader, n_bindings, params, ...)              \
    [GB_VK_##name] = { #name, GB_VK_SPIRV_##shader, n_bindings,            \
                       { __VA_ARGS__ } },
#include "backends/vulkan/shaders/pipelines.def"
#undef GB_VK_PIPELINE
};

/* ---- making one ---- */

static void
find_constants(const struct gb_vk_limits *limits, enum gb_vk_pipeline pipeline,
               uint32_t constants[MOST_CONSTANTS])
{
    memcpy(constants, rows[pipeline].constants,
           sizeof(rows[pipeline].constants));
    memcpy(constants + OWN_CONSTANTS, limits->matrix, sizeof(limits->matrix));
    constants[MOST_CONSTANTS - 1] = limits->subgroup;
}

static VkResult
make_of(struct gb_vk_context *context, enum gb_vk_pipeline pipeline,
        VkShaderModule module, VkPipeline *out)
{
    static const VkSpecializationMapEntry entries[MOST_CONSTANTS] = {
        { 0, 0, sizeof(uint32_t) },
        { 1, sizeof(uint32_t), sizeof(uint32_t) },
        { 2, 2 * sizeof(uint32_t), sizeof(uint32_t) },
        { 3, 3 * sizeof(uint32_t), sizeof(uint32_t) },
        { 4, 4 * sizeof(uint32_t), sizeof(uint32_t) },
        { 5, 5 * sizeof(uint32_t), sizeof(uint32_t) },
    };
    const uint32_t needs = gb_vk_needs_of(pipeline);
    uint32_t words[MOST_CONSTANTS];
    const VkSpecializationInfo constants = {
        MOST_CONSTANTS, entries, sizeof(words), words
    };
    const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup = {
        .sType = SUBGROUP_SIZE_INFO,
        .requiredSubgroupSize = context->card->limits.subgroup,
    };
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .flags = VK_PIPELINE_CREATE_DISPATCH_BASE_BIT, /* it may be cut */
        .stage = {
            .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
            .stage = VK_SHADER_STAGE_COMPUTE_BIT,
            .module = module,
            .pName = "main",
            .pSpecializationInfo = &constants,
        },
        .layout = context->layouts[rows[pipeline].n_bindings],
    };

    find_constants(&context->card->limits, pipeline, words);
    if ((needs & GB_VK_HAS_SUBGROUP) != 0) {
        info.stage.pNext = &subgroup;
        info.stage.flags =
            VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    }
    return context->calls.CreateComputePipelines(
        context->device, context->cache, 1, &info, NULL, out);
}

/* What comes of it without a trial: rows ask for what it needs before they use
 * it, and tests want it to fail. */
static VkResult
known_of(const struct gb_vk_card *card, enum gb_vk_pipeline pipeline)
{
    char word[64];

    if ((gb_vk_needs_of(pipeline) & ~card->limits.features) != 0)
        return VK_ERROR_FEATURE_NOT_PRESENT;
    snprintf(word, sizeof(word), "fail-%s", rows[pipeline].name);
    if (gb_vk_test_has(word))
        return VK_ERROR_UNKNOWN;
    snprintf(word, sizeof(word), "short-%s", rows[pipeline].name);
    return gb_vk_test_has(word) ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
}

static VkResult
make(struct gb_vk_context *context, enum gb_vk_pipeline pipeline,
     VkPipeline *out)
{
    const struct gb_vk_spirv spirv = gb_vk_spirv_of(rows[pipeline].shader);
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = spirv.size,
        .pCode = spirv.words,
    };
    VkShaderModule module = VK_NULL_HANDLE;
    VkResult result = known_of(context->card, pipeline);

    *out = VK_NULL_HANDLE;
    if (result != VK_SUCCESS)
        return result;
    result = context->calls.CreateShaderModule(context->device, &info, NULL,
                                               &module);
    if (result != VK_SUCCESS)
        return result;
    result = make_of(context, pipeline, module, out);
    context->calls.DestroyShaderModule(context->device, module, NULL);
    if (result != VK_SUCCESS)
        *out = VK_NULL_HANDLE;
    else if (*out == VK_NULL_HANDLE)
        result = VK_ERROR_UNKNOWN;
    return result;
}

/* ---- what becomes of it ---- */

static bool
is_shortage(VkResult result)
{
    return result == VK_ERROR_OUT_OF_HOST_MEMORY ||
           result == VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

static void
set_broken(struct gb_vk_context *context, enum gb_vk_pipeline pipeline)
{
    struct gb_vk_card *card = context->card;

    context->pipelines[pipeline].state = GB_VK_BROKEN;
    atomic_fetch_or_explicit(&card->broken[pipeline / 32],
                             UINT32_C(1) << pipeline % 32,
                             memory_order_relaxed);
    atomic_store_explicit(&card->has_broken, true, memory_order_release);
}

/* A driver that cannot compile a shader has not failed for it.  Where it has no
 * memory just now, or the card was lost, who wants it next tries once more. */
static void
settle(struct gb_vk_context *context, enum gb_vk_pipeline pipeline,
       VkResult result)
{
    struct gb_vk_pipeline_slot *slot = &context->pipelines[pipeline];

    slot->result = result;
    slot->state = GB_VK_UNMADE;
    if (result == VK_SUCCESS) {
        slot->state = GB_VK_MADE;
        context->n_made++;
    } else if (result != VK_ERROR_DEVICE_LOST && !is_shortage(result)) {
        set_broken(context, pipeline);
    }
}

/* With the lock, which is left meanwhile. */
static void
make_unlocked(struct gb_vk_context *context, enum gb_vk_pipeline pipeline)
{
    struct gb_vk_pipeline_slot *slot = &context->pipelines[pipeline];
    int64_t begin;
    VkResult result;

    if (!context->has_cache) {
        context->has_cache = true;
        gb_vk_cache_open(context);
    }
    slot->state = GB_VK_BUSY;
    pthread_mutex_unlock(&context->pipeline_lock);
    begin = ggml_time_us();
    result = make(context, pipeline, &slot->handle);
    GGML_LOG_DEBUG("%s: pipeline %s: %s after %.1f ms\n", context->card->label,
                   rows[pipeline].name, gb_vk_result(result),
                   (double)(ggml_time_us() - begin) / 1000.0);
    pthread_mutex_lock(&context->pipeline_lock);
    settle(context, pipeline, result);
    pthread_cond_broadcast(&context->pipeline_settled);
}

/* ---- who wants one ---- */

void
gb_vk_pipeline_make(
    struct gb_vk_context *context, enum gb_vk_pipeline pipeline)
{
    pthread_mutex_lock(&context->pipeline_lock);
    if (context->pipelines[pipeline].state == GB_VK_UNMADE)
        make_unlocked(context, pipeline);
    pthread_mutex_unlock(&context->pipeline_lock);
}

bool
gb_vk_pipeline_is_made(
    struct gb_vk_context *context, enum gb_vk_pipeline pipeline)
{
    bool is_made;

    pthread_mutex_lock(&context->pipeline_lock);
    is_made = context->pipelines[pipeline].state == GB_VK_MADE;
    pthread_mutex_unlock(&context->pipeline_lock);
    return is_made;
}

static struct gb_vk_pipeline_slot
await(struct gb_vk_context *context, enum gb_vk_pipeline pipeline)
{
    struct gb_vk_pipeline_slot *slot = &context->pipelines[pipeline];
    struct gb_vk_pipeline_slot found;

    pthread_mutex_lock(&context->pipeline_lock);
    while (slot->state == GB_VK_BUSY)
        pthread_cond_wait(&context->pipeline_settled, &context->pipeline_lock);
    if (slot->state == GB_VK_UNMADE)
        make_unlocked(context, pipeline);
    if (slot->state == GB_VK_UNMADE && is_shortage(slot->result) &&
        ++slot->n_shortages == MOST_SHORTAGES)
        set_broken(context, pipeline);
    found = *slot;
    pthread_mutex_unlock(&context->pipeline_lock);
    return found;
}

enum ggml_status
gb_vk_pipeline(struct gb_vk_context *context, enum gb_vk_pipeline pipeline,
               VkPipeline *handle)
{
    const struct gb_vk_pipeline_slot slot = await(context, pipeline);

    if (slot.state == GB_VK_MADE) {
        *handle = slot.handle;
        return GGML_STATUS_SUCCESS;
    }
    if (slot.state == GB_VK_UNMADE)
        return gb_vk_check(context, slot.result, "vkCreateComputePipelines");
    return ggmlbackend_fail(
        GGML_STATUS_FAILED,
        "%s: shader %s cannot be compiled, and what needs it is left to "
        "others: %s", context->card->label, rows[pipeline].name,
        gb_vk_result(slot.result));
}

void
gb_vk_pipelines_free(struct gb_vk_context *context)
{
    for (int i = 0; i < GB_VK_PIPELINE_COUNT; i++)
        context->calls.DestroyPipeline(
            context->device, context->pipelines[i].handle, NULL);
    gb_vk_cache_close(context);
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
        if (gb_vk_can_use(&context->card->limits, i))
            GGML_LOG_WARN("vulkan dispatches: %s %u\n", rows[i].name,
                      atomic_load_explicit(&context->n_dispatches[i],
                                           memory_order_relaxed));
    for (int i = 0; i < GB_FUSE_PATTERN_COUNT; i++)
        GGML_LOG_WARN("vulkan groups: %s %u\n", gb_vk_fused_name(i),
                      atomic_load_explicit(&context->n_groups[i],
                                           memory_order_relaxed));
}
