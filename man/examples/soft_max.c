/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>
#include <math.h>
#include <stdio.h>

enum { HEAD = 16, N_TOKENS = 4 };

/* Attention in its parts: each token sees itself and those before it. */
int
main(void)
{
    struct ggml_init_params params = { 1 << 20, NULL, false };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *q = ggml_new_tensor_2d(
        ctx, GGML_TYPE_F32, HEAD, N_TOKENS);
    struct ggml_tensor *k = ggml_dup_tensor(ctx, q);
    struct ggml_tensor *v = ggml_dup_tensor(ctx, q);
    struct ggml_tensor *mask = ggml_new_tensor_2d(ctx, GGML_TYPE_F32,
                                                  N_TOKENS, N_TOKENS);
    struct ggml_tensor *weights = ggml_soft_max_ext(
        ctx, ggml_mul_mat(ctx, k, q), mask, 0.25f, 0); /* 1/sqrt(HEAD) */
    struct ggml_tensor *out = ggml_mul_mat(
        ctx, ggml_cont(ctx, ggml_transpose(ctx, v)), weights);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    bool is_right;

    ggml_build_forward_expand(graph, out);
    ggml_set_f32(q, 1);
    ggml_set_f32(k, 1); /* all keys alike, so that all weights are */
    for (int t = 0; t < N_TOKENS; t++) {
        for (int i = 0; i < HEAD; i++)
            ggml_set_f32_nd(v, i, t, 0, 0, t);
        for (int j = 0; j < N_TOKENS; j++)
            ggml_set_f32_nd(mask, j, t, 0, 0, j > t ? -INFINITY : 0);
    }
    is_right = ggml_graph_compute_with_ctx(ctx, graph, 2) ==
               GGML_STATUS_SUCCESS;
    for (int t = 0; t < N_TOKENS; t++) { /* the mean of 0, 1, ... t */
        printf("token %d: %g\n", t, ggml_get_f32_nd(out, 0, t, 0, 0));
        is_right = is_right && fabs(ggml_get_f32_nd(out, 0, t, 0, 0) -
                                    t / 2.0) < 1e-5;
    }
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
