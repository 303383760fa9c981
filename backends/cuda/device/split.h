/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/split.h - products of weights whose rows lie on several cards.
 */
#ifndef GB_CUDA_DEVICE_SPLIT_H
#define GB_CUDA_DEVICE_SPLIT_H

#include "backends/cuda/device/live.h"
#include "backends/cuda/device/plan.h"
#include "backends/cuda/device/split-buffer.h"
#include "backends/cuda/device/stage.h"

/* What a backend has on a card that computes for it; all zero: nothing yet. */
struct gb_cuda_worker {
    struct gb_cuda_hold hold;
    struct gb_cuda_queue queue;
    struct gb_cuda_live live;
    struct gb_cuda_scratch memory;
    struct gb_cuda_stage in, out; /* of the worker's, of the backend's card */
};

struct gb_cuda_split {
    struct gb_cuda_worker workers[GB_CUDA_MAX_DEVICES]; /* by device */
    struct gb_cuda_scratch memory; /* on the backend's card */
    struct gb_cuda_plan plan;      /* of one node of a step */
};

/*
 * Get ready for the steps of PLAN, on the card and for the stream of a backend,
 * whose context is entered: streams, and memory on all cards.
 */
enum ggml_status gb_cuda_split_prepare(
    struct gb_cuda_split *split, const struct gb_cuda_hold *hold,
    struct gb_cuda_queue *queue, const struct gb_cuda_plan *plan);

/* Queue the STEP of such a plan. */
enum ggml_status gb_cuda_split_run(
    struct gb_cuda_split *split, const struct gb_cuda_hold *hold,
    struct gb_cuda_queue *queue, const struct gb_cuda_step *step);

/* What is in the backend's context, which is entered; all streams are done. */
void gb_cuda_split_clear(
    struct gb_cuda_split *split, struct gb_cuda_card *card);

/* Everything else, afterwards or where that context is gone. */
void gb_cuda_split_release(struct gb_cuda_split *split);

#endif
