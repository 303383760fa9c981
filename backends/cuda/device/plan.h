/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/plan.h - a graph as a list of launches.
 */
#ifndef GB_CUDA_DEVICE_PLAN_H
#define GB_CUDA_DEVICE_PLAN_H

#include "backends/cuda/device/context.h"
#include "backends/cuda/device/device.h"

#include "ggml-impl.h"

struct gb_cuda_launch {
    enum gb_cuda_kernel kernel;
    gb_cuda_function function;
    unsigned n_blocks;
    unsigned shared;    /* bytes of dynamic shared memory of a block */
    unsigned args;      /* where its argument struct stands in the plan's */
    unsigned args_size;
};

/* All zero: empty.  The arrays grow and are kept. */
struct gb_cuda_plan {
    struct gb_cuda_launch *launches;
    size_t n_launches, room_launches;
    char *args; /* argument structs, each at a multiple of 16 */
    size_t n_args, room_args; /* bytes */
};

/* Memory for the launches of one node at a time; all zero: none. */
struct gb_cuda_scratch {
    gb_cuda_address address;
    size_t size;
};

/*
 * Write CGRAPH's launches to PLAN, whose former ones go.  SCRATCH is made as
 * large as the graph needs; what uses it must be done, or be in QUEUE.  All in
 * the entered context of HOLD.
 */
struct gb_cuda_queue;
enum ggml_status gb_cuda_plan_make(
    struct gb_cuda_plan *plan, const struct gb_cuda_hold *hold,
    struct gb_cuda_scratch *scratch, struct gb_cuda_queue *queue,
    const struct ggml_cgraph *cgraph);

void gb_cuda_plan_clear(struct gb_cuda_plan *plan);

/* In the entered context; nothing uses the memory any more. */
void gb_cuda_scratch_clear(
    struct gb_cuda_scratch *scratch, struct gb_cuda_card *card);

static inline const void *
gb_cuda_plan_args(
    const struct gb_cuda_plan *plan, const struct gb_cuda_launch *launch)
{
    return plan->args + launch->args;
}

#endif
