/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>
#include <stdio.h>

/* The three most likely of 100 tokens, and the mean of all logits. */
int
main(void)
{
    struct ggml_init_params params = { 1 << 20, NULL, false };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *logits = ggml_new_tensor_1d(
        ctx, GGML_TYPE_F32, 100);
    struct ggml_tensor *best = ggml_top_k(ctx, logits, 3);
    struct ggml_tensor *mean = ggml_mean(ctx, logits);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    bool is_right;

    ggml_build_forward_expand(graph, best);
    ggml_build_forward_expand(graph, mean);
    ggml_set_f32(logits, 1);
    ggml_set_f32_1d(logits, 42, 9);
    ggml_set_f32_1d(logits, 7, 8);
    ggml_set_f32_1d(logits, 99, 5);
    is_right = ggml_graph_compute_with_ctx(ctx, graph, 1) ==
                   GGML_STATUS_SUCCESS &&
               ggml_get_i32_1d(best, 0) == 42 &&
               ggml_get_i32_1d(best, 1) == 7 &&
               ggml_get_i32_1d(best, 2) == 99;
    printf("%d %d %d, mean %g\n", ggml_get_i32_1d(best, 0),
           ggml_get_i32_1d(best, 1), ggml_get_i32_1d(best, 2),
           ggml_get_f32_1d(mean, 0));
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
