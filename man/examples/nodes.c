/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>
#include <stdio.h>

/* Two results from one graph; what they share is computed once. */
int
main(void)
{
    struct ggml_init_params params = { 1 << 20, NULL, false };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *x = ggml_set_name(
        ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4), "x");
    struct ggml_tensor *squares = ggml_set_name(ggml_sqr(ctx, x),
                                                "squares");
    struct ggml_tensor *sum = ggml_sum(ctx, squares);
    struct ggml_tensor *mean = ggml_mean(ctx, squares);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    bool is_right;

    ggml_build_forward_expand(graph, sum);
    ggml_build_forward_expand(graph, mean);
    for (int i = 0; i < ggml_graph_n_nodes(graph); i++)
        printf("%s\n", ggml_get_name(ggml_graph_node(graph, i)));
    ggml_set_f32(ggml_graph_get_tensor(graph, "x"), 3);
    is_right = ggml_graph_n_nodes(graph) == 3 &&
               ggml_graph_node(graph, -1) == mean &&
               ggml_graph_compute_with_ctx(ctx, graph, 1) ==
                   GGML_STATUS_SUCCESS &&
               ggml_get_f32_1d(sum, 0) == 36 &&
               ggml_get_f32_1d(mean, 0) == 9;
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
