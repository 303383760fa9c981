/* SPDX-License-Identifier: MIT */
/*
 * hello.c - the program of the README: a matrix times a vector.
 */
#include "ggml-cpu.h"
#include "ggml.h"

#include <stdio.h>

int main(void)
{
    struct ggml_init_params params = { 1 << 20, NULL, false };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *a = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 2, 2);
    struct ggml_tensor *b = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 2);
    struct ggml_tensor *y = ggml_mul_mat(ctx, a, b); /* y = A b */
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    enum ggml_status status;

    ggml_build_forward_expand(graph, y);
    for (int i = 0; i < 4; i++)
        ggml_set_f32_1d(a, i, i + 1);
    ggml_set_f32(b, 1);
    status = ggml_graph_compute_with_ctx(ctx, graph, 2);
    if (status == GGML_STATUS_SUCCESS)
        printf("%g %g\n", ggml_get_f32_1d(y, 0), ggml_get_f32_1d(y, 1));
    ggml_free(ctx);
    return status == GGML_STATUS_SUCCESS ? 0 : 1;
}
