/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/between.c - asynchronous copies from one stream's card to another's.
 *
 * The source's stream copies, and the destination's waits for it, so that later
 * work of the source may write over what was copied.
 */
#include "backends/cuda/device/between.h"

#include "backends/cuda/device/check.h"
#include "backends/cuda/device/peer.h"

/* In the source's stream, whose context is entered. */
static enum ggml_status
queue_copy(
    const struct gb_cuda_stage_end *from, const struct gb_cuda_stage_end *to,
    size_t size)
{
    struct gb_cuda_card *card = from->hold->card;
    const gb_cuda_stream stream = from->queue->stream;

    if (card == to->hold->card)
        GB_CUDA_TRY(card, copy_on_device,
                    (to->address, from->address, size, stream));
    else
        GB_CUDA_TRY(card, copy_to_peer,
                    (to->address, to->hold->context, from->address,
                     from->hold->context, size, stream));
    if (from->queue == to->queue)
        return GGML_STATUS_SUCCESS;
    return GB_CUDA(card, event_record, (from->queue->end, stream));
}

/* Later work of TO waits for what FROM's event was recorded behind. */
static bool
queue_wait(
    const struct gb_cuda_stage_end *from, const struct gb_cuda_stage_end *to)
{
    enum ggml_status status;

    if (!gb_cuda_enter(to->hold))
        return false;
    status = GB_CUDA(to->hold->card, stream_wait_event,
                     (to->queue->stream, from->queue->end, 0));
    gb_cuda_leave(to->hold);
    return status == GGML_STATUS_SUCCESS;
}

static bool
copy_directly(
    const struct gb_cuda_stage_end *from, const struct gb_cuda_stage_end *to,
    size_t size)
{
    enum ggml_status status;

    if (!gb_cuda_enter(from->hold))
        return false;
    status = queue_copy(from, to, size);
    gb_cuda_leave(from->hold);
    return status == GGML_STATUS_SUCCESS &&
           (from->queue == to->queue || queue_wait(from, to));
}

bool
gb_cuda_copy_between(
    struct gb_cuda_stage *stage, const struct gb_cuda_stage_end *from,
    const struct gb_cuda_stage_end *to, size_t size)
{
    if (from->hold->card == to->hold->card ||
        gb_cuda_peer_works(from->hold, to->hold))
        return copy_directly(from, to, size);
    return gb_cuda_stage_copy(stage, from, to, size);
}
