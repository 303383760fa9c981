/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/estimate.h - how long a dispatch takes on a slow card of its
 * kind.
 *
 * Systems take a card for hung that is busy with one submission for seconds (2
 * s, on recent amdgpu); a submission of ours is to take a tenth of one, by this
 * estimate.
 */
#ifndef GB_VULKAN_DEVICE_ESTIMATE_H
#define GB_VULKAN_DEVICE_ESTIMATE_H

#include "backends/vulkan/device/card.h"

/* Nanoseconds of a submission at most, where dispatches can be cut. */
#define GB_VK_MOST_NS ((uint64_t)100 * 1000 * 1000)

/*
 * Nanoseconds for a dispatch of N_GROUPS work groups whose bindings show BYTES,
 * and that computes OPERATIONS besides those few that each byte takes.
 */
uint64_t gb_vk_estimate(
    const struct gb_vk_card *card, uint64_t bytes, uint64_t operations,
    int64_t n_groups);

#endif
