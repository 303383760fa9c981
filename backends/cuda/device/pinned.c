/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/pinned.c - memory of the host that the driver has pinned for us.
 *
 * There are few ranges of it, in one list; each holds the context of the card
 * in which it was pinned.
 */
#include "backends/cuda/device/pinned.h"

#include "backends/cuda/device/check.h"
#include "backends/cuda/device/context.h"
#include "backends/cuda/device/device.h"
#include "backends/cuda/device/settings.h"

#include "ggml-impl.h"

#include <stdlib.h>

struct range {
    struct range *next;
    struct gb_cuda_hold hold;
    void *memory;
    size_t size;
    bool is_clients;
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

/* Take the range of that kind at MEMORY out; NULL: there is none. */
static struct range *
take_out(const void *memory, bool is_clients)
{
    struct range **at = &ranges;
    struct range *found;

    pthread_mutex_lock(&lock);
    while (*at != NULL &&
           ((*at)->memory != memory || (*at)->is_clients != is_clients))
        at = &(*at)->next;
    found = *at;
    if (found != NULL)
        *at = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

bool
gb_cuda_is_pinned(const void *memory, size_t size)
{
    const uintptr_t start = (uintptr_t)memory;
    bool is_found = false;

    pthread_mutex_lock(&lock);
    for (const struct range *r = ranges; r != NULL && !is_found; r = r->next) {
        const size_t before = start - (uintptr_t)r->memory;

        is_found = start >= (uintptr_t)r->memory && before < r->size &&
                   size <= r->size - before;
    }
    pthread_mutex_unlock(&lock);
    return is_found;
}

/* ---- ranges ---- */

/* One without memory yet, which holds a card's context; NULL: not to be had. */
static struct range *
range_new(size_t size, bool is_clients)
{
    struct gb_cuda_card *card = gb_cuda_card_for_host();
    struct range *range = calloc(1, sizeof(*range));

    if (range != NULL && card != NULL &&
        gb_cuda_hold(card, false, &range->hold) == GGML_STATUS_SUCCESS) {
        range->size = size;
        range->is_clients = is_clients;
        return range;
    }
    free(range);
    return NULL;
}

static void
range_free(struct range *range)
{
    gb_cuda_release(&range->hold);
    free(range);
}

/* Into the list, if it has its memory. */
static bool
keep(struct range *range)
{
    if (range->memory == NULL) {
        range_free(range);
        return false;
    }
    add(range);
    return true;
}

/* The driver takes the memory back, or no longer cares for it. */
static void
end(struct range *range)
{
    if (range == NULL)
        return;
    if (gb_cuda_enter_cleanup(&range->hold)) {
        if (range->is_clients)
            GB_CUDA_CLEANUP(range->hold.card, host_unregister,
                            (range->memory));
        else
            GB_CUDA_CLEANUP(range->hold.card, host_free, (range->memory));
        gb_cuda_leave(&range->hold);
    }
    range_free(range);
}

/* ---- memory of the driver's ---- */

static void *
ask_driver(const struct gb_cuda_hold *hold, size_t size)
{
    void *memory = NULL;

    if (!gb_cuda_enter(hold))
        return NULL;
    if (hold->card->driver->host_alloc(&memory, size, GB_CUDA_HOST_PORTABLE) !=
        GB_CUDA_SUCCESS)
        memory = NULL;
    gb_cuda_leave(hold);
    return memory;
}

void *
gb_cuda_pinned_new(size_t size)
{
    struct range *range = range_new(size, false);

    if (range == NULL)
        return NULL;
    range->memory = ask_driver(&range->hold, size);
    return keep(range) ? range->memory : NULL;
}

void
gb_cuda_pinned_free(void *memory)
{
    end(take_out(memory, false));
}

/* ---- memory of the client's ---- */

/* Mapped files are read-only, which not every driver can pin. */
static int
pin(const struct gb_cuda_hold *hold, void *memory, size_t size)
{
    const struct gb_cuda_driver *driver = hold->card->driver;
    int result = driver->host_register(
        memory, size, GB_CUDA_HOST_PORTABLE | GB_CUDA_HOST_READ_ONLY);

    if (result != GB_CUDA_SUCCESS && result != GB_CUDA_OUT_OF_MEMORY)
        result = driver->host_register(memory, size, GB_CUDA_HOST_PORTABLE);
    return result;
}

static bool
pin_told(const struct gb_cuda_hold *hold, void *memory, size_t size)
{
    int result;

    if (!gb_cuda_enter(hold))
        return false;
    result = pin(hold, memory, size);
    gb_cuda_leave(hold);
    if (result != GB_CUDA_SUCCESS)
        GGML_LOG_WARN("%s: %zu bytes of the program's memory cannot be pinned: "
                      "%s\n", hold->card->label, size, gb_cuda_error(result));
    return result == GB_CUDA_SUCCESS;
}

bool
gb_cuda_register_host(void *memory, size_t size)
{
    struct range *range;

    if (!gb_cuda_setting_is_on("GGML_CUDA_REGISTER_HOST"))
        return false;
    range = range_new(size, true);
    if (range == NULL)
        return false;
    if (pin_told(&range->hold, memory, size))
        range->memory = memory;
    return keep(range);
}

void
gb_cuda_unregister_host(void *memory)
{
    end(take_out(memory, true));
}
