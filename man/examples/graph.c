/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>
#include <stdio.h>

enum { MAX_NODES = 16 };

/* Compute 1 + 1 + ... in a graph that is built anew for each length. */
static bool
count_to(struct ggml_context *ctx, struct ggml_cgraph *graph, int n)
{
    struct ggml_tensor *one = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1);
    struct ggml_tensor *sum = one;

    ggml_set_f32(one, 1);
    for (int i = 1; i < n; i++)
        sum = ggml_add(ctx, sum, one);
    ggml_graph_clear(graph);
    ggml_build_forward_expand(graph, sum);
    if (ggml_graph_compute_with_ctx(ctx, graph, 1) != GGML_STATUS_SUCCESS)
        return false;
    printf("%d nodes: %g\n", ggml_graph_n_nodes(graph),
           ggml_get_f32_1d(sum, 0));
    return ggml_get_f32_1d(sum, 0) == n;
}

int
main(void)
{
    struct ggml_init_params params = {
        .mem_size = ggml_graph_overhead_custom(MAX_NODES, false) +
                    100 * (ggml_tensor_overhead() + GGML_MEM_ALIGN),
    };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_cgraph *graph = ggml_new_graph_custom(
        ctx, MAX_NODES, false);
    bool is_right = true;

    for (int n = 2; n <= 5; n++)
        is_right = is_right && count_to(ctx, graph, n);
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
