/* SPDX-License-Identifier: MIT */
/*
 * tests/sim/sim.h - simulated devices for a test.
 */
#ifndef GB_TESTS_SIM_SIM_H
#define GB_TESTS_SIM_SIM_H

#include "backends/sim/sim.h"

#include "ggml-cpu.h"

/* All devices as they are by default, and nothing to fail. */
void sim_reset(void);

ggml_backend_dev_t sim_device(int index);

/* A backend on the device, below 0 the CPU; freed with ggml_backend_free. */
ggml_backend_t sim_backend(int index);

/* A context with no_alloc, for a few hundred tensors. */
struct ggml_context *sim_context(void);

/* Random numbers from -1 to 1 in a tensor of any type that floats fit into. */
void sim_fill(struct ggml_tensor *tensor, uint64_t seed);

/* Does nothing of any device live?  What does is written to stderr. */
bool sim_is_clean(void);

#endif
