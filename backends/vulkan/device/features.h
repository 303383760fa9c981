/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/features.h - what a device can do beyond what each can: the rows
 * of ops/features.def.
 */
#ifndef GB_VULKAN_DEVICE_FEATURES_H
#define GB_VULKAN_DEVICE_FEATURES_H

#include "backends/vulkan/device/card.h"
#include "backends/vulkan/device/extensions.h"
#include "backends/vulkan/driver/later.h"

enum { GB_VK_FEATURE_EXTENSIONS = 3 };

/* What vkCreateDevice is asked for; it points into itself. */
struct gb_vk_features {
    VkPhysicalDeviceVulkan12Features v12;
    VkPhysicalDeviceVulkan11Features v11;
    VkPhysicalDeviceSubgroupSizeControlFeatures subgroups;
    VkPhysicalDeviceShaderIntegerDotProductFeatures dot;
    VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrices;
    void *chain; /* all that is there of them */
    const char *extensions[GB_VK_FEATURE_EXTENSIONS];
    uint32_t n_extensions;
};

/*
 * Ask what CARD, which has EXTENSIONS, can do: its limits' features and subgroup
 * are set, without what tests and the environment take away.  False: it has no
 * timeline semaphores, which each device needs.
 */
bool gb_vk_features_read(
    struct gb_vk_card *card, const struct gb_vk_extensions *extensions);

/* Ask for what CARD's limits say, and for timeline semaphores. */
void gb_vk_features_want(
    const struct gb_vk_card *card, struct gb_vk_features *wanted);

/* "subgroup 8, f16": of the bits FEATURES; "" where there are none. */
void gb_vk_features_write(
    const struct gb_vk_card *card, uint32_t features, char *text, size_t size);

#endif
