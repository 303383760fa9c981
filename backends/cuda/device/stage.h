/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/stage.h - asynchronous copies between cards that do not reach
 * each other, through pinned memory of the host.
 */
#ifndef GB_CUDA_DEVICE_STAGE_H
#define GB_CUDA_DEVICE_STAGE_H

#include "backends/cuda/device/context.h"
#include "backends/cuda/device/stream.h"

enum { GB_CUDA_STAGE_SLOTS = 2 };

/* Belongs to a backend that receives; all zero: not used yet. */
struct gb_cuda_stage {
    char *memory; /* GB_CUDA_STAGE_SLOTS slots; NULL: none yet */
    gb_cuda_event taken[GB_CUDA_STAGE_SLOTS]; /* the slot's data is out of it */
    unsigned n_copies;                        /* through any slot, ever */
};

struct gb_cuda_stage_end {
    const struct gb_cuda_hold *hold;
    struct gb_cuda_queue *queue;
    gb_cuda_address address;
};

/*
 * Copy SIZE bytes: after what is in FROM's stream, before later work of either.
 * The host does not wait.  False: not to be had, and nothing was queued that
 * matters.
 */
bool gb_cuda_stage_copy(
    struct gb_cuda_stage *stage, const struct gb_cuda_stage_end *from,
    const struct gb_cuda_stage_end *to, size_t size);

/* In the entered context of the receiver, whose stream is done. */
void gb_cuda_stage_clear(
    struct gb_cuda_stage *stage, struct gb_cuda_card *card);

#endif
