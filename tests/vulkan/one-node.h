/* SPDX-License-Identifier: MIT */
/*
 * tests/vulkan/one-node.h - a graph of one node on a backend.
 */
#ifndef GB_TESTS_VULKAN_ONE_NODE_H
#define GB_TESTS_VULKAN_ONE_NODE_H

#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml.h"

/* For up to eight tensors, without their values. */
struct ggml_context *one_node_context(void);

/* Memory for NODE and its operands, the tensors of CTX; the test fails where
 * BACKEND cannot compute it. */
ggml_backend_buffer_t one_node_place(ggml_backend_t backend,
                                     struct ggml_context *ctx,
                                     const struct ggml_tensor *node);

/* What NODE comes to, which the caller frees. */
float *one_node_compute(ggml_backend_t backend, struct ggml_context *ctx,
                        struct ggml_tensor *node);

#endif
