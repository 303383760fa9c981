/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>
#include <math.h>
#include <stdio.h>

/* RMS norm with a gain for each column, as models have it. */
int
main(void)
{
    struct ggml_init_params params = { 1 << 20, NULL, false };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *x = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 4, 2);
    struct ggml_tensor *gain = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    struct ggml_tensor *y = ggml_mul(ctx, ggml_rms_norm(ctx, x, 1e-6f),
                                     gain);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    double squares = 0;
    bool is_right;

    ggml_build_forward_expand(graph, y);
    for (int i = 0; i < 8; i++)
        ggml_set_f32_1d(x, i, i - 3);
    ggml_set_f32(gain, 2);
    is_right = ggml_graph_compute_with_ctx(ctx, graph, 1) ==
               GGML_STATUS_SUCCESS;
    for (int i = 0; i < 4; i++)
        squares += (double)ggml_get_f32_1d(y, i) * ggml_get_f32_1d(y, i);
    printf("mean of squares: %g\n", squares / 4); /* the gain's square */
    ggml_free(ctx);
    return is_right && fabs(squares / 4 - 4) < 1e-5 ? 0 : 1;
}
