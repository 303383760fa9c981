/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/card.c - a physical device: what it is, and what it can do.
 */
#include "backends/vulkan/device/card.h"

#include "backends/vulkan/device/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a binding shows at most: offsets in it have 32 bits. */
enum { SMALL_RANGE = 1 << 20, TINY_RANGE = 16 << 10 };

/* ---- extensions ---- */

struct extensions {
    VkExtensionProperties *items;
    uint32_t n;
};

static struct extensions
list_extensions(const struct gb_vk_card *card)
{
    const struct gb_vk_instance_calls *calls = &card->instance->calls;
    struct extensions list = { NULL, 0 };

    if (calls->EnumerateDeviceExtensionProperties(card->physical, NULL, &list.n,
                                                  NULL) != VK_SUCCESS)
        return (struct extensions){ NULL, 0 };
    list.items = calloc(list.n, sizeof(*list.items));
    if (list.items == NULL ||
        calls->EnumerateDeviceExtensionProperties(card->physical, NULL, &list.n,
                                                  list.items) < VK_SUCCESS)
        list.n = 0;
    return list;
}

static bool
has_extension(const struct extensions *list, const char *name)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i].extensionName, name) == 0)
            return true;
    return false;
}

/* ---- properties ---- */

static void
write_uuid(char *text, size_t size, const uint8_t *uuid)
{
    size_t at = (size_t)snprintf(text, size, "GPU-");

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

static VkPhysicalDeviceProperties
read_properties(struct gb_vk_card *card, const struct extensions *extensions)
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
        has_extension(extensions, VK_EXT_PCI_BUS_INFO_EXTENSION_NAME);

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
    read_limits(card, &properties.properties.limits, &allocation);
    return properties.properties;
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
read_import_unit(struct gb_vk_card *card, const struct extensions *extensions)
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

    if (!has_extension(extensions, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME) ||
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

static bool
has_timeline(const struct gb_vk_card *card)
{
    VkPhysicalDeviceVulkan12Features features12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
    };
    VkPhysicalDeviceFeatures2 features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
        .pNext = &features12,
    };

    card->instance->calls.GetPhysicalDeviceFeatures2(card->physical, &features);
    return features12.timelineSemaphore;
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

bool
gb_vk_card_init(
    struct gb_vk_card *card, const struct gb_vk_instance *instance,
    VkPhysicalDevice physical, char *reason, size_t size)
{
    VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT,
    };
    struct extensions extensions;
    VkPhysicalDeviceProperties properties;

    card->instance = instance;
    card->physical = physical;
    extensions = list_extensions(card);
    card->has_budget =
        has_extension(&extensions, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
    card->has_push =
        has_extension(&extensions, VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME) &&
        !gb_vk_test_has("no-push");
    properties = read_properties(card, &extensions);
    read_import_unit(card, &extensions);
    free(extensions.items);
    card->memory = read_memory(card, &budget);
    if (properties.apiVersion < VK_API_VERSION_1_2) {
        snprintf(reason, size, "%s: it has Vulkan %u.%u, and 1.2 is needed",
                 card->name, VK_API_VERSION_MAJOR(properties.apiVersion),
                 VK_API_VERSION_MINOR(properties.apiVersion));
        return false;
    }
    if (!has_timeline(card)) {
        snprintf(reason, size, "%s: it has no timeline semaphores",
                 card->name);
        return false;
    }
    if (!choose_family(card)) {
        snprintf(reason, size, "%s: it has no queue that computes", card->name);
        return false;
    }
    if (card->limits.threads < 256) {
        snprintf(reason, size, "%s: its work groups have %u invocations at "
                 "most, and 256 are needed", card->name, card->limits.threads);
        return false;
    }
    pthread_mutex_init(&card->lock, NULL);
    atomic_flag_clear_explicit(&card->has_told, memory_order_relaxed);
    return true;
}
