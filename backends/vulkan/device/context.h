/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/context.h - a card's logical device: there as long as something
 * of ours lies on the card.
 *
 * All that is asked of a card goes through one queue, in one order, and each
 * submission counts its timeline up by one: work is done when the timeline has
 * reached its number.
 */
#ifndef GB_VULKAN_DEVICE_CONTEXT_H
#define GB_VULKAN_DEVICE_CONTEXT_H

#include "backends/vulkan/device/card.h"
#include "backends/vulkan/ops/emit.h"

#include "lib/fuse/fuse.h"

#include <sys/types.h>

struct gb_vk_tables;
struct gb_vk_transfer;

/* A pipeline, made on first use. */
struct gb_vk_pipeline_slot {
    enum { GB_VK_UNMADE, GB_VK_BUSY, GB_VK_MADE, GB_VK_BROKEN } state;
    VkPipeline handle;
    VkResult result;  /* of the last trial */
    int n_shortages;  /* of those who wanted it and found no memory */
};

struct gb_vk_context {
    struct gb_vk_card *card;
    VkDevice device;
    struct gb_vk_device_calls calls;
    pid_t process; /* that made it: a forked one cannot use it */

    pthread_mutex_t queue_lock; /* of the queue and of the number */
    VkQueue queue;
    VkSemaphore timeline;
    uint64_t submitted; /* the number of the last submission */
    atomic_bool is_stuck; /* what runs does not end: nothing can be given back */

    /* By the number of bindings. */
    VkDescriptorSetLayout sets[GB_VK_MAX_BINDINGS + 1];
    VkPipelineLayout layouts[GB_VK_MAX_BINDINGS + 1];

    pthread_mutex_t pipeline_lock; /* of what follows */
    pthread_cond_t pipeline_settled;
    struct gb_vk_pipeline_slot pipelines[GB_VK_PIPELINE_COUNT];
    int n_made;
    bool has_cache;        /* or it was found that there shall be none */
    VkPipelineCache cache; /* filled with the first pipeline */
    size_t cache_size;     /* bytes that the file had of it */
    atomic_uint n_dispatches[GB_VK_PIPELINE_COUNT]; /* for tests */
    atomic_uint n_groups[GB_FUSE_PATTERN_COUNT];    /* the same */

    pthread_mutex_t transfer_lock;
    struct gb_vk_transfer *transfer; /* made on first use */

    pthread_mutex_t tables_lock;
    struct gb_vk_tables *tables; /* made on first use */
};

/* Who holds a card's context; all zero for nobody. */
struct gb_vk_hold {
    struct gb_vk_context *context;
};

/*
 * Hold CARD's context, which comes with the first.  A card that was lost is
 * refused while somebody holds what lay on it; afterwards it begins anew.  Any
 * thread.
 */
enum ggml_status gb_vk_hold(struct gb_vk_card *card, struct gb_vk_hold *hold);

/* The context goes with the last.  Nothing for nobody's.  Any thread. */
void gb_vk_release(struct gb_vk_hold *hold);

/* Can something of a context's be given back?  Not in a forked process, and not
 * while the card works on and on. */
bool gb_vk_is_own(const struct gb_vk_context *context);

/* False, with the reason told, in a forked process and for a card that was
 * lost. */
bool gb_vk_is_usable(const struct gb_vk_context *context);

/*
 * The status of the call that gave RESULT.  A failure is told with the call's
 * name; but for memory that is exhausted it has the card failed.
 */
enum ggml_status gb_vk_check(
    struct gb_vk_context *context, VkResult result, const char *call);

/* GB_VK(context, CreateSemaphore, (context->device, …)) */
#define GB_VK(context, call, arguments) \
    gb_vk_check(context, (context)->calls.call arguments, "vk" #call)

/* Returns the status of a call, unless it is success. */
#define GB_VK_TRY(context, call, arguments)                                \
    do {                                                                   \
        const enum ggml_status gb_status = GB_VK(context, call, arguments); \
                                                                           \
        if (gb_status != GGML_STATUS_SUCCESS)                              \
            return gb_status;                                              \
    } while (0)

/* COMMANDS for the card's queue, which are POOL's and go with it.  Also after a
 * failure POOL is to be destroyed, if it is there. */
enum ggml_status gb_vk_commands_new(
    struct gb_vk_context *context, VkCommandPool *pool,
    VkCommandBuffer *commands);

/*
 * Submit COMMANDS behind all that was submitted before; *NUMBER is what the
 * timeline has reached when they are done.  Any thread.
 */
enum ggml_status gb_vk_submit(
    struct gb_vk_context *context, VkCommandBuffer commands, uint64_t *number);

/* The same for N of them, one after the other. */
enum ggml_status gb_vk_submit_all(
    struct gb_vk_context *context, const VkCommandBuffer *commands, uint32_t n,
    uint64_t *number);

/* How far the timeline is; 0 where the card does not say. */
uint64_t gb_vk_reached(struct gb_vk_context *context);

/* Wait until the timeline has reached NUMBER.  A card that does not get on for a
 * minute is lost, one of software for ten. */
enum ggml_status gb_vk_wait(struct gb_vk_context *context, uint64_t number);

/* Wait for all that was submitted, without a word, also where the card has
 * failed: memory that it uses may go afterwards. */
void gb_vk_drain(struct gb_vk_context *context);

#endif
