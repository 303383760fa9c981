/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/ring.c - long copies of pageable memory through pinned chunks.
 *
 * The driver copies pinned memory by itself and pageable memory through a small
 * pinned block, chunk after chunk, with a wait behind each.  Here the host fills
 * or empties a chunk while the card works on the others.  Of a long copy several
 * threads fill chunks: one reads some 10 GB/s, and a link takes up to 55.
 */
#include "backends/cuda/device/ring.h"

#include "backends/cuda/device/check.h"
#include "backends/cuda/device/fillers.h"
#include "backends/cuda/device/pinned.h"

#include "ggml-impl.h"
#include "ggmlbackend.h"

#include <string.h>

enum {
    N_CHUNKS = GB_CUDA_RING_CHUNKS,
    CHUNK_SIZE = 1 << 20,
    RING_FROM = 1 << 20,     /* bytes of a copy that is worth the ring */
    FILLERS_FROM = 16 << 20, /* and that is worth threads */
    FILLED_AHEAD = N_CHUNKS / 2, /* chunks; the others are on their way */
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

/* ---- the chunks ---- */

static void
destroy_ends(struct gb_cuda_card *card, const struct gb_cuda_ring *ring, int n)
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
make(struct gb_cuda_ring *ring, struct gb_cuda_card *card)
{
    void *memory;

    if (card->driver->host_alloc(&memory, (size_t)N_CHUNKS * CHUNK_SIZE,
                                 GB_CUDA_HOST_PORTABLE) != GB_CUDA_SUCCESS) {
        ring->has_no_memory = true;
        GGML_LOG_INFO("%s: no pinned memory for copies\n", card->label);
        return false;
    }
    if (!make_ends(card, ring)) {
        GB_CUDA_CLEANUP(card, host_free, (memory));
        return false;
    }
    ring->memory = memory;
    return true;
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
    gb_cuda_stream stream, const struct chunk *chunk)
{
    return GB_CUDA(card, event_record, (ring->ends[chunk->slot], stream));
}

/* What is in the chunk's slot. */
static enum ggml_status
send_slot(
    struct gb_cuda_card *card, const struct gb_cuda_ring *ring,
    gb_cuda_stream stream, const struct chunk *chunk, gb_cuda_address to)
{
    GB_CUDA_TRY(card, copy_to_device,
                (to + chunk->offset, slot_of(ring, chunk), chunk->size, stream));
    return mark_slot(card, ring, stream, chunk);
}

static enum ggml_status
send_alone(
    struct gb_cuda_card *card, const struct gb_cuda_ring *ring,
    gb_cuda_stream stream, gb_cuda_address to, const char *from, size_t size)
{
    enum ggml_status status = GGML_STATUS_SUCCESS;

    for (size_t i = 0; i < n_chunks_of(size) && status == GGML_STATUS_SUCCESS;
         i++) {
        const struct chunk chunk = chunk_at(i, size);

        status = await_slot(card, ring, &chunk);
        if (status != GGML_STATUS_SUCCESS)
            break;
        memcpy(slot_of(ring, &chunk), from + chunk.offset, chunk.size);
        status = send_slot(card, ring, stream, &chunk, to);
    }
    return status;
}

/* Let slots of chunks below END be filled, when what they had was sent.  Those
 * below *N_ALLOWED are allowed already. */
static enum ggml_status
allow(
    struct gb_cuda_card *card, const struct gb_cuda_ring *ring,
    struct gb_cuda_fillers *fillers, size_t end, size_t *n_allowed)
{
    for (; *n_allowed < end; ++*n_allowed) {
        const struct chunk chunk = chunk_at(*n_allowed, fillers->size);
        const enum ggml_status status = await_slot(card, ring, &chunk);

        if (status != GGML_STATUS_SUCCESS)
            return status;
        gb_cuda_fillers_allow(fillers, *n_allowed + 1);
    }
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
send_filled(
    struct gb_cuda_card *card, const struct gb_cuda_ring *ring,
    gb_cuda_stream stream, gb_cuda_address to, struct gb_cuda_fillers *fillers)
{
    const size_t n = n_chunks_of(fillers->size);
    enum ggml_status status = GGML_STATUS_SUCCESS;
    size_t n_allowed = 0;

    for (size_t i = 0; i < n && status == GGML_STATUS_SUCCESS; i++) {
        const struct chunk chunk = chunk_at(i, fillers->size);
        const size_t end = i + FILLED_AHEAD < n ? i + FILLED_AHEAD : n;

        status = allow(card, ring, fillers, end, &n_allowed);
        if (status != GGML_STATUS_SUCCESS)
            break;
        gb_cuda_fillers_await(fillers, i);
        status = send_slot(card, ring, stream, &chunk, to);
    }
    return status;
}

/* Half of the CPUs that the process may use, as far as there are threads for
 * them; with one CPU none beside the caller. */
static int
n_fillers(void)
{
    const int n_cpus = ggmlbackend_n_cpus();
    const int n = n_cpus / 2;

    if (n_cpus < 2)
        return 0;
    return n < 2 ? 2 : n > GB_CUDA_MAX_FILLERS ? GB_CUDA_MAX_FILLERS : n;
}

static enum ggml_status
send(
    struct gb_cuda_card *card, const struct gb_cuda_ring *ring,
    gb_cuda_stream stream, gb_cuda_address to, const char *from, size_t size)
{
    struct gb_cuda_fillers fillers = {
        .from = from,
        .size = size,
        .slots = ring->memory,
        .slot_size = CHUNK_SIZE,
        .n_slots = N_CHUNKS,
    };
    enum ggml_status status;

    if (size < FILLERS_FROM || !gb_cuda_fillers_begin(&fillers, n_fillers()))
        return send_alone(card, ring, stream, to, from, size);
    status = send_filled(card, ring, stream, to, &fillers);
    gb_cuda_fillers_end(&fillers);
    return status;
}

static enum ggml_status
ask_for_chunk(
    struct gb_cuda_card *card, const struct gb_cuda_ring *ring,
    gb_cuda_stream stream, const struct chunk *chunk, gb_cuda_address from)
{
    GB_CUDA_TRY(card, copy_to_host,
                (slot_of(ring, chunk), from + chunk->offset, chunk->size,
                 stream));
    return mark_slot(card, ring, stream, chunk);
}

static enum ggml_status
take_chunk(
    struct gb_cuda_card *card, const struct gb_cuda_ring *ring,
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
    struct gb_cuda_card *card, const struct gb_cuda_ring *ring,
    gb_cuda_stream stream, char *to, gb_cuda_address from, size_t size)
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

            status = ask_for_chunk(card, ring, stream, &chunk, from);
        }
    }
    return status;
}

/* ---- what others call ---- */

bool
gb_cuda_ring_takes(
    struct gb_cuda_ring *ring, struct gb_cuda_card *card, const void *memory,
    size_t size)
{
    if (size < RING_FROM || gb_cuda_is_pinned(memory, size) ||
        ring->has_no_memory)
        return false;
    return ring->memory != NULL || make(ring, card);
}

enum ggml_status
gb_cuda_ring_send(
    struct gb_cuda_ring *ring, struct gb_cuda_card *card,
    struct gb_cuda_queue *queue, gb_cuda_address to, const char *from,
    size_t size)
{
    const enum ggml_status status =
        send(card, ring, queue->stream, to, from, size);

    if (status != GGML_STATUS_SUCCESS)
        gb_cuda_queue_drain(card, queue);
    return status;
}

enum ggml_status
gb_cuda_ring_receive(
    struct gb_cuda_ring *ring, struct gb_cuda_card *card,
    struct gb_cuda_queue *queue, char *to, gb_cuda_address from, size_t size)
{
    const enum ggml_status status =
        receive(card, ring, queue->stream, to, from, size);

    if (status != GGML_STATUS_SUCCESS)
        gb_cuda_queue_drain(card, queue);
    return status;
}

void
gb_cuda_ring_clear(struct gb_cuda_ring *ring, struct gb_cuda_card *card)
{
    if (ring->memory == NULL)
        return;
    destroy_ends(card, ring, N_CHUNKS);
    GB_CUDA_CLEANUP(card, host_free, (ring->memory));
    *ring = (struct gb_cuda_ring){ .memory = NULL };
}
