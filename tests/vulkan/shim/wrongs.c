/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shim/wrongs.c - what validation layers have to find, so that tests know
 * that their silence means something.
 *
 * Of GGMLBACKEND_TEST_VK_LIMITS, "beyond:N" adds N to the first word of push
 * constants, which says how many bytes behind the begin of its binding operand 0
 * begins; "loose" leaves barriers out.
 */
#include "tests/vulkan/shim/changes.h"

#include "tests/vulkan/shim/live.h"
#include "tests/vulkan/shim/settings.h"

#include <string.h>

static uint64_t beyond;

static void VKAPI_PTR
push(VkCommandBuffer commands, VkPipelineLayout layout,
     VkShaderStageFlags stages, uint32_t offset, uint32_t size,
     const void *values)
{
    uint32_t words[32];

    if (offset != 0 || size < sizeof(words[0]) || size > sizeof(words)) {
        shim_report("push constants that the shim does not know");
        return;
    }
    memcpy(words, values, size);
    words[0] += (uint32_t)beyond;
    shim_driver.CmdPushConstants(commands, layout, stages, 0, size, words);
}

static void VKAPI_PTR
no_barrier(VkCommandBuffer commands, VkPipelineStageFlags from,
           VkPipelineStageFlags to, VkDependencyFlags flags, uint32_t n,
           const VkMemoryBarrier *barriers, uint32_t n_buffers,
           const VkBufferMemoryBarrier *buffers, uint32_t n_images,
           const VkImageMemoryBarrier *images)
{
    (void)commands, (void)from, (void)to, (void)flags;
    (void)n, (void)barriers, (void)n_buffers, (void)buffers;
    (void)n_images, (void)images;
}

void
shim_wrongs_init(void)
{
    uint64_t loose;

    if (shim_is_null())
        return;
    if (shim_limit("beyond", &beyond))
        shim_override(SHIM_CmdPushConstants, (PFN_vkVoidFunction)push);
    if (shim_limit("loose", &loose))
        shim_override(SHIM_CmdPipelineBarrier, (PFN_vkVoidFunction)no_barrier);
}
