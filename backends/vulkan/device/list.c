/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/list.c - submissions and barriers as lines for people and
 * scripts: as warnings, which programs show.
 */
#include "backends/vulkan/device/list.h"

#include "backends/vulkan/device/pipeline.h"
#include "backends/vulkan/device/settings.h"

#include "ggml-impl.h"

bool
gb_vk_lists(void)
{
    return gb_vk_test_has("list");
}

void
gb_vk_list_submission(
    const struct gb_vk_context *context,
    const struct gb_vk_submission *submission)
{
    GGML_LOG_WARN("%s: vulkan submission %llu: %d command buffers, %d recorded "
                  "for it, %d dispatches, %d barriers, %.3f ms by estimate\n",
                  context->card->label,
                  (unsigned long long)submission->number,
                  submission->n_commands, submission->n_recorded,
                  submission->n_dispatches, submission->n_barriers,
                  (double)submission->ns / 1e6);
}

/* The name of the node that DISPATCH is of. */
static const char *
name_of(const struct gb_vk_plan *plan, const struct gb_vk_dispatch *dispatch)
{
    return plan->cgraph != NULL ? plan->cgraph->nodes[dispatch->node]->name
                                : "no node";
}

static const char *
deed_of(const struct gb_vk_range *range)
{
    return range->is_written ? "writes" : "reads";
}

void
gb_vk_list_barrier(
    const struct gb_vk_plan *plan, const struct gb_vk_dispatch *earlier,
    const struct gb_vk_range *earlier_range, const struct gb_vk_dispatch *later,
    const struct gb_vk_range *later_range)
{
    const VkDeviceSize begin = earlier_range->begin > later_range->begin
                                   ? earlier_range->begin : later_range->begin;
    const VkDeviceSize end = earlier_range->end < later_range->end
                                 ? earlier_range->end : later_range->end;

    GGML_LOG_WARN("vulkan barrier: dispatch %td (%s, %s) %s what dispatch %td "
                  "(%s, %s) %s: bytes %llu to %llu of buffer %llx\n",
                  later - plan->dispatches, gb_vk_pipeline_name(later->pipeline),
                  name_of(plan, later), deed_of(later_range),
                  earlier - plan->dispatches,
                  gb_vk_pipeline_name(earlier->pipeline),
                  name_of(plan, earlier), deed_of(earlier_range),
                  (unsigned long long)begin, (unsigned long long)end,
                  (unsigned long long)later_range->buffer);
}
