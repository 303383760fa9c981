/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/transfer.c - blocking copies, done when a call returns.
 *
 * The driver copies pinned memory by itself and pageable memory through a small
 * pinned block, chunk after chunk, with a wait behind each.  Long copies of
 * pageable memory go through a ring of pinned chunks instead: the host fills or
 * empties one while the card works on the others.
 */
#include "backends/cuda/device/transfer.h"

#include "backends/cuda/device/check.h"
#include "backends/cuda/device/pinned.h"
#include "backends/cuda/device/span.h"
#include "backends/cuda/device/stream.h"

#include "ggml-impl.h"

#include <stdlib.h>
#include <string.h>

enum {
    N_CHUNKS = 4,
    CHUNK_SIZE = 2 << 20,
    RING_FROM = 1 << 20, /* bytes of a copy that is worth the ring */
};

struct gb_cuda_ring {
    struct gb_cuda_queue queue;
    char *memory; /* N_CHUNKS * CHUNK_SIZE bytes, pinned; NULL: none yet */
    gb_cuda_event ends[N_CHUNKS]; /* of the last copy of each chunk */
    bool has_no_memory;           /* it was asked for, and is not to be had */
    struct gb_cuda_span span;     /* of the copy that has the lock */
};

/* One long copy: which chunk of it uses which chunk of the ring. */
struct chunk {
    int slot;
    size_t offset, size; /* of the copy's bytes */
};

static struct chunk
chunk_at(size_t i, size_t size)
{
    const size_t offset = i * CHUNK_SIZE;
    const size_t left = size - offset;

    return (struct chunk){
        .slot = (int)(i % N_CHUNKS),
        .offset = offset,
        .size = left < CHUNK_SIZE ? left : CHUNK_SIZE,
    };
}

static size_t
n_chunks_of(size_t size)
{
    return (size + CHUNK_SIZE - 1) / CHUNK_SIZE;
}

/* ---- the ring; with the copy lock ---- */

static void
destroy_ends(struct gb_cuda_card *card, struct gb_cuda_ring *ring, int n)
{
    for (int i = 0; i < n; i++)
        GB_CUDA_CLEANUP(card, event_destroy, (ring->ends[i]));
}

static bool
make_ends(struct gb_cuda_card *card, struct gb_cuda_ring *ring)
{
    for (int i = 0; i < N_CHUNKS; i++) {
        if (gb_cuda_event_make(card, &ring->ends[i]) != GGML_STATUS_SUCCESS) {
            destroy_ends(card, ring, i);
            return false;
        }
    }
    return true;
}

/* Without pinned memory the driver's own way is left, which is slower. */
static bool
has_memory(struct gb_cuda_card *card, struct gb_cuda_ring *ring)
{
    void *memory;

    if (ring->memory != NULL || ring->has_no_memory)
        return ring->memory != NULL;
    if (card->driver->host_alloc(&memory, (size_t)N_CHUNKS * CHUNK_SIZE,
                                 GB_CUDA_HOST_PORTABLE) != GB_CUDA_SUCCESS) {
        ring->has_no_memory = true;
        GGML_LOG_INFO("%s: no pinned memory for copies\n", card->label);
        return false;
    }
    ring->memory = memory;
    return true;
}

static struct gb_cuda_ring *
ring_of(struct gb_cuda_card *card)
{
    struct gb_cuda_ring *ring = card->ring;

    if (ring != NULL)
        return ring;
    ring = calloc(1, sizeof(*ring));
    if (ring == NULL) {
        ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED, "%s: no memory for copies",
                         card->label);
        return NULL;
    }
    if (gb_cuda_queue_init(card, &ring->queue) != GGML_STATUS_SUCCESS)
        goto free_ring;
    if (!make_ends(card, ring))
        goto clear_queue;
    card->ring = ring;
    return ring;

clear_queue:
    gb_cuda_queue_clear(card, &ring->queue);
free_ring:
    free(ring);
    return NULL;
}

static char *
slot_of(const struct gb_cuda_ring *ring, const struct chunk *chunk)
{
    return ring->memory + (size_t)chunk->slot * CHUNK_SIZE;
}

/* The slot's last copy is done. */
static enum ggml_status
await_slot(
    struct gb_cuda_card *card, const struct gb_cuda_ring *ring,
    const struct chunk *chunk)
{
    return gb_cuda_event_await(card, ring->ends[chunk->slot]);
}

static enum ggml_status
mark_slot(
    struct gb_cuda_card *card, const struct gb_cuda_ring *ring,
    const struct chunk *chunk)
{
    return GB_CUDA(card, event_record,
                   (ring->ends[chunk->slot], ring->queue.stream));
}

/* ---- long copies ---- */

static enum ggml_status
send_chunk(
    struct gb_cuda_card *card, struct gb_cuda_ring *ring,
    const struct chunk *chunk, gb_cuda_address to, const char *from)
{
    const enum ggml_status status = await_slot(card, ring, chunk);

    if (status != GGML_STATUS_SUCCESS)
        return status;
    memcpy(slot_of(ring, chunk), from + chunk->offset, chunk->size);
    GB_CUDA_TRY(card, copy_to_device,
                (to + chunk->offset, slot_of(ring, chunk), chunk->size,
                 ring->queue.stream));
    return mark_slot(card, ring, chunk);
}

static enum ggml_status
send(struct gb_cuda_card *card, struct gb_cuda_ring *ring, gb_cuda_address to,
     const char *from, size_t size)
{
    for (size_t i = 0; i < n_chunks_of(size); i++) {
        const struct chunk chunk = chunk_at(i, size);
        const enum ggml_status status =
            send_chunk(card, ring, &chunk, to, from);

        if (status != GGML_STATUS_SUCCESS)
            return status;
    }
    return gb_cuda_queue_wait(card, &ring->queue);
}

static enum ggml_status
ask_for_chunk(
    struct gb_cuda_card *card, struct gb_cuda_ring *ring,
    const struct chunk *chunk, gb_cuda_address from)
{
    GB_CUDA_TRY(card, copy_to_host,
                (slot_of(ring, chunk), from + chunk->offset, chunk->size,
                 ring->queue.stream));
    return mark_slot(card, ring, chunk);
}

static enum ggml_status
take_chunk(
    struct gb_cuda_card *card, struct gb_cuda_ring *ring,
    const struct chunk *chunk, char *to)
{
    const enum ggml_status status = await_slot(card, ring, chunk);

    if (status == GGML_STATUS_SUCCESS)
        memcpy(to + chunk->offset, slot_of(ring, chunk), chunk->size);
    return status;
}

/* Chunk I is asked for when chunk I - N_CHUNKS was taken out of its slot. */
static enum ggml_status
receive(
    struct gb_cuda_card *card, struct gb_cuda_ring *ring, char *to,
    gb_cuda_address from, size_t size)
{
    const size_t n = n_chunks_of(size);
    enum ggml_status status = GGML_STATUS_SUCCESS;

    for (size_t i = 0; i < n + N_CHUNKS && status == GGML_STATUS_SUCCESS;
         i++) {
        if (i >= N_CHUNKS && i - N_CHUNKS < n) {
            const struct chunk chunk = chunk_at(i - N_CHUNKS, size);

            status = take_chunk(card, ring, &chunk, to);
        }
        if (i < n && status == GGML_STATUS_SUCCESS) {
            const struct chunk chunk = chunk_at(i, size);

            status = ask_for_chunk(card, ring, &chunk, from);
        }
    }
    return status;
}

/* ---- copies: nothing of them is queued any more, however they end ---- */

struct gb_cuda_queue *
gb_cuda_transfer_begin(struct gb_cuda_card *card)
{
    struct gb_cuda_ring *ring;

    pthread_mutex_lock(&card->copy_lock);
    ring = ring_of(card);
    if (ring == NULL) {
        pthread_mutex_unlock(&card->copy_lock);
        return NULL;
    }
    ring->span = gb_cuda_span_begin(card->label);
    return &ring->queue;
}

void
gb_cuda_transfer_end(struct gb_cuda_card *card, const char *name)
{
    gb_cuda_span_end(&card->ring->span, name);
    pthread_mutex_unlock(&card->copy_lock);
}

static bool
uses_ring(struct gb_cuda_card *card, const void *memory, size_t size)
{
    return size >= RING_FROM && !gb_cuda_is_pinned(memory, size) &&
           has_memory(card, card->ring);
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
    if (uses_ring(card, from, size)) {
        status = send(card, card->ring, to, from, size);
        if (status != GGML_STATUS_SUCCESS)
            gb_cuda_queue_drain(card, queue);
    } else {
        status = GB_CUDA(card, copy_to_device,
                         (to, from, size, queue->stream));
        if (status == GGML_STATUS_SUCCESS)
            status = gb_cuda_queue_wait(card, queue);
    }
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
    if (uses_ring(card, to, size)) {
        status = receive(card, card->ring, to, from, size);
        if (status != GGML_STATUS_SUCCESS)
            gb_cuda_queue_drain(card, queue);
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

static struct gb_cuda_ring *
take_ring(struct gb_cuda_card *card)
{
    struct gb_cuda_ring *ring;

    pthread_mutex_lock(&card->copy_lock);
    ring = card->ring;
    card->ring = NULL;
    pthread_mutex_unlock(&card->copy_lock);
    return ring;
}

void
gb_cuda_transfer_clear(struct gb_cuda_card *card)
{
    struct gb_cuda_ring *ring = take_ring(card);

    if (ring == NULL)
        return;
    destroy_ends(card, ring, N_CHUNKS);
    gb_cuda_queue_clear(card, &ring->queue);
    if (ring->memory != NULL)
        GB_CUDA_CLEANUP(card, host_free, (ring->memory));
    free(ring);
}

void
gb_cuda_transfer_forget(struct gb_cuda_card *card)
{
    free(take_ring(card));
}
