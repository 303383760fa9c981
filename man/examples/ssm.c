/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>
#include <math.h>
#include <stdio.h>

enum { N_STATE = 1, N_CHANNELS = 1, N_TOKENS = 4 };

/* A state that halves with each token, fed with ones. */
int
main(void)
{
    struct ggml_init_params params = { 1 << 20, NULL, false };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *s = ggml_new_tensor_3d(
        ctx, GGML_TYPE_F32, N_STATE, N_CHANNELS, 1); /* one sequence */
    struct ggml_tensor *x = ggml_new_tensor_3d(ctx, GGML_TYPE_F32,
                                               N_CHANNELS, N_TOKENS, 1);
    struct ggml_tensor *dt = ggml_dup_tensor(ctx, x);
    struct ggml_tensor *A = ggml_new_tensor_2d(ctx, GGML_TYPE_F32,
                                               N_STATE, N_CHANNELS);
    struct ggml_tensor *B = ggml_new_tensor_3d(ctx, GGML_TYPE_F32,
                                               N_STATE, N_TOKENS, 1);
    struct ggml_tensor *C = ggml_dup_tensor(ctx, B);
    struct ggml_tensor *y = ggml_ssm_scan(ctx, s, x, dt, A, B, C);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    double state = 0;
    bool is_right;

    ggml_build_forward_expand(graph, y);
    ggml_set_f32(s, 0);
    ggml_set_f32(x, 1);
    ggml_set_f32(dt, 0.5413249f); /* ln(1 + e^dt) is 1 */
    ggml_set_f32(A, -0.6931472f); /* e^A is 1/2 */
    ggml_set_f32(B, 1);
    ggml_set_f32(C, 1);
    is_right = ggml_graph_compute_with_ctx(ctx, graph, 1) ==
               GGML_STATUS_SUCCESS;
    for (int t = 0; t < N_TOKENS; t++) {
        state = state / 2 + 1;
        printf("token %d: %g\n", t, ggml_get_f32_1d(y, t));
        is_right = is_right && fabs(ggml_get_f32_1d(y, t) - state) < 1e-5;
    }
    /* Behind the outputs stands the last state, for the next tokens. */
    is_right = is_right &&
               fabs(ggml_get_f32_1d(y, N_TOKENS) - state) < 1e-5;
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
