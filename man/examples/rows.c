/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>
#include <stdio.h>

/* The embeddings of three tokens. */
int
main(void)
{
    const int32_t tokens[] = { 9, 0, 9 };
    struct ggml_init_params params = { 1 << 20, NULL, false };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *table = ggml_new_tensor_2d(
        ctx, GGML_TYPE_F16, 4, 10);
    struct ggml_tensor *ids = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 3);
    struct ggml_tensor *rows = ggml_get_rows(ctx, table, ids);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    bool is_right;

    ggml_build_forward_expand(graph, rows);
    for (int i = 0; i < 40; i++)
        ggml_set_f32_1d(table, i, i);
    for (int i = 0; i < 3; i++)
        ggml_set_i32_1d(ids, i, tokens[i]);
    is_right = ggml_graph_compute_with_ctx(ctx, graph, 1) ==
               GGML_STATUS_SUCCESS;
    for (int i = 0; i < 3 && is_right; i++) {
        printf("token %d begins with %g\n", tokens[i],
               ggml_get_f32_nd(rows, 0, i, 0, 0));
        is_right = ggml_get_f32_nd(rows, 0, i, 0, 0) == tokens[i] * 4;
    }
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
