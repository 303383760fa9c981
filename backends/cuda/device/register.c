/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/register.c - memory of the client's that is pinned, as long as
 * the client wants it.
 */
#include "backends/cuda/device/check.h"
#include "backends/cuda/device/context.h"
#include "backends/cuda/device/device.h"
#include "backends/cuda/device/pinned.h"
#include "backends/cuda/device/settings.h"

#include "ggml-impl.h"

#include <stdlib.h>

struct registered {
    struct registered *next;
    struct gb_cuda_hold hold;
    void *memory;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct registered *all;

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

static void
add(struct registered *own)
{
    pthread_mutex_lock(&lock);
    own->next = all;
    all = own;
    pthread_mutex_unlock(&lock);
}

/* Take the one at MEMORY out; NULL: there is none. */
static struct registered *
take_out(const void *memory)
{
    struct registered **at = &all;
    struct registered *found;

    pthread_mutex_lock(&lock);
    while (*at != NULL && (*at)->memory != memory)
        at = &(*at)->next;
    found = *at;
    if (found != NULL)
        *at = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

bool
gb_cuda_register_host(void *memory, size_t size)
{
    struct gb_cuda_card *card = gb_cuda_card_for_host();
    struct registered *own;

    if (!gb_cuda_setting_is_on("GGML_CUDA_REGISTER_HOST") || card == NULL)
        return false;
    own = calloc(1, sizeof(*own));
    if (own == NULL ||
        gb_cuda_hold(card, false, &own->hold) != GGML_STATUS_SUCCESS)
        goto free_own;
    if (!pin_told(&own->hold, memory, size))
        goto release;
    own->memory = memory;
    gb_cuda_pinned_add(memory, size);
    add(own);
    return true;

release:
    gb_cuda_release(&own->hold);
free_own:
    free(own);
    return false;
}

void
gb_cuda_unregister_host(void *memory)
{
    struct registered *own = take_out(memory);

    if (own == NULL)
        return;
    gb_cuda_pinned_remove(memory);
    if (gb_cuda_enter_cleanup(&own->hold)) {
        GB_CUDA_CLEANUP(own->hold.card, host_unregister, (memory));
        gb_cuda_leave(&own->hold);
    }
    gb_cuda_release(&own->hold);
    free(own);
}
