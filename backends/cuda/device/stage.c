/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/stage.c - asynchronous copies between cards that do not reach
 * each other, through pinned memory of the host.
 *
 * The sender's stream fills a slot when the receiver's has emptied it, the
 * receiver's empties it when it is full: each waits for the other's event, and
 * the host for nothing.
 */
#include "backends/cuda/device/stage.h"

#include "backends/cuda/device/check.h"

#include <string.h>

enum { SLOT_SIZE = 1 << 20 };

static void
destroy_events(struct gb_cuda_stage *stage, struct gb_cuda_card *card, int n)
{
    for (int i = 0; i < n; i++)
        GB_CUDA_CLEANUP(card, event_destroy, (stage->taken[i]));
}

static bool
make_events(struct gb_cuda_stage *stage, struct gb_cuda_card *card)
{
    for (int i = 0; i < GB_CUDA_STAGE_SLOTS; i++) {
        if (gb_cuda_event_make(card, &stage->taken[i]) !=
            GGML_STATUS_SUCCESS) {
            destroy_events(stage, card, i);
            return false;
        }
    }
    return true;
}

/* Pinned for all cards, in the receiver's context, which is entered. */
static bool
make(struct gb_cuda_stage *stage, struct gb_cuda_card *card)
{
    void *memory;

    if (stage->memory != NULL)
        return true;
    if (card->driver->host_alloc(&memory,
                                 (size_t)GB_CUDA_STAGE_SLOTS * SLOT_SIZE,
                                 GB_CUDA_HOST_PORTABLE) != GB_CUDA_SUCCESS)
        return false;
    if (!make_events(stage, card)) {
        GB_CUDA_CLEANUP(card, host_free, (memory));
        return false;
    }
    stage->memory = memory;
    return true;
}

static bool
is_ready(struct gb_cuda_stage *stage, const struct gb_cuda_hold *hold)
{
    bool is_made;

    if (!gb_cuda_enter(hold))
        return false;
    is_made = make(stage, hold->card);
    gb_cuda_leave(hold);
    return is_made;
}

/* ---- one piece, of a slot's size at most ---- */

struct piece {
    char *memory;
    gb_cuda_event taken;
    size_t offset, size;
};

static enum ggml_status
send(const struct piece *piece, const struct gb_cuda_stage_end *from)
{
    struct gb_cuda_card *card = from->hold->card;
    const gb_cuda_stream stream = from->queue->stream;

    GB_CUDA_TRY(card, stream_wait_event, (stream, piece->taken, 0));
    GB_CUDA_TRY(card, copy_to_host,
                (piece->memory, from->address + piece->offset, piece->size,
                 stream));
    return GB_CUDA(card, event_record, (from->queue->end, stream));
}

static enum ggml_status
receive(const struct piece *piece, const struct gb_cuda_stage_end *to,
        gb_cuda_event sent)
{
    struct gb_cuda_card *card = to->hold->card;
    const gb_cuda_stream stream = to->queue->stream;

    GB_CUDA_TRY(card, stream_wait_event, (stream, sent, 0));
    GB_CUDA_TRY(card, copy_to_device,
                (to->address + piece->offset, piece->memory, piece->size,
                 stream));
    return GB_CUDA(card, event_record, (piece->taken, stream));
}

static bool
copy_piece(const struct piece *piece, const struct gb_cuda_stage_end *from,
           const struct gb_cuda_stage_end *to)
{
    enum ggml_status status;

    if (!gb_cuda_enter(from->hold))
        return false;
    status = send(piece, from);
    gb_cuda_leave(from->hold);
    if (status != GGML_STATUS_SUCCESS || !gb_cuda_enter(to->hold))
        return false;
    status = receive(piece, to, from->queue->end);
    gb_cuda_leave(to->hold);
    return status == GGML_STATUS_SUCCESS;
}

bool
gb_cuda_stage_copy(
    struct gb_cuda_stage *stage, const struct gb_cuda_stage_end *from,
    const struct gb_cuda_stage_end *to, size_t size)
{
    if (!is_ready(stage, to->hold))
        return false;
    for (size_t offset = 0; offset < size; offset += SLOT_SIZE) {
        const unsigned slot = stage->n_copies++ % GB_CUDA_STAGE_SLOTS;
        const size_t left = size - offset;
        const struct piece piece = {
            .memory = stage->memory + (size_t)slot * SLOT_SIZE,
            .taken = stage->taken[slot],
            .offset = offset,
            .size = left < SLOT_SIZE ? left : SLOT_SIZE,
        };

        if (!copy_piece(&piece, from, to))
            return false;
    }
    return true;
}

void
gb_cuda_stage_clear(struct gb_cuda_stage *stage, struct gb_cuda_card *card)
{
    if (stage->memory == NULL)
        return;
    destroy_events(stage, card, GB_CUDA_STAGE_SLOTS);
    GB_CUDA_CLEANUP(card, host_free, (stage->memory));
    memset(stage, 0, sizeof(*stage));
}
