/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>
#include <math.h>
#include <stdio.h>

/* The distance of two points: the root of the differences' squares. */
int
main(void)
{
    struct ggml_init_params params = { 1 << 20, NULL, false };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *a = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 2);
    struct ggml_tensor *b = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 2);
    struct ggml_tensor *distance = ggml_sqrt(
        ctx, ggml_sum(ctx, ggml_sqr(ctx, ggml_sub(ctx, a, b))));
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    float result = NAN;

    ggml_build_forward_expand(graph, distance);
    ggml_set_f32(a, 1);
    ggml_set_f32_1d(b, 0, 4);
    ggml_set_f32_1d(b, 1, 5);
    if (ggml_graph_compute_with_ctx(ctx, graph, 1) == GGML_STATUS_SUCCESS)
        result = ggml_get_f32_1d(distance, 0);
    printf("%g\n", result);
    ggml_free(ctx);
    return fabsf(result - 5) < 1e-6f ? 0 : 1;
}
