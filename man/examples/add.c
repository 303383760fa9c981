/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>
#include <stdio.h>

/* A bias for each column, added to every row: b repeats into a. */
int
main(void)
{
    struct ggml_init_params params = { 1 << 20, NULL, false };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *a = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 3, 2);
    struct ggml_tensor *bias = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 3);
    struct ggml_tensor *y = ggml_add(ctx, a, bias);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    bool is_right;

    ggml_build_forward_expand(graph, y);
    for (int i = 0; i < 3; i++) {
        ggml_set_f32_nd(a, i, 0, 0, 0, 10);
        ggml_set_f32_nd(a, i, 1, 0, 0, 20);
        ggml_set_f32_1d(bias, i, i);
    }
    is_right = ggml_graph_compute_with_ctx(ctx, graph, 1) ==
               GGML_STATUS_SUCCESS;
    for (int i = 0; i < 6 && is_right; i++) {
        printf("%g%c", ggml_get_f32_1d(y, i), i % 3 == 2 ? '\n' : ' ');
        is_right = ggml_get_f32_1d(y, i) == 10 * (i / 3 + 1) + i % 3;
    }
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
