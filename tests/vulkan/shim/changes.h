/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shim/changes.h - what stands for functions of the driver: other limits,
 * more cards, other memory and queues than there are.
 */
#ifndef GB_VULKAN_SHIM_CHANGES_H
#define GB_VULKAN_SHIM_CHANGES_H

#include "tests/vulkan/shim/shim.h"

/* Each puts its functions into shim_inner, where the environment asks for it. */
void shim_cards_init(void);
void shim_late_init(void);
void shim_limits_init(void);
void shim_memory_init(void);
void shim_queues_init(void);
void shim_wrongs_init(void);

/* The driver's device behind one that is listed; *COPY is its number among those
 * that stand for the same. */
VkPhysicalDevice shim_real(VkPhysicalDevice physical, int *copy);

/* Give COUNT of ALL, items of SIZE bytes, as Vulkan's functions do. */
VkResult shim_give(
    const void *all, uint32_t count, size_t size, uint32_t *n, void *out);

#endif
