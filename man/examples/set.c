/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>
#include <stdio.h>

/* Keep the rows of two new tokens behind the five of a cache. */
int
main(void)
{
    struct ggml_init_params params = { 1 << 20, NULL, false };
    struct ggml_context *ctx = ggml_init(params);

    if (ctx == NULL)
        return 1;

    struct ggml_tensor *cache = ggml_new_tensor_2d(
        ctx, GGML_TYPE_F32, 4, 8);
    struct ggml_tensor *rows = ggml_new_tensor_2d(
        ctx, GGML_TYPE_F32, 4, 2);
    struct ggml_tensor *kept = ggml_set_2d_inplace(
        ctx, cache, rows, cache->nb[1], 5 * cache->nb[1]);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    bool is_right;

    ggml_build_forward_expand(graph, kept);
    ggml_set_zero(cache);
    ggml_set_f32(rows, 7);
    is_right = ggml_graph_compute_with_ctx(ctx, graph, 1) ==
               GGML_STATUS_SUCCESS;
    for (int i = 0; i < 8; i++) {
        printf("row %d: %g\n", i, ggml_get_f32_nd(cache, 0, i, 0, 0));
        is_right = is_right && ggml_get_f32_nd(cache, 0, i, 0, 0) ==
                                   (i == 5 || i == 6 ? 7 : 0);
    }
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
