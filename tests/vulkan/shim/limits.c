/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shim/limits.c - limits, extensions and features other than the driver's.
 *
 * GGMLBACKEND_TEST_VK_LIMITS has NAME:VALUE for each row of limits[], besides what
 * memory.c, queues.c and wrongs.c take.
 */
#include "tests/vulkan/shim/changes.h"

#include "tests/vulkan/shim/settings.h"

#include <stdlib.h>
#include <string.h>

/* ---- limits ---- */

struct limit {
    const char *name;
    int type; /* of the chained structure; 0: the properties themselves */
    size_t offset;
    size_t size;
};

#define MEMBER(type, member) \
    offsetof(type, member), sizeof(((type *)NULL)->member)
#define BASE(name, member) { name, 0, MEMBER(VkPhysicalDeviceProperties2, properties.member) },
#define LIMIT(name, member) BASE(name, limits.member)
#define CHAINED(name, sign, type, member) \
    { name, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_##sign##_PROPERTIES, MEMBER(type, member) },

static const struct limit limits[] = {
    BASE("version", apiVersion)
    BASE("type", deviceType)
    LIMIT("range", maxStorageBufferRange)
    LIMIT("push", maxPushConstantsSize)
    LIMIT("shared", maxComputeSharedMemorySize)
    LIMIT("alignment", minStorageBufferOffsetAlignment)
    LIMIT("bindings", maxPerStageDescriptorStorageBuffers)
    LIMIT("invocations", maxComputeWorkGroupInvocations)
    LIMIT("group", maxComputeWorkGroupSize[0])
    LIMIT("groups", maxComputeWorkGroupCount[0])
    LIMIT("groups-y", maxComputeWorkGroupCount[1])
    LIMIT("allocations", maxMemoryAllocationCount)
    CHAINED("allocation", MAINTENANCE_3, VkPhysicalDeviceMaintenance3Properties, maxMemoryAllocationSize)
    CHAINED("allocation", VULKAN_1_1, VkPhysicalDeviceVulkan11Properties, maxMemoryAllocationSize)
    CHAINED("buffer", MAINTENANCE_4, VkPhysicalDeviceMaintenance4Properties, maxBufferSize)
    CHAINED("subgroup", SUBGROUP, VkPhysicalDeviceSubgroupProperties, subgroupSize)
    CHAINED("subgroup", VULKAN_1_1, VkPhysicalDeviceVulkan11Properties, subgroupSize)
    CHAINED("operations", SUBGROUP, VkPhysicalDeviceSubgroupProperties, supportedOperations)
    CHAINED("operations", VULKAN_1_1, VkPhysicalDeviceVulkan11Properties, subgroupSupportedOperations)
    CHAINED("subgroup-least", SUBGROUP_SIZE_CONTROL, VkPhysicalDeviceSubgroupSizeControlProperties,
            minSubgroupSize)
    CHAINED("subgroup-most", SUBGROUP_SIZE_CONTROL, VkPhysicalDeviceSubgroupSizeControlProperties,
            maxSubgroupSize)
    { "import", VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT,
      MEMBER(VkPhysicalDeviceExternalMemoryHostPropertiesEXT, minImportedHostPointerAlignment) },
};

static void
change(const struct limit *limit, void *structure)
{
    void *member = (char *)structure + limit->offset;
    uint64_t value;
    uint32_t word;

    if (!shim_limit(limit->name, &value))
        return;
    word = (uint32_t)value;
    if (limit->size == sizeof(value))
        memcpy(member, &value, sizeof(value));
    else
        memcpy(member, &word, sizeof(word));
}

/* Copies of a device have UUIDs of their own, or none of them has one. */
static void
rename_uuid(uint8_t *uuid, int copy)
{
    if (shim_is_without("any-uuid"))
        memset(uuid, 0, VK_UUID_SIZE);
    else
        uuid[15] ^= (uint8_t)copy;
}

/* Copies of a device are told apart by what cards have of their own. */
static void
rename_copy(VkBaseOutStructure *at, int copy)
{
    switch ((int)at->sType) {
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES:
        rename_uuid(((VkPhysicalDeviceIDProperties *)(void *)at)->deviceUUID, copy);
        return;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES:
        rename_uuid(((VkPhysicalDeviceVulkan11Properties *)(void *)at)->deviceUUID,
                    copy);
        return;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT:
        ((VkPhysicalDevicePCIBusInfoPropertiesEXT *)(void *)at)->pciDevice +=
            (uint32_t)copy;
        return;
    }
}

static void VKAPI_PTR
get_properties(VkPhysicalDevice physical, VkPhysicalDeviceProperties2 *out)
{
    int copy;

    shim_driver.GetPhysicalDeviceProperties2(shim_real(physical, &copy), out);
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        if (limits[i].type == 0)
            change(&limits[i], out);
        for (VkBaseOutStructure *at = out->pNext; at != NULL; at = at->pNext)
            if ((int)at->sType == limits[i].type)
                change(&limits[i], at);
    }
    for (VkBaseOutStructure *at = out->pNext; at != NULL; at = at->pNext)
        rename_copy(at, shim_is_without("uuid") ? 0 : copy);
}

/* ---- features ---- */

struct feature {
    const char *name;
    int type;
    size_t offset;
};

#define FEATURE(sign, type, member) \
    { #member, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_##sign##_FEATURES, offsetof(type, member) },

static const struct feature features[] = {
    FEATURE(VULKAN_1_2, VkPhysicalDeviceVulkan12Features, timelineSemaphore)
    FEATURE(TIMELINE_SEMAPHORE, VkPhysicalDeviceTimelineSemaphoreFeatures, timelineSemaphore)
    FEATURE(VULKAN_1_2, VkPhysicalDeviceVulkan12Features, bufferDeviceAddress)
    FEATURE(VULKAN_1_2, VkPhysicalDeviceVulkan12Features, shaderFloat16)
    FEATURE(SHADER_FLOAT16_INT8, VkPhysicalDeviceShaderFloat16Int8Features, shaderFloat16)
    FEATURE(VULKAN_1_2, VkPhysicalDeviceVulkan12Features, shaderInt8)
    FEATURE(SHADER_FLOAT16_INT8, VkPhysicalDeviceShaderFloat16Int8Features, shaderInt8)
    FEATURE(VULKAN_1_2, VkPhysicalDeviceVulkan12Features, storageBuffer8BitAccess)
    FEATURE(8BIT_STORAGE, VkPhysicalDevice8BitStorageFeatures, storageBuffer8BitAccess)
    FEATURE(VULKAN_1_2, VkPhysicalDeviceVulkan12Features, vulkanMemoryModel)
    FEATURE(VULKAN_1_1, VkPhysicalDeviceVulkan11Features, storageBuffer16BitAccess)
    FEATURE(16BIT_STORAGE, VkPhysicalDevice16BitStorageFeatures, storageBuffer16BitAccess)
    FEATURE(VULKAN_1_3, VkPhysicalDeviceVulkan13Features, subgroupSizeControl)
    FEATURE(SUBGROUP_SIZE_CONTROL, VkPhysicalDeviceSubgroupSizeControlFeatures, subgroupSizeControl)
    FEATURE(VULKAN_1_3, VkPhysicalDeviceVulkan13Features, computeFullSubgroups)
    FEATURE(SUBGROUP_SIZE_CONTROL, VkPhysicalDeviceSubgroupSizeControlFeatures, computeFullSubgroups)
    FEATURE(VULKAN_1_3, VkPhysicalDeviceVulkan13Features, shaderIntegerDotProduct)
    FEATURE(SHADER_INTEGER_DOT_PRODUCT, VkPhysicalDeviceShaderIntegerDotProductFeatures,
            shaderIntegerDotProduct)
    FEATURE(VULKAN_1_3, VkPhysicalDeviceVulkan13Features, maintenance4)
    { "shaderInt16", VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
      offsetof(VkPhysicalDeviceFeatures2, features.shaderInt16) },
    { "shaderInt64", VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
      offsetof(VkPhysicalDeviceFeatures2, features.shaderInt64) },
};

static void VKAPI_PTR
get_features(VkPhysicalDevice physical, VkPhysicalDeviceFeatures2 *out)
{
    int copy;

    shim_driver.GetPhysicalDeviceFeatures2(shim_real(physical, &copy), out);
    for (VkBaseOutStructure *at = (void *)out; at != NULL; at = at->pNext)
        for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++)
            if ((int)at->sType == features[i].type &&
                shim_is_without(features[i].name))
                *(VkBool32 *)(void *)((char *)at + features[i].offset) =
                    VK_FALSE;
}

/* ---- extensions ---- */

static VkResult VKAPI_PTR
enumerate_extensions(VkPhysicalDevice physical, const char *layer, uint32_t *n,
                     VkExtensionProperties *out)
{
    VkExtensionProperties *all;
    uint32_t count = 0, kept = 0;
    VkResult result;
    int copy;

    physical = shim_real(physical, &copy);
    result = shim_driver.EnumerateDeviceExtensionProperties(physical, layer,
                                                            &count, NULL);
    all = result == VK_SUCCESS ? calloc(count + 1u, sizeof(*all)) : NULL;
    if (all == NULL)
        return result != VK_SUCCESS ? result : VK_ERROR_OUT_OF_HOST_MEMORY;
    result = shim_driver.EnumerateDeviceExtensionProperties(physical, layer,
                                                            &count, all);
    for (uint32_t i = 0; i < count; i++)
        if (!shim_is_without(all[i].extensionName))
            all[kept++] = all[i];
    if (result == VK_SUCCESS)
        result = shim_give(all, kept, sizeof(*all), n, out);
    free(all);
    return result;
}

void
shim_limits_init(void)
{
    shim_override(SHIM_GetPhysicalDeviceProperties2,
                  (PFN_vkVoidFunction)get_properties);
    shim_override(SHIM_GetPhysicalDeviceFeatures2,
                  (PFN_vkVoidFunction)get_features);
    shim_override(SHIM_EnumerateDeviceExtensionProperties,
                  (PFN_vkVoidFunction)enumerate_extensions);
}
