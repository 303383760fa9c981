/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/stream.c - a stream, and waiting for it.
 *
 * A wait asks for a short time whether the work is done, which catches short
 * work at once.  Then it naps between questions, a small share of what it has
 * waited at a time, and after a tenth of a second it sleeps in the driver, from
 * where it comes back late: a token of 5 ms took 0.5 ms longer on an H200.
 */
#include "backends/cuda/device/stream.h"

#include "backends/cuda/device/check.h"

#include <time.h>

enum {
    NAP_SHARE = 64,   /* of what was waited, that a nap takes */
    NAPS_US = 100000, /* in which there are naps */
};

enum ggml_status
gb_cuda_event_make(struct gb_cuda_card *card, gb_cuda_event *event)
{
    return GB_CUDA(card, event_create,
                   (event, GB_CUDA_EVENT_BLOCKING_SYNC |
                               GB_CUDA_EVENT_DISABLE_TIMING));
}

enum ggml_status
gb_cuda_queue_init(struct gb_cuda_card *card, struct gb_cuda_queue *queue)
{
    enum ggml_status status;

    GB_CUDA_TRY(card, stream_create,
                (&queue->stream, GB_CUDA_STREAM_NON_BLOCKING));
    status = gb_cuda_event_make(card, &queue->end);
    if (status != GGML_STATUS_SUCCESS)
        GB_CUDA_CLEANUP(card, stream_destroy, (queue->stream));
    return status;
}

void
gb_cuda_queue_clear(struct gb_cuda_card *card, struct gb_cuda_queue *queue)
{
    GB_CUDA_CLEANUP(card, event_destroy, (queue->end));
    GB_CUDA_CLEANUP(card, stream_destroy, (queue->stream));
}

/* ---- waiting ---- */

static int64_t
now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void
nap(int64_t us)
{
    const struct timespec time = { .tv_nsec = us * 1000 };

    nanosleep(&time, NULL);
}

/* What the event answers when the time for questions is over, or it is done. */
static int
ask(struct gb_cuda_card *card, gb_cuda_event event)
{
    const int64_t begin = now_us(), spin_us = card->spin_us;
    int64_t waited = 0;
    int result;

    do {
        if (spin_us >= 0 && waited >= spin_us)
            nap(waited / NAP_SHARE);
        result = card->driver->event_query(event);
        waited = now_us() - begin;
    } while (result == GB_CUDA_NOT_READY && (spin_us < 0 || waited < NAPS_US));
    return result;
}

enum ggml_status
gb_cuda_event_await(struct gb_cuda_card *card, gb_cuda_event event)
{
    const int result = ask(card, event);

    if (result == GB_CUDA_NOT_READY)
        return GB_CUDA(card, event_wait, (event));
    return gb_cuda_check(card, result, GB_CUDA_CALL_event_query);
}

/*
 * One more try where an event cannot be recorded just now: memory may be
 * short.
 */
void
gb_cuda_queue_drain(struct gb_cuda_card *card, struct gb_cuda_queue *queue)
{
    const struct gb_cuda_driver *driver = card->driver;
    int result = driver->event_record(queue->end, queue->stream);

    if (result != GB_CUDA_SUCCESS)
        result = driver->event_record(queue->end, queue->stream);
    if (result == GB_CUDA_SUCCESS)
        driver->event_wait(queue->end);
}

/*
 * Memory that queued work uses may go when the call returns, however it ends.
 */
enum ggml_status
gb_cuda_queue_wait(struct gb_cuda_card *card, struct gb_cuda_queue *queue)
{
    enum ggml_status status =
        GB_CUDA(card, event_record, (queue->end, queue->stream));

    if (status == GGML_STATUS_SUCCESS)
        status = gb_cuda_event_await(card, queue->end);
    if (status != GGML_STATUS_SUCCESS)
        gb_cuda_queue_drain(card, queue);
    return status;
}
