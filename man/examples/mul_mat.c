/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>
#include <math.h>
#include <stdio.h>

enum { N_IN = 3, N_OUT = 2, N_TOKENS = 2 };

/* A linear layer: weights times the column of each token. */
int
main(void)
{
    struct ggml_init_params params = { 1 << 20, NULL, false };
    struct ggml_context *ctx = ggml_init(params);
    /* A row of weights for each output, a row of inputs for each token.
     */
    struct ggml_tensor *w = ggml_new_tensor_2d(
        ctx, GGML_TYPE_F32, N_IN, N_OUT);
    struct ggml_tensor *x = ggml_new_tensor_2d(
        ctx, GGML_TYPE_F32, N_IN, N_TOKENS);
    struct ggml_tensor *y = ggml_mul_mat(ctx, w,
                                         x); /* [N_OUT, N_TOKENS] */
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    bool is_right;

    ggml_build_forward_expand(graph, y);
    for (int i = 0; i < N_IN * N_OUT; i++)
        ggml_set_f32_1d(w, i, i);
    for (int i = 0; i < N_IN * N_TOKENS; i++)
        ggml_set_f32_1d(x, i, i + 1);
    is_right = ggml_graph_compute_with_ctx(ctx, graph, 2) ==
               GGML_STATUS_SUCCESS;
    for (int t = 0; t < N_TOKENS; t++)
        for (int o = 0; o < N_OUT; o++) {
            double sum = 0;

            for (int k = 0; k < N_IN; k++)
                sum += (o * N_IN + k) * (t * N_IN + k + 1.0);
            printf("token %d, output %d: %g\n", t, o,
                   ggml_get_f32_nd(y, o, t, 0, 0));
            is_right = is_right &&
                       fabs(ggml_get_f32_nd(y, o, t, 0, 0) - sum) < 1e-4;
        }
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
