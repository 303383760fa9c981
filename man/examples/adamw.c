/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>
#include <math.h>
#include <stdio.h>

/* Find the w for which (w - 3)^2 is least. */
int
main(void)
{
    const float alpha = 0.1f, beta1 = 0.9f, beta2 = 0.999f, eps = 1e-8f;
    struct ggml_init_params params = { 1 << 20, NULL, false };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *w = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1);
    struct ggml_tensor *goal = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1);
    struct ggml_tensor *m = ggml_dup_tensor(ctx, w);
    struct ggml_tensor *v = ggml_dup_tensor(ctx, w);
    struct ggml_tensor *adamw = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 7);
    struct ggml_cgraph *graph = ggml_new_graph_custom(ctx, 64, true);
    struct ggml_tensor *loss, *step;
    enum ggml_status status = GGML_STATUS_SUCCESS;
    bool is_right;
    float beta1_t = 1, beta2_t = 1; /* to the power of t */

    ggml_set_param(ctx, w);
    loss = ggml_sqr(ctx, ggml_sub(ctx, w, goal));
    ggml_set_loss(loss);
    ggml_build_forward_expand(graph, loss);
    ggml_build_backward_expand(ctx, ctx, graph, false);
    step = ggml_opt_step_adamw(
        ctx, w, ggml_graph_get_grad(graph, w), m, v, adamw);
    ggml_build_forward_expand(graph, step);
    ggml_graph_reset(graph); /* clears m and v, too */
    ggml_set_f32(w, 0);
    ggml_set_f32(goal, 3);
    for (int t = 1; t <= 500 && status == GGML_STATUS_SUCCESS; t++) {
        const float values[] = {
            alpha, beta1, beta2, eps, 0, /* no decay of weights */
            1 / (1 - (beta1_t *= beta1)), 1 / (1 - (beta2_t *= beta2)),
        };

        for (int i = 0; i < 7; i++)
            ggml_set_f32_1d(adamw, i, values[i]);
        status = ggml_graph_compute_with_ctx(ctx, graph, 1);
    }
    printf("w = %g, loss %g\n", ggml_get_f32_1d(w, 0),
           ggml_get_f32_1d(loss, 0));
    is_right = status == GGML_STATUS_SUCCESS &&
               fabsf(ggml_get_f32_1d(w, 0) - 3) < 0.01f;
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
