/* SPDX-License-Identifier: MIT */
/*
 * tests/vulkan/one-node.c - a graph of one node on a backend.
 */
#include "config.h"

#include "tests/vulkan/one-node.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

struct ggml_context *
one_node_context(void)
{
    return ggml_init((struct ggml_init_params){
        .mem_size = 8 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true });
}

ggml_backend_buffer_t
one_node_place(ggml_backend_t backend, struct ggml_context *ctx,
               const struct ggml_tensor *node)
{
    ggml_backend_buffer_t buffer;

    assert_true(ggml_backend_supports_op(backend, node));
    buffer = ggml_backend_alloc_ctx_tensors(ctx, backend);
    assert_non_null(buffer);
    return buffer;
}

float *
one_node_compute(ggml_backend_t backend, struct ggml_context *ctx,
                 struct ggml_tensor *node)
{
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    float *result = malloc(ggml_nbytes(node));

    assert_non_null(result);
    ggml_build_forward_expand(graph, node);
    assert_int_equal(ggml_backend_graph_compute(backend, graph),
                     GGML_STATUS_SUCCESS);
    ggml_backend_tensor_get(node, result, 0, ggml_nbytes(node));
    return result;
}
