/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>
#include <stdio.h>

/* The gradient of the sum of x^2 by x, which is 2x. */
int
main(void)
{
    struct ggml_init_params params = { 1 << 20, NULL, false };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 3);
    struct ggml_cgraph *graph = ggml_new_graph_custom(ctx, 64, true);
    struct ggml_tensor *loss, *gradient;
    bool is_right;

    ggml_set_param(ctx, x);
    loss = ggml_sum(ctx, ggml_sqr(ctx, x));
    ggml_set_loss(loss);
    ggml_build_forward_expand(graph, loss);
    ggml_build_backward_expand(ctx, ctx, graph, false);
    ggml_graph_reset(graph); /* the gradient of the loss by itself is 1 */
    for (int i = 0; i < 3; i++)
        ggml_set_f32_1d(x, i, i + 1);
    is_right = ggml_graph_compute_with_ctx(ctx, graph, 1) ==
               GGML_STATUS_SUCCESS;
    gradient = ggml_graph_get_grad(graph, x);
    for (int i = 0; i < 3 && is_right; i++) {
        printf("x = %d: %g\n", i + 1, ggml_get_f32_1d(gradient, i));
        is_right = ggml_get_f32_1d(gradient, i) == 2 * (i + 1);
    }
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
