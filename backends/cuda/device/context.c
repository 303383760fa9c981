/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/context.c - a card's context: hold it, enter it, begin anew.
 *
 * Each holder knows the generation of the context that it holds.  A card whose
 * context is broken begins a new generation when its last backend is gone; what
 * lay in the old one went with it, and its holders have nothing to give back.
 */
#include "backends/cuda/device/context.h"

#include "backends/cuda/device/check.h"
#include "backends/cuda/device/kernel.h"
#include "backends/cuda/device/transfer.h"

#include "ggml-impl.h"

#include <unistd.h>

static bool
is_forked(const struct gb_cuda_card *card)
{
    return getpid() != card->process;
}

static bool
has_failed(struct gb_cuda_card *card)
{
    return atomic_load_explicit(&card->has_failed, memory_order_acquire);
}

static unsigned
generation_of(struct gb_cuda_card *card)
{
    return atomic_load_explicit(&card->generation, memory_order_relaxed);
}

bool
gb_cuda_is_held(const struct gb_cuda_hold *hold)
{
    return hold->card != NULL && hold->generation == generation_of(hold->card);
}

/* ---- the context itself; with the card's lock ---- */

static enum ggml_status
retain(struct gb_cuda_card *card)
{
    const int result =
        card->driver->context_retain(&card->context, card->handle);

    if (result == GB_CUDA_SUCCESS)
        return GGML_STATUS_SUCCESS;
    card->context = NULL;
    return ggmlbackend_fail(GGML_STATUS_FAILED, "%s: %s: %s", card->label,
                            gb_cuda_call_name(GB_CUDA_CALL_context_retain),
                            gb_cuda_error(result));
}

/* Everything of ours goes with the context, if nobody else has it. */
static void
drop(struct gb_cuda_card *card)
{
    gb_cuda_context ours;

    if (card->driver->context_push(card->context) == GB_CUDA_SUCCESS) {
        gb_cuda_transfer_clear(card);
        gb_cuda_kernels_clear(card);
        card->driver->context_pop(&ours);
    } else {
        gb_cuda_transfer_forget(card);
        gb_cuda_kernels_forget(card);
    }
    card->driver->context_release(card->handle);
    card->context = NULL;
    card->n_users = 0;
    card->n_bytes = 0;
    atomic_fetch_add_explicit(&card->generation, 1, memory_order_relaxed);
    atomic_store_explicit(&card->has_failed, false, memory_order_release);
}

/* Can the context of a card that failed still be worked in? */
static bool
is_whole(struct gb_cuda_card *card)
{
    size_t free, total;
    gb_cuda_context ours;
    int result;

    if (card->driver->context_push(card->context) != GB_CUDA_SUCCESS)
        return false;
    result = card->driver->memory_info(&free, &total);
    card->driver->context_pop(&ours);
    return result == GB_CUDA_SUCCESS;
}

/* Nobody is left who saw the card fail: forget it, and what broke with it. */
static void
begin_anew(struct gb_cuda_card *card)
{
    if (card->context != NULL && !is_whole(card))
        drop(card);
    atomic_store_explicit(&card->has_failed, false, memory_order_release);
}

static enum ggml_status
hold_locked(
    struct gb_cuda_card *card, bool is_backend, struct gb_cuda_hold *hold)
{
    if (has_failed(card) && card->n_backends > 0)
        return ggmlbackend_fail(GGML_STATUS_FAILED, "%s has failed: %s",
                                card->label, card->failure);
    if (has_failed(card))
        begin_anew(card);
    if (card->context == NULL && retain(card) != GGML_STATUS_SUCCESS)
        return GGML_STATUS_FAILED;
    card->n_users++;
    card->n_backends += is_backend;
    *hold = (struct gb_cuda_hold){
        .card = card,
        .context = card->context,
        .generation = generation_of(card),
        .is_backend = is_backend,
    };
    return GGML_STATUS_SUCCESS;
}

/* ---- holding ---- */

enum ggml_status
gb_cuda_hold(
    struct gb_cuda_card *card, bool is_backend, struct gb_cuda_hold *hold)
{
    enum ggml_status status;

    if (is_forked(card))
        return ggmlbackend_fail(GGML_STATUS_FAILED,
                                "%s: a forked process cannot use the driver "
                                "that its parent opened", card->label);
    pthread_mutex_lock(&card->lock);
    status = hold_locked(card, is_backend, hold);
    pthread_mutex_unlock(&card->lock);
    return status;
}

void
gb_cuda_release(struct gb_cuda_hold *hold)
{
    struct gb_cuda_card *card = hold->card;

    if (card == NULL || is_forked(card))
        return;
    pthread_mutex_lock(&card->lock);
    card->n_backends -= hold->is_backend;
    if (gb_cuda_is_held(hold)) {
        if (--card->n_users == 0)
            drop(card);
        else if (card->n_backends == 0 && has_failed(card))
            begin_anew(card);
    }
    hold->card = NULL;
    pthread_mutex_unlock(&card->lock);
}

/* ---- entering ---- */

static bool
is_usable(const struct gb_cuda_hold *hold)
{
    struct gb_cuda_card *card = hold->card;

    if (is_forked(card))
        ggmlbackend_fail(GGML_STATUS_FAILED,
                         "%s: a forked process cannot use the driver that its "
                         "parent opened", card->label);
    else if (has_failed(card))
        ggmlbackend_fail(GGML_STATUS_FAILED, "%s has failed: %s", card->label,
                         card->failure);
    else if (!gb_cuda_is_held(hold))
        ggmlbackend_fail(GGML_STATUS_FAILED,
                         "%s: what lay on the card went when it failed",
                         card->label);
    else
        return true;
    return false;
}

bool
gb_cuda_enter(const struct gb_cuda_hold *hold)
{
    return is_usable(hold) &&
           GB_CUDA(hold->card, context_push, (hold->context)) ==
               GGML_STATUS_SUCCESS;
}

bool
gb_cuda_enter_cleanup(const struct gb_cuda_hold *hold)
{
    return hold->card != NULL && !is_forked(hold->card) &&
           gb_cuda_is_held(hold) &&
           hold->card->driver->context_push(hold->context) ==
               GB_CUDA_SUCCESS;
}

void
gb_cuda_leave(const struct gb_cuda_hold *hold)
{
    gb_cuda_context ours;

    GB_CUDA_CLEANUP(hold->card, context_pop, (&ours));
}

/* ---- memory ---- */

/* Take SIZE bytes of what the process may have; false: so much is not left. */
static bool
take(struct gb_cuda_card *card, size_t size)
{
    bool is_there;

    pthread_mutex_lock(&card->lock);
    is_there = card->n_bytes <= card->most_memory &&
               size <= card->most_memory - card->n_bytes;
    if (is_there)
        card->n_bytes += size;
    pthread_mutex_unlock(&card->lock);
    return is_there;
}

static void
give_back(struct gb_cuda_card *card, size_t size)
{
    pthread_mutex_lock(&card->lock);
    card->n_bytes -= size < card->n_bytes ? size : card->n_bytes;
    pthread_mutex_unlock(&card->lock);
}

static int
ask_driver(struct gb_cuda_card *card, size_t size, bool is_managed,
           gb_cuda_address *address)
{
    if (is_managed)
        return card->driver->memory_alloc_managed(address, size,
                                                  GB_CUDA_MANAGED_GLOBAL);
    return card->driver->memory_alloc(address, size);
}

enum ggml_status
gb_cuda_memory_new(
    struct gb_cuda_card *card, size_t size, bool is_managed,
    gb_cuda_address *address)
{
    int result;

    if (!is_managed && !take(card, size))
        return ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                                "%s: %zu bytes are more than is left of the "
                                "%zu that the process may take",
                                card->label, size, card->most_memory);
    result = ask_driver(card, size, is_managed, address);
    if (result == GB_CUDA_SUCCESS)
        return GGML_STATUS_SUCCESS;
    if (!is_managed)
        give_back(card, size);
    if (result == GB_CUDA_OUT_OF_MEMORY)
        return ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                                "%s: %zu bytes of memory cannot be had: %s",
                                card->label, size, gb_cuda_error(result));
    return gb_cuda_check(card, result, GB_CUDA_CALL_memory_alloc);
}

void
gb_cuda_memory_free(
    struct gb_cuda_card *card, gb_cuda_address address, size_t size,
    bool is_managed)
{
    GB_CUDA_CLEANUP(card, memory_free, (address));
    if (!is_managed)
        give_back(card, size);
}

bool
gb_cuda_has_context(struct gb_cuda_card *card)
{
    bool has_one;

    pthread_mutex_lock(&card->lock);
    has_one = card->context != NULL;
    pthread_mutex_unlock(&card->lock);
    return has_one;
}

size_t
gb_cuda_context_bytes(struct gb_cuda_card *card)
{
    size_t n_bytes;

    pthread_mutex_lock(&card->lock);
    n_bytes = card->n_bytes;
    pthread_mutex_unlock(&card->lock);
    return n_bytes;
}

bool
gb_cuda_context_free_memory(struct gb_cuda_card *card, size_t *free)
{
    bool is_known = false;
    gb_cuda_context ours;
    size_t bytes, total;

    pthread_mutex_lock(&card->lock);
    if (card->context != NULL && !is_forked(card) &&
        card->driver->context_push(card->context) == GB_CUDA_SUCCESS) {
        is_known = card->driver->memory_info(&bytes, &total) ==
                   GB_CUDA_SUCCESS;
        card->driver->context_pop(&ours);
    }
    pthread_mutex_unlock(&card->lock);
    if (is_known)
        *free = bytes;
    return is_known;
}
