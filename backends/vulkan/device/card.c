/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/card.c - a physical device: what it is, and what it can do.
 */
#include "backends/vulkan/device/card.h"

#include "backends/vulkan/device/features.h"
#include "backends/vulkan/device/settings.h"
#include "backends/vulkan/ops/emit.h"

#include "ggmlbackend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a binding shows at most: offsets in it have 32 bits. */
enum { SMALL_RANGE = 1 << 20, TINY_RANGE = 16 << 10 };

/* ---- properties ---- */

/* A driver that knows no number of a GPU writes zeros, which stand for none. */
static void
write_uuid(char *text, size_t size, const uint8_t *uuid)
{
    static const uint8_t none[VK_UUID_SIZE];
    size_t at;

    text[0] = '\0';
    if (memcmp(uuid, none, sizeof(none)) == 0)
        return;
    at = (size_t)snprintf(text, size, "GPU-");
    for (unsigned i = 0; i < VK_UUID_SIZE; i++) {
        const bool has_dash = i == 4 || i == 6 || i == 8 || i == 10;

        at += (size_t)snprintf(text + at, size - at, "%s%02x",
                               has_dash ? "-" : "", uuid[i]);
    }
}

static void
read_limits(struct gb_vk_card *card, const VkPhysicalDeviceLimits *limits,
            const VkPhysicalDeviceMaintenance3Properties *allocation)
{
    const size_t range = limits->maxStorageBufferRange & ~(size_t)3;
    const size_t most = allocation->maxMemoryAllocationSize > SIZE_MAX / 2
                            ? SIZE_MAX / 2
                            : (size_t)allocation->maxMemoryAllocationSize;

    card->limits.range = gb_vk_test_has("tiny-range")    ? TINY_RANGE
                         : gb_vk_test_has("small-range") ? SMALL_RANGE
                                                         : range;
    card->limits.threads = limits->maxComputeWorkGroupInvocations;
    if (card->limits.threads > limits->maxComputeWorkGroupSize[0])
        card->limits.threads = limits->maxComputeWorkGroupSize[0];
    card->most_groups[0] = limits->maxComputeWorkGroupCount[0];
    card->most_groups[1] = limits->maxComputeWorkGroupCount[1];
    card->alignment = (size_t)limits->minStorageBufferOffsetAlignment;
    if (card->alignment < 4)
        card->alignment = 4;
    card->most_allocation =
        gb_vk_setting_bytes("GGML_VK_FORCE_MAX_ALLOCATION_SIZE", most);
    if (card->most_allocation > most)
        card->most_allocation = most;
    card->most_buffer = gb_vk_setting_bytes("GGML_VK_SUBALLOCATION_BLOCK_SIZE",
                                            card->most_allocation);
    if (card->most_buffer > card->most_allocation)
        card->most_buffer = card->most_allocation;
}

static void
read_key(struct gb_vk_cache_key *key,
         const VkPhysicalDeviceProperties *properties,
         const VkPhysicalDeviceIDProperties *id)
{
    *key = (struct gb_vk_cache_key){
        .vendor = properties->vendorID,
        .device = properties->deviceID,
        .driver = properties->driverVersion,
    };
    memcpy(key->device_uuid, id->deviceUUID, GB_VK_UUID);
    memcpy(key->cache_uuid, properties->pipelineCacheUUID, GB_VK_UUID);
    snprintf(key->version, sizeof(key->version), "%s", ggmlbackend_version());
}

static VkPhysicalDeviceProperties
read_properties(struct gb_vk_card *card, const struct gb_vk_extensions *extensions)
{
    VkPhysicalDevicePCIBusInfoPropertiesEXT pci = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT,
    };
    VkPhysicalDeviceMaintenance3Properties allocation = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES,
    };
    VkPhysicalDeviceIDProperties id = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES,
        .pNext = &allocation,
    };
    VkPhysicalDeviceDriverProperties driver = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES,
        .pNext = &id,
    };
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = &driver,
    };
    const bool has_pci =
        gb_vk_extensions_have(extensions, VK_EXT_PCI_BUS_INFO_EXTENSION_NAME);

    if (has_pci)
        allocation.pNext = &pci;
    card->instance->calls.GetPhysicalDeviceProperties2(card->physical,
                                                       &properties);
    snprintf(card->name, sizeof(card->name), "%s",
             properties.properties.deviceName);
    snprintf(card->driver_text, sizeof(card->driver_text), "%s %s",
             driver.driverName, driver.driverInfo);
    write_uuid(card->uuid_text, sizeof(card->uuid_text), id.deviceUUID);
    if (has_pci)
        snprintf(card->pci, sizeof(card->pci), "%04x:%02x:%02x.%x",
                 pci.pciDomain & 0xffff, pci.pciBus & 0xff,
                 pci.pciDevice & 0xff, pci.pciFunction & 0xf);
    card->type = properties.properties.deviceType;
    card->driver = driver.driverID;
    read_key(&card->cache_key, &properties.properties, &id);
    read_limits(card, &properties.properties.limits, &allocation);
    return properties.properties;
}

/* Streaming multiprocessors of NVIDIA's, compute units of AMD's.  Other drivers do
 * not say. */
static void
read_cores(struct gb_vk_card *card, const struct gb_vk_extensions *extensions)
{
    VkPhysicalDeviceShaderCorePropertiesAMD amd = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD,
    };
    VkPhysicalDeviceShaderSMBuiltinsPropertiesNV nv = {
        .sType =
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV,
    };
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
    };

    if (gb_vk_extensions_have(extensions,
                              VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME))
        properties.pNext = &nv;
    else if (gb_vk_extensions_have(extensions,
                                   VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME))
        properties.pNext = &amd;
    else
        return;
    card->instance->calls.GetPhysicalDeviceProperties2(card->physical,
                                                       &properties);
    card->cores = nv.shaderSMCount + amd.shaderEngineCount *
                                         amd.shaderArraysPerEngineCount *
                                         amd.computeUnitsPerShaderArray;
}

/* ---- memory of the host ---- */

bool
gb_vk_card_is_shared(const struct gb_vk_card *card)
{
    return card->type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU ||
           card->type == VK_PHYSICAL_DEVICE_TYPE_CPU ||
           gb_vk_setting("GGML_VK_PREFER_HOST_MEMORY") != NULL;
}

/* Can a buffer for shaders lie in it? */
static bool
can_import(const struct gb_vk_card *card)
{
    const VkPhysicalDeviceExternalBufferInfo info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                 VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
    };
    VkExternalBufferProperties properties = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES,
    };

    card->instance->calls.GetPhysicalDeviceExternalBufferProperties(
        card->physical, &info, &properties);
    return (properties.externalMemoryProperties.externalMemoryFeatures &
            VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT) != 0;
}

/* Pages that hold a byte of the client's are mapped as a whole, so a unit that is
 * no larger can be made up on either side. */
static void
read_import_unit(struct gb_vk_card *card,
                 const struct gb_vk_extensions *extensions)
{
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT host = {
        .sType =
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT,
    };
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = &host,
    };
    const long page = sysconf(_SC_PAGESIZE);

    if (!gb_vk_extensions_have(extensions,
                               VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME) ||
        gb_vk_test_has("no-import") || !can_import(card))
        return;
    card->instance->calls.GetPhysicalDeviceProperties2(card->physical,
                                                       &properties);
    if (page > 0 && host.minImportedHostPointerAlignment > 0 &&
        (size_t)page % host.minImportedHostPointerAlignment == 0)
        card->import_unit = (size_t)page;
}

/* ---- queues ---- */

enum { MAX_FAMILIES = 16 };

/* One that copies and does nothing else, so that it does so beside shaders; else
 * that which computes. */
static void
choose_copy_queue(struct gb_vk_card *card,
                  const VkQueueFamilyProperties *families, uint32_t n)
{
    const VkQueueFlags only =
        VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT;

    card->copy_family = card->family;
    if (gb_vk_test_has("no-transfer"))
        return;
    for (uint32_t i = 0; i < n; i++) {
        const VkQueueFlags flags = families[i].queueFlags;

        if ((flags & VK_QUEUE_TRANSFER_BIT) != 0 && (flags & ~only) == 0 &&
            families[i].queueCount > 0) {
            card->copy_family = i;
            return;
        }
    }
    card->waits_always = gb_vk_test_has("transfer");
    if (card->waits_always && families[card->family].queueCount > 1)
        card->copy_queue = 1;
}

/* One that computes and, where there is a choice, draws nothing. */
static bool
choose_family(struct gb_vk_card *card)
{
    VkQueueFamilyProperties families[MAX_FAMILIES];
    uint32_t n = MAX_FAMILIES;
    int best = -1, best_score = -1;

    card->instance->calls.GetPhysicalDeviceQueueFamilyProperties(
        card->physical, &n, families);
    for (uint32_t i = 0; i < n; i++) {
        const VkQueueFlags flags = families[i].queueFlags;
        const int score = (flags & VK_QUEUE_GRAPHICS_BIT) == 0;

        if ((flags & VK_QUEUE_COMPUTE_BIT) == 0 ||
            families[i].queueCount == 0 || score <= best_score)
            continue;
        best = (int)i;
        best_score = score;
    }
    if (best < 0)
        return false;
    card->family = (uint32_t)best;
    choose_copy_queue(card, families, n);
    return true;
}

/* ---- memory ---- */

static VkPhysicalDeviceMemoryProperties
read_memory(const struct gb_vk_card *card,
            VkPhysicalDeviceMemoryBudgetPropertiesEXT *budget)
{
    VkPhysicalDeviceMemoryProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2,
        .pNext = card->has_budget ? budget : NULL,
    };

    card->instance->calls.GetPhysicalDeviceMemoryProperties2(card->physical,
                                                             &properties);
    return properties.memoryProperties;
}

/* No more than GGMLBACKEND_GPU_MEMORY has, of which TAKEN bytes are taken. */
static void
limit_memory(size_t taken, size_t *free, size_t *total)
{
    const size_t most =
        gb_vk_setting_bytes("GGMLBACKEND_GPU_MEMORY", SIZE_MAX);
    const size_t left = taken < most ? most - taken : 0;

    if (*total > most)
        *total = most;
    if (*free > left)
        *free = left;
}

void
gb_vk_card_memory(struct gb_vk_card *card, size_t *free, size_t *total)
{
    VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT,
    };
    const VkPhysicalDeviceMemoryProperties memory = read_memory(card, &budget);
    size_t taken;

    *free = *total = 0;
    for (uint32_t i = 0; i < memory.memoryHeapCount; i++) {
        const size_t size = (size_t)memory.memoryHeaps[i].size;
        const size_t most = card->has_budget &&
                                    budget.heapBudget[i] < size
                                ? (size_t)budget.heapBudget[i] : size;
        const size_t used =
            card->has_budget ? (size_t)budget.heapUsage[i] : 0;

        if ((memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) == 0)
            continue;
        *total += size;
        *free += used < most ? most - used : 0;
    }
    pthread_mutex_lock(&card->lock);
    taken = card->taken;
    pthread_mutex_unlock(&card->lock);
    if (!card->has_budget)
        *free -= taken < *free ? taken : *free;
    limit_memory(taken, free, total);
}

/* ---- the card ---- */

struct gb_vk_limits
gb_vk_card_limits(const struct gb_vk_card *card)
{
    struct gb_vk_limits limits = card->limits;

    limits.has_broken =
        atomic_load_explicit(&card->has_broken, memory_order_acquire);
    for (int i = 0; limits.has_broken && i < GB_VK_PIPELINE_WORDS; i++)
        limits.broken[i] =
            atomic_load_explicit(&card->broken[i], memory_order_relaxed);
    return limits;
}

/* Does a shader of ours have what it takes?  Else the reason is written. */
static bool
has_room(const struct gb_vk_card *card, const VkPhysicalDeviceLimits *limits,
         char *reason, size_t size)
{
    const struct {
        const char *what;
        uint32_t has, needed;
    } rows[] = {
        { "invocations in a work group", card->limits.threads, 256 },
        { "storage buffers in a shader",
          limits->maxPerStageDescriptorStorageBuffers, GB_VK_MAX_BINDINGS },
        { "bytes of push constants", limits->maxPushConstantsSize,
          GB_VK_MAX_PARAMS },
        { "bytes of shared memory", limits->maxComputeSharedMemorySize, 16384 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].has >= rows[i].needed)
            continue;
        snprintf(reason, size, "%s: it has at most %u %s, and %u are needed",
                 card->name, rows[i].has, rows[i].what, rows[i].needed);
        return false;
    }
    return true;
}

bool
gb_vk_card_init(
    struct gb_vk_card *card, const struct gb_vk_instance *instance,
    VkPhysicalDevice physical, char *reason, size_t size)
{
    VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT,
    };
    struct gb_vk_extensions extensions;
    VkPhysicalDeviceProperties properties;
    bool has_timeline;

    card->instance = instance;
    card->physical = physical;
    extensions = gb_vk_extensions_list(instance, physical);
    card->has_budget =
        gb_vk_extensions_have(&extensions, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
    card->has_push =
        gb_vk_extensions_have(&extensions, VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME) &&
        !gb_vk_test_has("no-push");
    card->fuses = gb_vk_setting_is_on("GGMLBACKEND_GPU_FUSE");
    properties = read_properties(card, &extensions);
    has_timeline = gb_vk_features_read(card, &extensions);
    read_import_unit(card, &extensions);
    read_cores(card, &extensions);
    free(extensions.items);
    card->memory = read_memory(card, &budget);
    if (properties.apiVersion < VK_API_VERSION_1_2) {
        snprintf(reason, size, "%s: it has Vulkan %u.%u, and 1.2 is needed",
                 card->name, VK_API_VERSION_MAJOR(properties.apiVersion),
                 VK_API_VERSION_MINOR(properties.apiVersion));
        return false;
    }
    if (!has_timeline) {
        snprintf(reason, size, "%s: it has no timeline semaphores",
                 card->name);
        return false;
    }
    if (!choose_family(card)) {
        snprintf(reason, size, "%s: it has no queue that computes", card->name);
        return false;
    }
    if (!has_room(card, &properties.limits, reason, size))
        return false;
    pthread_mutex_init(&card->lock, NULL);
    atomic_flag_clear_explicit(&card->has_told, memory_order_relaxed);
    return true;
}
