/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>
#include <math.h>
#include <stdio.h>

enum { HEAD = 8, N_TOKENS = 5 };

/* The product of a query and a key depends on their distance alone. */
int
main(void)
{
    struct ggml_init_params params = { 1 << 20, NULL, false };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *x = ggml_new_tensor_3d(
        ctx, GGML_TYPE_F32, HEAD, 1, N_TOKENS); /* one head */
    struct ggml_tensor *pos = ggml_new_tensor_1d(
        ctx, GGML_TYPE_I32, N_TOKENS);
    struct ggml_tensor *q = ggml_rope_ext(ctx, x, pos, NULL, HEAD,
                                          GGML_ROPE_TYPE_NEOX, 0, 10000,
                                          1, 0, 1, 0, 0);
    struct ggml_tensor *rows = ggml_reshape_2d(ctx, q, HEAD, N_TOKENS);
    struct ggml_tensor *y = ggml_mul_mat(ctx, rows, rows);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    bool is_right;

    ggml_build_forward_expand(graph, y);
    ggml_set_f32(x, 1);
    for (int t = 0; t < N_TOKENS; t++)
        ggml_set_i32_1d(pos, t, t + 100);
    is_right = ggml_graph_compute_with_ctx(ctx, graph, 1) ==
               GGML_STATUS_SUCCESS;
    for (int t = 0; t + 1 < N_TOKENS; t++) {
        const float next = ggml_get_f32_nd(y, t, t + 1, 0, 0);

        printf("%d and %d: %g\n", t + 100, t + 101, next);
        is_right = is_right &&
                   fabsf(next - ggml_get_f32_nd(y, 0, 1, 0, 0)) < 1e-4f;
    }
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
