/* SPDX-License-Identifier: MIT */
/*
 * bench/job.h - one case, ready to run again and again.
 *
 * Most are graphs: leafs with values in the device's memory, and nodes whose
 * places an allocator plans, as clients do it.
 */
#ifndef TOOLS_BENCH_JOB_H
#define TOOLS_BENCH_JOB_H

#include "tools/ggmlbackend-bench/result.h"
#include "tools/model/engine.h"

#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct job {
    const struct device *device;
    struct ggml_context *leafs;
    struct ggml_context *nodes;
    struct ggml_cgraph *graph;
    ggml_backend_buffer_t buffer;
    ggml_gallocr_t alloc;

    double work; /* of one run, in the case's unit */
    struct demand demand;

    /* Of copies */
    void *bytes;

    /* Of models */
    struct engine engine;
    int32_t *ids;
    float *logits;
    int64_t n_tokens;
    int64_t n_seq;
    int64_t depth;
};

/* The name of a leaf of whole numbers that are experts; others are positions
   and rows. */
#define JOB_EXPERTS "experts"

/* Contexts for up to N_NODES nodes; false after a message. */
bool job_begin(struct job *job, const struct device *device, size_t n_nodes);

/*
 * Place the graph that ends in RESULT, and fill the leafs.  *IS_SUPPORTED says
 * whether the device computes all of it; without that nothing is placed.
 * False after a message.
 */
bool job_place(struct job *job, struct ggml_tensor *result, size_t n_nodes,
               bool *is_supported);

/* Values for T, which has a place: the same for all libraries. */
bool job_fill(struct ggml_tensor *t);

/* The instructions of JOB's device that could compute products of weights of TYPE
 * best. */
enum peak job_peak(const struct job *job, enum ggml_type type);

/* Compute the graph; begin to, where it need not be done when that returns.
 * False after a message. */
bool job_compute(struct job *job);
bool job_queue(struct job *job);

/* All of what any of the above made. */
void job_end(struct job *job);

#endif
