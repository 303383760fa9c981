/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>
#include <math.h>
#include <stdio.h>

/* How a diffusion model is told that it is at steps 0 and 10. */
int
main(void)
{
    /* of 10 * 10000^(-i / 4), which is 10, 1, 0.1 and 0.01 */
    const double cosines[] = { -0.8390715, 0.5403023, 0.9950042,
                               0.9999500 };
    const double sines[] = { -0.5440211, 0.8414710, 0.0998334,
                             0.0099998 };
    struct ggml_init_params params = { 1 << 20, NULL, false };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *steps = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 2);
    struct ggml_tensor *e = ggml_timestep_embedding(ctx, steps, 8, 10000);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    bool is_right;

    ggml_build_forward_expand(graph, e);
    ggml_set_f32_1d(steps, 0, 0);
    ggml_set_f32_1d(steps, 1, 10);
    is_right = ggml_graph_compute_with_ctx(ctx, graph, 1) ==
               GGML_STATUS_SUCCESS;
    for (int i = 0; i < 4; i++) { /* four cosines, then four sines */
        const double c = ggml_get_f32_nd(e, i, 1, 0, 0);
        const double s = ggml_get_f32_nd(e, 4 + i, 1, 0, 0);

        printf("cos %g, sin %g\n", c, s);
        is_right = is_right && fabs(c - cosines[i]) < 1e-5 &&
                   fabs(s - sines[i]) < 1e-5;
    }
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
