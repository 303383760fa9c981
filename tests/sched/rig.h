/* SPDX-License-Identifier: MIT */
/*
 * tests/sched/rig.h - a scheduler over simulated devices and the CPU, with a
 * graph to build.
 */
#ifndef GB_TESTS_SCHED_RIG_H
#define GB_TESTS_SCHED_RIG_H

#include "tests/sim/sim.h"

#define RIG_MAX 8 /* backends */

struct rig {
    ggml_backend_t backends[RIG_MAX]; /* devices, and the CPU behind */
    int n_backends;
    ggml_backend_sched_t sched;
    struct ggml_context *ctx;  /* of the graph */
    struct ggml_cgraph *graph; /* with room for 256 nodes */
    struct ggml_context *data; /* of what lies somewhere before */
    ggml_backend_buffer_t buffers[64];
    int n_buffers;
};

/*
 * N_DEVICES devices, as they are configured (sim_reset for the default), the
 * CPU, and an empty graph.
 */
void rig_open(struct rig *rig, int n_devices, bool parallel);

/* Free all; fails the test when a device has anything left. */
void rig_close(struct rig *rig);

/* Reset the scheduler, and begin a new graph. */
void rig_restart(struct rig *rig);

/* A vector of N floats in the graph's context; flagged as an input. */
struct ggml_tensor *rig_vector(struct rig *rig, int64_t n);
struct ggml_tensor *rig_input(struct rig *rig, int64_t n);

/* N1 rows of N0 floats VALUE in a buffer of BUFT for USAGE. */
struct ggml_tensor *rig_data(
    struct rig *rig, ggml_backend_buffer_type_t buft,
    enum ggml_backend_buffer_usage usage, int64_t n0, int64_t n1, float value);

/* The same as weights in the memory of a backend. */
struct ggml_tensor *rig_weights(
    struct rig *rig, int backend, int64_t n0, int64_t n1, float value);

/* Put the tensor and all that it is made of into the graph. */
void rig_expand(struct rig *rig, struct ggml_tensor *tensor);

/* Give the graph its places; fails the test when that fails. */
void rig_alloc(struct rig *rig);

/* The number of the tensor's backend, -1 for none. */
int rig_backend_of(const struct rig *rig, struct ggml_tensor *tensor);

/* Let BACKEND compute TENSOR, and give it back. */
struct ggml_tensor *rig_choose(
    struct rig *rig, struct ggml_tensor *tensor, int backend);

/* All elements of a tensor of floats. */
void rig_set(struct ggml_tensor *tensor, float value);

/* Fails the test unless every element is VALUE. */
void rig_expect(const struct ggml_tensor *tensor, float value);

/* Compute the allocated graph, which must succeed. */
void rig_compute(struct rig *rig);

/* A custom operation, which only the host runs: half of each float. */
void rig_halve(struct ggml_tensor *dst, const struct ggml_tensor *a, int ith,
               int nth, void *data);

#endif
