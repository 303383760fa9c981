/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/live.h - the streams of all backends that live.
 *
 * A copy from card to card is in the sender's stream, and uses the receiver's
 * memory.  Where the receiver fails its own stream does not tell any more when
 * that is over.
 */
#ifndef GB_CUDA_DEVICE_LIVE_H
#define GB_CUDA_DEVICE_LIVE_H

#include "backends/cuda/device/context.h"
#include "backends/cuda/device/stream.h"

/* A backend's place in the list. */
struct gb_cuda_live {
    struct gb_cuda_live *next;
    const struct gb_cuda_hold *hold;
    struct gb_cuda_queue *queue;
};

/* From the one to the other HOLD and QUEUE stay.  Any thread. */
void gb_cuda_live_add(struct gb_cuda_live *live);
void gb_cuda_live_remove(struct gb_cuda_live *live);

/* Wait until all that is queued is done, without a word.  Any thread. */
void gb_cuda_live_drain(void);

#endif
