/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/transfer.c - blocking copies, done when a call returns.
 */
#include "backends/cuda/device/transfer.h"

#include "backends/cuda/device/check.h"
#include "backends/cuda/device/ring.h"
#include "backends/cuda/device/span.h"

#include <stdlib.h>

struct gb_cuda_copier {
    struct gb_cuda_queue queue;
    struct gb_cuda_ring ring;
    struct gb_cuda_span span; /* of the copy that has the lock */
};

/* With the copy lock; NULL, with the reason told, where it cannot be had. */
static struct gb_cuda_copier *
copier_of(struct gb_cuda_card *card)
{
    struct gb_cuda_copier *copier = card->copier;

    if (copier != NULL)
        return copier;
    copier = calloc(1, sizeof(*copier));
    if (copier == NULL) {
        ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED, "%s: no memory for copies",
                         card->label);
        return NULL;
    }
    if (gb_cuda_queue_init(card, &copier->queue) != GGML_STATUS_SUCCESS) {
        free(copier);
        return NULL;
    }
    card->copier = copier;
    return copier;
}

/* ---- copies: nothing of them is queued any more, however they end ---- */

struct gb_cuda_queue *
gb_cuda_transfer_begin(struct gb_cuda_card *card)
{
    struct gb_cuda_copier *copier;

    pthread_mutex_lock(&card->copy_lock);
    copier = copier_of(card);
    if (copier == NULL) {
        pthread_mutex_unlock(&card->copy_lock);
        return NULL;
    }
    copier->span = gb_cuda_span_begin(card->label);
    return &copier->queue;
}

void
gb_cuda_transfer_end(struct gb_cuda_card *card, const char *name)
{
    gb_cuda_span_end(&card->copier->span, name);
    pthread_mutex_unlock(&card->copy_lock);
}

enum ggml_status
gb_cuda_copy_to_card(
    struct gb_cuda_card *card, gb_cuda_address to, const void *from,
    size_t size)
{
    struct gb_cuda_queue *queue = gb_cuda_transfer_begin(card);
    enum ggml_status status;

    if (queue == NULL)
        return GGML_STATUS_FAILED;
    if (gb_cuda_ring_takes(&card->copier->ring, card, from, size))
        status = gb_cuda_ring_send(&card->copier->ring, card, queue, to, from,
                                   size);
    else
        status = GB_CUDA(card, copy_to_device,
                         (to, from, size, queue->stream));
    if (status == GGML_STATUS_SUCCESS)
        status = gb_cuda_queue_wait(card, queue);
    gb_cuda_transfer_end(card, "set");
    return status;
}

enum ggml_status
gb_cuda_copy_to_host(
    struct gb_cuda_card *card, void *to, gb_cuda_address from, size_t size)
{
    struct gb_cuda_queue *queue = gb_cuda_transfer_begin(card);
    enum ggml_status status;

    if (queue == NULL)
        return GGML_STATUS_FAILED;
    if (gb_cuda_ring_takes(&card->copier->ring, card, to, size)) {
        status = gb_cuda_ring_receive(&card->copier->ring, card, queue, to,
                                      from, size);
    } else {
        status = GB_CUDA(card, copy_to_host, (to, from, size, queue->stream));
        if (status == GGML_STATUS_SUCCESS)
            status = gb_cuda_queue_wait(card, queue);
    }
    gb_cuda_transfer_end(card, "get");
    return status;
}

enum ggml_status
gb_cuda_copy_on_card(
    struct gb_cuda_card *card, gb_cuda_address to, gb_cuda_address from,
    size_t size)
{
    struct gb_cuda_queue *queue = gb_cuda_transfer_begin(card);
    enum ggml_status status;

    if (queue == NULL)
        return GGML_STATUS_FAILED;
    status = GB_CUDA(card, copy_on_device, (to, from, size, queue->stream));
    if (status == GGML_STATUS_SUCCESS)
        status = gb_cuda_queue_wait(card, queue);
    gb_cuda_transfer_end(card, "copy");
    return status;
}

enum ggml_status
gb_cuda_fill(
    struct gb_cuda_card *card, gb_cuda_address to, uint8_t value, size_t size)
{
    struct gb_cuda_queue *queue = gb_cuda_transfer_begin(card);
    enum ggml_status status;

    if (queue == NULL)
        return GGML_STATUS_FAILED;
    status = GB_CUDA(card, fill, (to, value, size, queue->stream));
    if (status == GGML_STATUS_SUCCESS)
        status = gb_cuda_queue_wait(card, queue);
    gb_cuda_transfer_end(card, "fill");
    return status;
}

static struct gb_cuda_copier *
take_copier(struct gb_cuda_card *card)
{
    struct gb_cuda_copier *copier;

    pthread_mutex_lock(&card->copy_lock);
    copier = card->copier;
    card->copier = NULL;
    pthread_mutex_unlock(&card->copy_lock);
    return copier;
}

void
gb_cuda_transfer_clear(struct gb_cuda_card *card)
{
    struct gb_cuda_copier *copier = take_copier(card);

    if (copier == NULL)
        return;
    gb_cuda_ring_clear(&copier->ring, card);
    gb_cuda_queue_clear(card, &copier->queue);
    free(copier);
}

void
gb_cuda_transfer_forget(struct gb_cuda_card *card)
{
    free(take_copier(card));
}
