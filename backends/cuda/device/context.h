/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/context.h - a card's context: there as long as something of ours
 * lies on the card, and current only while a call of ours runs.
 *
 * It is the primary context, which the run time uses too, so that a client's
 * own CUDA code sees the same memory.
 */
#ifndef GB_CUDA_DEVICE_CONTEXT_H
#define GB_CUDA_DEVICE_CONTEXT_H

#include "backends/cuda/device/card.h"

#include "ggml.h"

/* Who holds a card's context; all zero for nobody. */
struct gb_cuda_hold {
    struct gb_cuda_card *card;
    gb_cuda_context context;
    unsigned generation;
    bool is_backend;
};

/*
 * Hold CARD's context, which comes with the first.  On failure *HOLD is
 * untouched.  A card that failed is refused while it has backends; afterwards
 * it begins anew, without what lay on it.  Any thread.
 */
enum ggml_status gb_cuda_hold(
    struct gb_cuda_card *card, bool is_backend, struct gb_cuda_hold *hold);

/* The context goes with the last.  Nothing for nobody's.  Any thread. */
void gb_cuda_release(struct gb_cuda_hold *hold);

/* Is the context that HOLD was made for still there? */
bool gb_cuda_is_held(const struct gb_cuda_hold *hold);

/*
 * Make the context current, to be ended by gb_cuda_leave.  False, with the
 * reason told, in a forked process, for a card that failed, and for a context
 * that was lost.
 */
bool gb_cuda_enter(const struct gb_cuda_hold *hold);

/* The same to give something back: false, and no word, where it is gone. */
bool gb_cuda_enter_cleanup(const struct gb_cuda_hold *hold);

void gb_cuda_leave(const struct gb_cuda_hold *hold);

/*
 * SIZE bytes of the card's memory, in an entered context: GGML_STATUS_SUCCESS,
 * or _ALLOC_FAILED and the card as it was.  Managed memory may be more than the
 * card has, and counts as nothing.
 */
enum ggml_status gb_cuda_memory_new(
    struct gb_cuda_card *card, size_t size, bool is_managed,
    gb_cuda_address *address);
void gb_cuda_memory_free(
    struct gb_cuda_card *card, gb_cuda_address address, size_t size,
    bool is_managed);

bool gb_cuda_has_context(struct gb_cuda_card *card);

/* Bytes that the process has taken of the card. */
size_t gb_cuda_context_bytes(struct gb_cuda_card *card);

/* Free bytes by the driver; false where there is no context to ask in. */
bool gb_cuda_context_free_memory(struct gb_cuda_card *card, size_t *free);

#endif
