/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/plan.h - a graph as a list of launches.
 */
#ifndef GB_CUDA_DEVICE_PLAN_H
#define GB_CUDA_DEVICE_PLAN_H

#include "backends/cuda/device/context.h"
#include "backends/cuda/device/device.h"
#include "backends/cuda/ops/op.h"

#include "lib/fuse/fuse.h"
#include "lib/fuse/seen.h"

#include "ggml-impl.h"

struct gb_cuda_launch {
    enum gb_cuda_kernel kernel;
    gb_cuda_function function;
    unsigned n_blocks;
    unsigned shared;    /* bytes of dynamic shared memory of a block */
    unsigned args;      /* where its argument struct stands in the plan's */
    unsigned args_size;
};

/* The launches of a node, or of the group that is computed where it stands. */
struct gb_cuda_unit {
    unsigned first, n;
    uint64_t change; /* of the plan, in which they were changed last */
};

enum { GB_CUDA_STEP_SOURCES = 3 };

struct gb_cuda_split_tensor;

/*
 * A product that is more than launches here: of weights on several cards, or
 * one that the vendor's BLAS may do in the place of the launches that follow.
 */
struct gb_cuda_step {
    size_t before; /* so many launches come first */
    struct gb_cuda_gemm gemm; /* m is 0 without the BLAS; else nothing below */
    struct ggml_tensor node, sources[GB_CUDA_STEP_SOURCES];
    int n_sources;
    const struct gb_cuda_split_tensor *weights; /* of sources[0] */
};

/* All zero: empty.  The arrays grow and are kept. */
struct gb_cuda_plan {
    struct gb_cuda_launch *launches;
    size_t n_launches, room_launches;
    struct gb_cuda_step *steps;
    size_t n_steps, room_steps;
    char *args; /* argument structs, each at a multiple of 16 */
    size_t n_args, room_args; /* bytes */

    /* Of the graph that it was made of last. */
    struct gb_fuse fuse;
    struct gb_fuse_seen seen;
    struct gb_cuda_unit *units; /* by node */
    size_t room_units;
    struct gb_cuda_needs needs;

    /* Plans of one number are alike but for arguments of some launches. */
    uint64_t number;
    uint64_t change; /* how often arguments were changed */
    unsigned *changed; /* launches that were since the plan was run */
    size_t n_changed, room_changed;
};

/* Memory for the launches of one node at a time, and columns that several
 * share; all zero: none. */
struct gb_cuda_scratch {
    gb_cuda_address address;
    size_t size;
};

/* Room for N items of SIZE bytes each, which may move; false: no memory. */
bool gb_cuda_plan_grow(void **items, size_t *room, size_t n, size_t size);

/* LAUNCH got other arguments, or a size; false: no memory to keep that. */
bool gb_cuda_plan_note_change(struct gb_cuda_plan *plan, size_t launch);

/*
 * Write CGRAPH's launches to PLAN, whose former ones go; or change those that
 * are others, where it is the graph that the plan was made of last.  SCRATCH is
 * made as large as the graph needs; what uses it must be done, or be in QUEUE.
 * All in the entered context of HOLD.
 */
struct gb_cuda_queue;
enum ggml_status gb_cuda_plan_make(
    struct gb_cuda_plan *plan, const struct gb_cuda_hold *hold,
    struct gb_cuda_scratch *scratch, struct gb_cuda_queue *queue,
    const struct ggml_cgraph *cgraph);

/*
 * The same for one node, which is supported, lies on the card, and finds its
 * scratch at SCRATCH.
 */
enum ggml_status gb_cuda_plan_node(
    struct gb_cuda_plan *plan, const struct gb_cuda_hold *hold,
    gb_cuda_address scratch, const struct ggml_tensor *node);

void gb_cuda_plan_clear(struct gb_cuda_plan *plan);

/*
 * SIZE bytes at least, in the entered context; what uses them is in QUEUE,
 * which is waited for where they move.
 */
enum ggml_status gb_cuda_scratch_grow(
    struct gb_cuda_scratch *scratch, struct gb_cuda_card *card,
    struct gb_cuda_queue *queue, size_t size);

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
