/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/pinned.c - memory of the host that a card copies from and to by
 * itself, and buffers of it.
 *
 * There are few ranges of it, in one list; each holds the context of its card.
 */
#include "backends/vulkan/device/pinned.h"

#include "ggml-impl.h"

#include <stdlib.h>

struct range {
    struct range *next;
    struct gb_vk_hold hold;
    struct gb_vk_memory memory;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct range *ranges;

/* ---- the list ---- */

static void
add(struct range *range)
{
    pthread_mutex_lock(&lock);
    range->next = ranges;
    ranges = range;
    pthread_mutex_unlock(&lock);
}

/* Take the range at MEMORY out, which is there. */
static struct range *
take_out(const void *memory)
{
    struct range **at = &ranges;
    struct range *found;

    pthread_mutex_lock(&lock);
    while ((*at)->memory.mapped != memory)
        at = &(*at)->next;
    found = *at;
    *at = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

VkBuffer
gb_vk_find_pinned(
    const struct gb_vk_context *context, const void *memory, size_t size,
    size_t *offset)
{
    const uintptr_t start = (uintptr_t)memory;
    VkBuffer found = VK_NULL_HANDLE;

    pthread_mutex_lock(&lock);
    for (const struct range *r = ranges; r != NULL; r = r->next) {
        const size_t before = start - (uintptr_t)r->memory.mapped;

        if (r->hold.context == context &&
            start >= (uintptr_t)r->memory.mapped && before < r->memory.size &&
            size <= r->memory.size - before) {
            *offset = before;
            found = r->memory.buffer;
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* ---- ranges ---- */

static struct range *
range_new(struct gb_vk_card *card, size_t size)
{
    struct range *range = calloc(1, sizeof(*range));

    if (range == NULL ||
        gb_vk_hold(card, &range->hold) != GGML_STATUS_SUCCESS) {
        free(range);
        return NULL;
    }
    if (gb_vk_memory_new(range->hold.context, GB_VK_MEMORY_PINNED, size,
                         &range->memory) == GGML_STATUS_SUCCESS) {
        add(range);
        return range;
    }
    gb_vk_release(&range->hold);
    free(range);
    return NULL;
}

static void
range_free(struct range *range)
{
    struct gb_vk_context *context = range->hold.context;

    /* A copy that was queued and not waited for may use it. */
    gb_vk_drain(context);
    gb_vk_memory_free(context, &range->memory);
    gb_vk_release(&range->hold);
    free(range);
}

/* ---- buffers ---- */

static void
buffer_free(ggml_backend_buffer_t buffer)
{
    range_free(take_out(buffer->context));
}

/* For all but its type and its end it is a buffer over memory of the host,
 * whose context is that memory. */
static ggml_backend_buffer_t
alloc_pinned(ggml_backend_buffer_type_t buft, size_t size)
{
    struct gb_vk_device *device = buft->context;
    const size_t words = ((size > 0 ? size : 1) + 3) & ~(size_t)3;
    struct range *range;
    ggml_backend_buffer_t buffer;

    if (words < size || words > device->card.most_allocation)
        return NULL;
    range = range_new(&device->card, words);
    if (range == NULL)
        return NULL;
    buffer = ggml_backend_cpu_buffer_from_ptr(range->memory.mapped, size);
    if (buffer == NULL) {
        range_free(take_out(range->memory.mapped));
        return NULL;
    }
    buffer->buft = buft;
    buffer->iface.free_buffer = buffer_free;
    return buffer;
}

static void
tell_once(struct gb_vk_device *device, size_t size)
{
    if (!atomic_flag_test_and_set_explicit(&device->has_told_host,
                                           memory_order_relaxed))
        GGML_LOG_WARN("%s: %zu bytes of pinned memory cannot be had: ordinary "
                      "memory instead\n", device->name, size);
}

/* Ordinary memory does the same, but slower; it says itself what it is. */
static ggml_backend_buffer_t
type_alloc_buffer(ggml_backend_buffer_type_t buft, size_t size)
{
    ggml_backend_buffer_t buffer = alloc_pinned(buft, size);

    if (buffer != NULL)
        return buffer;
    tell_once(buft->context, size);
    return ggml_backend_buft_alloc_buffer(ggml_backend_cpu_buffer_type(),
                                          size);
}

static const char *
type_get_name(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return "Vulkan_Host";
}

static size_t
type_get_alignment(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return ggml_backend_buft_get_alignment(ggml_backend_cpu_buffer_type());
}

static bool
type_is_host(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return true;
}

void
gb_vk_host_type_init(struct gb_vk_device *device)
{
    atomic_flag_clear_explicit(&device->has_told_host, memory_order_relaxed);
    device->host_buft = (struct ggml_backend_buffer_type){
        .iface = {
            .get_name = type_get_name,
            .alloc_buffer = type_alloc_buffer,
            .get_alignment = type_get_alignment,
            .is_host = type_is_host,
        },
        .device = &device->handle,
        .context = device,
    };
}
