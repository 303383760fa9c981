/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>
#include <math.h>
#include <stdio.h>

enum { HEAD = 32, N_HEAD = 4, N_HEAD_KV = 2, N_TOKENS = 3, N_PAST = 2 };
enum { N_KV = N_PAST + N_TOKENS, N_CELLS = 16 };

/* Append X, [HEAD * N_HEAD_KV, N_TOKENS], to CACHE, a row for each cell, and
 * give the cells in use back, [HEAD, N_KV, N_HEAD_KV]. */
static struct ggml_tensor *
append(struct ggml_context *ctx, struct ggml_cgraph *graph,
       struct ggml_tensor *x, struct ggml_tensor *cache)
{
    const size_t row = cache->nb[1];

    ggml_build_forward_expand(
        graph, ggml_cpy(ctx, x, ggml_view_2d(ctx, cache, HEAD * N_HEAD_KV,
                                             N_TOKENS, row, N_PAST * row)));
    return ggml_view_3d(ctx, cache, HEAD, N_KV, N_HEAD_KV, row,
                        ggml_row_size(cache->type, HEAD), 0);
}

/* Causal attention of three new tokens behind two that are in the cache. */
int
main(void)
{
    struct ggml_init_params params = { 1 << 20, NULL, false };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    struct ggml_tensor *q_rows = ggml_new_tensor_2d(
        ctx, GGML_TYPE_F32, HEAD * N_HEAD, N_TOKENS); /* as products give it */
    struct ggml_tensor *kv_rows = ggml_new_tensor_2d(
        ctx, GGML_TYPE_F32, HEAD * N_HEAD_KV, N_TOKENS);
    struct ggml_tensor *k_cache = ggml_new_tensor_2d(
        ctx, GGML_TYPE_F16, HEAD * N_HEAD_KV, N_CELLS);
    struct ggml_tensor *v_cache = ggml_dup_tensor(ctx, k_cache);
    struct ggml_tensor *mask = ggml_new_tensor_2d(
        ctx, GGML_TYPE_F16, N_KV, GGML_PAD(N_TOKENS, GGML_KQ_MASK_PAD));
    struct ggml_tensor *q = ggml_permute(
        ctx, ggml_reshape_3d(ctx, q_rows, HEAD, N_HEAD, N_TOKENS), 0, 2, 1, 3);
    struct ggml_tensor *k = append(ctx, graph, kv_rows, k_cache);
    struct ggml_tensor *v = append(ctx, graph, kv_rows, v_cache);
    struct ggml_tensor *out = ggml_flash_attn_ext(
        ctx, q, k, v, mask, 0.1767767f, 0, 0); /* 1 / sqrt(HEAD) */
    bool is_right;

    ggml_build_forward_expand(graph, out); /* behind the copies */
    ggml_set_f32(q_rows, 0); /* so that all keys have the same weight */
    ggml_set_f32(k_cache, 0);
    ggml_set_f32(v_cache, 1); /* the past */
    for (int i = 0; i < HEAD * N_HEAD_KV * N_TOKENS; i++)
        ggml_set_f32_1d(kv_rows, i, i % (HEAD * N_HEAD_KV) < HEAD ? 2 : 3);
    for (int t = 0; t < N_TOKENS; t++)
        for (int j = 0; j < N_KV; j++)
            ggml_set_f32_nd(mask, j, t, 0, 0,
                            j <= N_PAST + t ? 0 : -INFINITY);
    is_right = ggml_graph_compute_with_ctx(ctx, graph, 2) ==
               GGML_STATUS_SUCCESS;
    for (int t = 0; t < N_TOKENS; t++) /* [HEAD, N_HEAD, N_TOKENS] */
        for (int h = 0; h < N_HEAD; h++) {
            const double x = ggml_get_f32_nd(out, 0, h, t, 0);
            const double n = t + 1; /* new tokens that are seen */

            printf("token %d, head %d: %g\n", t, h, x);
            is_right = is_right && fabs(x - (N_PAST + n * (2 + h / 2)) /
                                                (N_PAST + n)) < 1e-3;
        }
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
