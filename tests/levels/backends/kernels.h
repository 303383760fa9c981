/* SPDX-License-Identifier: MIT */
/*
 * levels/backends/kernels.h - the arithmetic of the test backends, as plain as
 * it can be.  Compiled for each level, whose ggml.h it includes.
 */
#ifndef GB_TESTS_LEVELS_KERNELS_H
#define GB_TESTS_LEVELS_KERNELS_H

#include "ggml.h"

/* Can run_node compute the node?  All is F32 but positions. */
bool can_run_node(const struct ggml_tensor *node);

/* Compute the node, whose tensors' data are addresses of this process. */
void run_node(struct ggml_tensor *node);

#endif
