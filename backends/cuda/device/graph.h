/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/graph.h - run a plan: launch after launch, or as a driver's graph
 * that was recorded from one of the same shape.
 */
#ifndef GB_CUDA_DEVICE_GRAPH_H
#define GB_CUDA_DEVICE_GRAPH_H

#include "backends/cuda/device/plan.h"

enum { GB_CUDA_MAX_RECORDINGS = 8 };

/* A plan that was run, and the driver's graph that was made of it. */
struct gb_cuda_recording {
    struct gb_cuda_plan plan;  /* with the arguments that EXEC has */
    uint64_t number; /* of the plan that it was brought up to last */
    gb_cuda_graph graph;
    gb_cuda_graph_exec exec;   /* NULL: the plan was seen once */
    gb_cuda_graph_node *nodes; /* one a launch */
    uint64_t last_use;
    int n_changes; /* of nodes since EXEC was made */
};

/* All zero: nothing was run. */
struct gb_cuda_recordings {
    struct gb_cuda_recording items[GB_CUDA_MAX_RECORDINGS];
    uint64_t n_uses;
    bool is_off; /* the driver could not; launches do it */
};

/* Asked before each batch of launches; NULL: nobody to ask. */
struct gb_cuda_abort {
    ggml_abort_callback callback;
    void *data;
};

bool gb_cuda_is_aborted(const struct gb_cuda_abort *abort);

/*
 * Put PLAN's launches into STREAM, in the entered context, and forget which of
 * them were changed.  GGML_STATUS_ABORTED when the callback says so: those
 * before are in the stream then.  RECORDINGS are of one plan and what it was
 * before.
 */
enum ggml_status gb_cuda_run(
    struct gb_cuda_recordings *recordings, struct gb_cuda_card *card,
    gb_cuda_stream stream, struct gb_cuda_plan *plan,
    const struct gb_cuda_abort *abort);

/* Launches FIRST to FIRST + N - 1, one after the other. */
enum ggml_status gb_cuda_launch_all(
    struct gb_cuda_card *card, gb_cuda_stream stream,
    const struct gb_cuda_plan *plan, size_t first, size_t n);

/* In the entered context; nothing of them runs any more. */
void gb_cuda_recordings_clear(
    struct gb_cuda_recordings *recordings, struct gb_cuda_card *card);

/* The same where the context is gone, and the driver's graphs with it. */
void gb_cuda_recordings_forget(struct gb_cuda_recordings *recordings);

#endif
