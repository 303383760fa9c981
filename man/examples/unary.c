/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>
#include <math.h>
#include <stdio.h>

/* The gate of a SwiGLU layer: silu(gate) * up. */
int
main(void)
{
    const double expected[] = { -0.537883, 0, 1.462117 };
    struct ggml_init_params params = { 1 << 20, NULL, false };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *gate = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 3);
    struct ggml_tensor *up = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 3);
    struct ggml_tensor *y = ggml_mul(ctx, ggml_silu(ctx, gate), up);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    bool is_right;

    ggml_build_forward_expand(graph, y);
    for (int i = 0; i < 3; i++)
        ggml_set_f32_1d(gate, i, i - 1);
    ggml_set_f32(up, 2);
    is_right = ggml_graph_compute_with_ctx(ctx, graph, 1) ==
               GGML_STATUS_SUCCESS;
    for (int i = 0; i < 3 && is_right; i++) {
        printf("%g\n", ggml_get_f32_1d(y, i));
        is_right = fabs(ggml_get_f32_1d(y, i) - expected[i]) < 1e-5;
    }
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
