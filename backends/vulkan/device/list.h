/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/list.h - submissions and barriers as lines for people and
 * scripts, where GGMLBACKEND_VULKAN_TEST has the word list.
 */
#ifndef GB_VULKAN_DEVICE_LIST_H
#define GB_VULKAN_DEVICE_LIST_H

#include "backends/vulkan/device/plan.h"

/* A submission, and how many of its command buffers were recorded for it. */
struct gb_vk_submission {
    uint64_t number, ns; /* estimated */
    int n_commands, n_recorded, n_dispatches, n_barriers;
};

/* Does the environment have the word? */
bool gb_vk_lists(void);

void gb_vk_list_submission(
    const struct gb_vk_context *context,
    const struct gb_vk_submission *submission);

/* The barrier that LATER needs since it does to LATER_RANGE what EARLIER's
 * EARLIER_RANGE forbids. */
void gb_vk_list_barrier(
    const struct gb_vk_plan *plan, const struct gb_vk_dispatch *earlier,
    const struct gb_vk_range *earlier_range, const struct gb_vk_dispatch *later,
    const struct gb_vk_range *later_range);

#endif
