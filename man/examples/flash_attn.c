/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>
#include <math.h>
#include <stdio.h>

enum { HEAD = 32, N_HEAD = 4, N_HEAD_KV = 2, N_TOKENS = 3 };

/* Causal attention of four heads, of which two share keys and values. */
int
main(void)
{
    struct ggml_init_params params = { 1 << 20, NULL, false };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *q = ggml_new_tensor_3d(ctx, GGML_TYPE_F32, HEAD,
                                               N_TOKENS, N_HEAD);
    struct ggml_tensor *k = ggml_new_tensor_3d(ctx, GGML_TYPE_F16, HEAD,
                                               N_TOKENS, N_HEAD_KV);
    struct ggml_tensor *v = ggml_dup_tensor(ctx, k);
    struct ggml_tensor *mask = ggml_new_tensor_2d(
        ctx, GGML_TYPE_F16, N_TOKENS,
        GGML_PAD(N_TOKENS, GGML_KQ_MASK_PAD)); /* rows */
    struct ggml_tensor *out = ggml_flash_attn_ext(
        ctx, q, k, v, mask, 0.1767767f, 0, 0); /* 1 / sqrt(HEAD) */
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    bool is_right;

    ggml_flash_attn_ext_set_prec(out, GGML_PREC_F32);
    ggml_build_forward_expand(graph, out);
    ggml_set_f32(q, 1);
    ggml_set_f32(k, 1); /* all keys alike, so that all weights are */
    ggml_set_f32(mask, -INFINITY);
    for (int t = 0; t < N_TOKENS; t++) {
        for (int i = 0; i < HEAD * N_HEAD_KV; i++)
            ggml_set_f32_nd(v, i % HEAD, t, i / HEAD, 0,
                            t + 10 * (i / HEAD));
        for (int j = 0; j <= t; j++)
            ggml_set_f32_nd(mask, j, t, 0, 0, 0);
    }
    is_right = ggml_graph_compute_with_ctx(ctx, graph, 2) ==
               GGML_STATUS_SUCCESS;
    for (int t = 0; t < N_TOKENS; t++) /* [HEAD, N_HEAD, N_TOKENS] */
        for (int h = 0; h < N_HEAD; h++) {
            const double x = ggml_get_f32_nd(out, 0, h, t, 0);

            printf("token %d, head %d: %g\n", t, h, x);
            is_right = is_right &&
                       fabs(x - (t / 2.0 + h / 2 * 10)) < 1e-2;
        }
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
