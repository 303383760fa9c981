/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/card.h - a physical device: what it is, and what it can do.
 *
 * Nothing is made on it to know this.
 */
#ifndef GB_VULKAN_DEVICE_CARD_H
#define GB_VULKAN_DEVICE_CARD_H

#include "backends/vulkan/device/cachefile.h"
#include "backends/vulkan/device/instance.h"
#include "backends/vulkan/ops/limits.h"

#include "ggml.h"

#include <pthread.h>
#include <stdatomic.h>

struct gb_vk_context;

struct gb_vk_card {
    const struct gb_vk_instance *instance;
    VkPhysicalDevice physical;
    char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
    char label[24];       /* in messages: "vulkan 0" */
    char driver_text[VK_MAX_DRIVER_NAME_SIZE + VK_MAX_DRIVER_INFO_SIZE + 2];
    char uuid_text[48];   /* "GPU-…", as NVIDIA's tools write it; "" where there is
                           * none */
    char pci[16];         /* "" where it is not known */
    VkPhysicalDeviceType type;
    VkPhysicalDeviceMemoryProperties memory;
    struct gb_vk_limits limits;
    uint32_t features;      /* GB_VK_HAS_…, used or not */
    VkDriverId driver;
    uint32_t cores;         /* that run work groups; 0 where it is not known */
    struct gb_vk_cache_key cache_key;
    uint32_t family;        /* of queues that compute */
    uint32_t copy_family;   /* of the queue that copies, and its number there */
    uint32_t copy_queue;
    bool waits_always;      /* of two queues that are one, too: for tests */
    uint32_t most_groups[2];
    size_t alignment;       /* of what bindings show: a power of two */
    size_t most_allocation; /* bytes of one allocation, and of a buffer */
    bool has_budget;        /* VK_EXT_memory_budget */
    bool has_push;          /* VK_KHR_push_descriptor */
    bool fuses;             /* are groups of nodes computed together? */
    size_t most_buffer;     /* bytes that a buffer type says a buffer may have */
    size_t import_unit;     /* of addresses and sizes of the host's memory that it
                             * can use; 0: it can use none */

    pthread_mutex_t lock;          /* of what follows */
    struct gb_vk_context *context; /* NULL while nobody holds it */
    int n_holds;
    size_t taken;                  /* bytes of device memory */
    atomic_flag has_told;          /* that its own memory is exhausted */
    atomic_bool has_failed;        /* was lost; until nobody holds it any more */

    /* Pipelines that the driver cannot make, for as long as the process lives. */
    atomic_bool has_broken;
    atomic_uint broken[GB_VK_PIPELINE_WORDS];
};

/*
 * Ask what PHYSICAL is.  False, with the reason in REASON, of SIZE bytes, for a
 * device that cannot be used.
 */
bool gb_vk_card_init(
    struct gb_vk_card *card, const struct gb_vk_instance *instance,
    VkPhysicalDevice physical, char *reason, size_t size);

/* CARD's limits, with the pipelines that are broken by now.  Any thread. */
struct gb_vk_limits gb_vk_card_limits(const struct gb_vk_card *card);

/* Bytes of memory that is the card's own: its drivers' word of what may be
 * taken, where there is one, and no more than GGMLBACKEND_GPU_MEMORY. */
void gb_vk_card_memory(struct gb_vk_card *card, size_t *free, size_t *total);

/* Is its memory the host's as well, so that it reads that at full speed? */
bool gb_vk_card_is_shared(const struct gb_vk_card *card);

#endif
