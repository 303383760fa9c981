/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/check.c - calls of the driver, with their failures told.
 */
#include "backends/cuda/device/check.h"

#include "ggml-impl.h"

#include <stdio.h>

/* The first failure is kept: what follows are its consequences. */
static void
note_failure(struct gb_cuda_card *card, int result, enum gb_cuda_call call)
{
    pthread_mutex_lock(&card->failure_lock);
    if (!atomic_load_explicit(&card->has_failed, memory_order_relaxed))
        snprintf(card->failure, sizeof(card->failure), "%s: %s",
                 gb_cuda_call_name(call), gb_cuda_error(result));
    atomic_store_explicit(&card->has_failed, true, memory_order_release);
    pthread_mutex_unlock(&card->failure_lock);
}

enum ggml_status
gb_cuda_check(struct gb_cuda_card *card, int result, enum gb_cuda_call call)
{
    if (result == GB_CUDA_SUCCESS)
        return GGML_STATUS_SUCCESS;
    if (!gb_cuda_is_harmless(result))
        note_failure(card, result, call);
    return ggmlbackend_fail(result == GB_CUDA_OUT_OF_MEMORY
                                ? GGML_STATUS_ALLOC_FAILED
                                : GGML_STATUS_FAILED,
                            "%s: %s: %s", card->label, gb_cuda_call_name(call),
                            gb_cuda_error(result));
}

/*
 * Nothing is said of a card whose failure was told before, nor at the process'
 * end, when the driver goes before its clients.
 */
void
gb_cuda_check_cleanup(
    struct gb_cuda_card *card, int result, enum gb_cuda_call call)
{
    if (result == GB_CUDA_SUCCESS || result == GB_CUDA_DEINITIALIZED ||
        atomic_load_explicit(&card->has_failed, memory_order_relaxed))
        return;
    if (!gb_cuda_is_harmless(result))
        note_failure(card, result, call);
    GGML_LOG_WARN("%s: %s: %s\n", card->label, gb_cuda_call_name(call),
                  gb_cuda_error(result));
}
