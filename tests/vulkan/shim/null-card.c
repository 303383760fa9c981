/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shim/null-card.c - what the null driver's card is: a large one, with all
 * features, memory of its own, and a queue for copies.
 */
#include "tests/vulkan/shim/null.h"

#include <stdio.h>
#include <string.h>

#define GIB ((VkDeviceSize)1 << 30)

static char physical_device, instance; /* their addresses are the handles */

static VkResult VKAPI_PTR
create_instance(const VkInstanceCreateInfo *info,
                const VkAllocationCallbacks *own, VkInstance *out)
{
    (void)info;
    (void)own;
    *out = (VkInstance)(void *)&instance;
    return VK_SUCCESS;
}

static VkResult VKAPI_PTR
enumerate_version(uint32_t *out)
{
    *out = VK_API_VERSION_1_3;
    return VK_SUCCESS;
}

static VkResult VKAPI_PTR
enumerate_layers(uint32_t *n, VkLayerProperties *out)
{
    (void)out;
    *n = 0;
    return VK_SUCCESS;
}

static VkResult VKAPI_PTR
enumerate_instance_extensions(const char *layer, uint32_t *n,
                              VkExtensionProperties *out)
{
    (void)layer;
    (void)out;
    *n = 0;
    return VK_SUCCESS;
}

static VkResult VKAPI_PTR
enumerate_devices(VkInstance handle, uint32_t *n, VkPhysicalDevice *out)
{
    (void)handle;
    if (out != NULL && *n == 0)
        return VK_INCOMPLETE;
    if (out != NULL)
        out[0] = (VkPhysicalDevice)(void *)&physical_device;
    *n = 1;
    return VK_SUCCESS;
}

static VkResult VKAPI_PTR
enumerate_extensions(VkPhysicalDevice physical, const char *layer, uint32_t *n,
                     VkExtensionProperties *out)
{
    static const VkExtensionProperties all[] = {
        { VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, 1 },
        { VK_EXT_MEMORY_BUDGET_EXTENSION_NAME, 1 },
        { VK_EXT_PCI_BUS_INFO_EXTENSION_NAME, 2 },
        { VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME, 2 },
    };
    const uint32_t count = sizeof(all) / sizeof(all[0]);
    const uint32_t given = out == NULL || *n > count ? count : *n;

    (void)physical;
    (void)layer;
    if (out != NULL)
        memcpy(out, all, given * sizeof(all[0]));
    *n = given;
    return given < count ? VK_INCOMPLETE : VK_SUCCESS;
}

/* ---- properties ---- */

/* What a card of 2020 has. */
static void
fill_properties(VkPhysicalDeviceProperties *out)
{
    memset(out, 0, sizeof(*out));
    out->apiVersion = VK_API_VERSION_1_3;
    out->vendorID = 0x10000;
    out->deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    snprintf(out->deviceName, sizeof(out->deviceName), "null");
    out->limits = (VkPhysicalDeviceLimits){
        .maxStorageBufferRange = UINT32_MAX,
        .maxPushConstantsSize = 256,
        .maxMemoryAllocationCount = 4096,
        .maxBoundDescriptorSets = 8,
        .maxPerStageDescriptorStorageBuffers = 1 << 20,
        .maxDescriptorSetStorageBuffers = 1 << 20,
        .maxPerStageResources = 1 << 20,
        .maxComputeSharedMemorySize = 49152,
        .maxComputeWorkGroupCount = { INT32_MAX, 65535, 65535 },
        .maxComputeWorkGroupInvocations = 1024,
        .maxComputeWorkGroupSize = { 1024, 1024, 64 },
        .minMemoryMapAlignment = 64,
        .minStorageBufferOffsetAlignment = 16,
        .timestampPeriod = 1.0f,
        .timestampComputeAndGraphics = VK_TRUE,
        .nonCoherentAtomSize = 64,
    };
}

/* Structures that are chained: others stay as they are. */
static void
fill_chained(VkBaseOutStructure *at)
{
    switch ((int)at->sType) {
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES:
        memset(((VkPhysicalDeviceIDProperties *)(void *)at)->deviceUUID, 0x4e,
               VK_UUID_SIZE);
        return;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES: {
        VkPhysicalDeviceDriverProperties *driver = (void *)at;

        snprintf(driver->driverName, sizeof(driver->driverName), "null");
        snprintf(driver->driverInfo, sizeof(driver->driverInfo), "1");
        return;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES: {
        VkPhysicalDeviceMaintenance3Properties *allocation = (void *)at;

        allocation->maxPerSetDescriptors = 1 << 20;
        allocation->maxMemoryAllocationSize = 4 * GIB;
        return;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT: {
        VkPhysicalDevicePCIBusInfoPropertiesEXT *pci = (void *)at;

        pci->pciDomain = pci->pciFunction = 0;
        pci->pciBus = 0x4e;
        pci->pciDevice = 0;
        return;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES: {
        VkPhysicalDeviceSubgroupProperties *subgroup = (void *)at;

        subgroup->subgroupSize = 32;
        subgroup->supportedStages = VK_SHADER_STAGE_COMPUTE_BIT;
        subgroup->supportedOperations = 0xff;
        subgroup->quadOperationsInAllStages = VK_FALSE;
        return;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES: {
        VkPhysicalDeviceSubgroupSizeControlProperties *size = (void *)at;

        size->minSubgroupSize = size->maxSubgroupSize = 32;
        size->maxComputeWorkgroupSubgroups = 32;
        size->requiredSubgroupSizeStages = VK_SHADER_STAGE_COMPUTE_BIT;
        return;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PUSH_DESCRIPTOR_PROPERTIES_KHR:
        ((VkPhysicalDevicePushDescriptorPropertiesKHR *)(void *)at)
            ->maxPushDescriptors = 32;
        return;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT:
        ((VkPhysicalDeviceExternalMemoryHostPropertiesEXT *)(void *)at)
            ->minImportedHostPointerAlignment = 4096;
        return;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES:
        ((VkPhysicalDeviceMaintenance4Properties *)(void *)at)->maxBufferSize =
            16 * GIB;
        return;
    }
}

static void VKAPI_PTR
get_properties(VkPhysicalDevice physical, VkPhysicalDeviceProperties2 *out)
{
    (void)physical;
    fill_properties(&out->properties);
    for (VkBaseOutStructure *at = out->pNext; at != NULL; at = at->pNext)
        fill_chained(at);
}

static void VKAPI_PTR
get_features(VkPhysicalDevice physical, VkPhysicalDeviceFeatures2 *out)
{
    static const struct {
        VkStructureType type;
        size_t n; /* booleans behind its pNext */
    } rows[] = {
#define ROW(sign, name, last)                                         \
    { VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_##sign,                       \
      (offsetof(name, last) - sizeof(VkBaseOutStructure)) /           \
              sizeof(VkBool32) + 1 }
        ROW(VULKAN_1_1_FEATURES, VkPhysicalDeviceVulkan11Features,
            shaderDrawParameters),
        ROW(VULKAN_1_2_FEATURES, VkPhysicalDeviceVulkan12Features,
            subgroupBroadcastDynamicId),
        ROW(VULKAN_1_3_FEATURES, VkPhysicalDeviceVulkan13Features,
            maintenance4),
        ROW(16BIT_STORAGE_FEATURES, VkPhysicalDevice16BitStorageFeatures,
            storageInputOutput16),
        ROW(8BIT_STORAGE_FEATURES, VkPhysicalDevice8BitStorageFeatures,
            storagePushConstant8),
        ROW(SHADER_FLOAT16_INT8_FEATURES,
            VkPhysicalDeviceShaderFloat16Int8Features, shaderInt8),
        ROW(SHADER_INTEGER_DOT_PRODUCT_FEATURES,
            VkPhysicalDeviceShaderIntegerDotProductFeatures,
            shaderIntegerDotProduct),
        ROW(SUBGROUP_SIZE_CONTROL_FEATURES,
            VkPhysicalDeviceSubgroupSizeControlFeatures, computeFullSubgroups),
        ROW(BUFFER_DEVICE_ADDRESS_FEATURES,
            VkPhysicalDeviceBufferDeviceAddressFeatures,
            bufferDeviceAddressMultiDevice),
        ROW(TIMELINE_SEMAPHORE_FEATURES,
            VkPhysicalDeviceTimelineSemaphoreFeatures, timelineSemaphore),
#undef ROW
    };
    VkBool32 *all = (VkBool32 *)&out->features;

    (void)physical;
    for (size_t i = 0; i < sizeof(out->features) / sizeof(*all); i++)
        all[i] = VK_TRUE;
    for (VkBaseOutStructure *at = out->pNext; at != NULL; at = at->pNext)
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
            for (size_t k = 0; rows[i].type == at->sType && k < rows[i].n; k++)
                ((VkBool32 *)(at + 1))[k] = VK_TRUE;
}

static void VKAPI_PTR
get_memory(VkPhysicalDevice physical, VkPhysicalDeviceMemoryProperties2 *out)
{
    enum {
        LOCAL = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
        SHARED = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                 VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
        CACHED = VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
    };

    (void)physical;
    out->memoryProperties = (VkPhysicalDeviceMemoryProperties){
        .memoryTypeCount = NULL_TYPES,
        .memoryTypes = {
            [NULL_TYPE_LOCAL] = { LOCAL, 0 },
            [NULL_TYPE_HOST] = { SHARED | CACHED, 1 },
            [NULL_TYPE_BAR] = { LOCAL | SHARED, 2 },
        },
        .memoryHeapCount = 3,
        .memoryHeaps = {
            { 16 * GIB, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT },
            { 32 * GIB, 0 },
            { GIB / 4, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT },
        },
    };
    for (VkBaseOutStructure *at = out->pNext; at != NULL; at = at->pNext) {
        VkPhysicalDeviceMemoryBudgetPropertiesEXT *budget = (void *)at;

        if (at->sType !=
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT)
            continue;
        memset(budget->heapUsage, 0, sizeof(budget->heapUsage));
        for (int i = 0; i < 3; i++)
            budget->heapBudget[i] = out->memoryProperties.memoryHeaps[i].size;
    }
}

static void VKAPI_PTR
get_families(VkPhysicalDevice physical, uint32_t *n,
             VkQueueFamilyProperties *out)
{
    static const VkQueueFamilyProperties all[] = {
        { VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT,
          1, 64, { 1, 1, 1 } },
        { VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT, 2, 64, { 1, 1, 1 } },
        { VK_QUEUE_TRANSFER_BIT, 1, 64, { 1, 1, 1 } },
    };
    const uint32_t count = sizeof(all) / sizeof(all[0]);
    const uint32_t given = out == NULL || *n > count ? count : *n;

    (void)physical;
    if (out != NULL)
        memcpy(out, all, given * sizeof(all[0]));
    *n = given;
}

static void VKAPI_PTR
get_external(VkPhysicalDevice physical,
             const VkPhysicalDeviceExternalBufferInfo *info,
             VkExternalBufferProperties *out)
{
    (void)physical;
    out->externalMemoryProperties = (VkExternalMemoryProperties){
        .externalMemoryFeatures = VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT,
        .compatibleHandleTypes = info->handleType,
    };
}

void
shim_null_card(void)
{
    shim_driver.CreateInstance = create_instance;
    shim_driver.EnumerateInstanceVersion = enumerate_version;
    shim_driver.EnumerateInstanceLayerProperties = enumerate_layers;
    shim_driver.EnumerateInstanceExtensionProperties =
        enumerate_instance_extensions;
    shim_driver.EnumeratePhysicalDevices = enumerate_devices;
    shim_driver.EnumerateDeviceExtensionProperties = enumerate_extensions;
    shim_driver.GetPhysicalDeviceProperties2 = get_properties;
    shim_driver.GetPhysicalDeviceFeatures2 = get_features;
    shim_driver.GetPhysicalDeviceMemoryProperties2 = get_memory;
    shim_driver.GetPhysicalDeviceQueueFamilyProperties = get_families;
    shim_driver.GetPhysicalDeviceExternalBufferProperties = get_external;
}
