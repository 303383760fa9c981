/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>
#include <ggmlbackend.h>
#include <stdio.h>

int
main(void)
{
    static const float values[] = { 1, 2, 3, 4 };
    struct ggml_init_params params = { .mem_size = 1 << 20 };
    struct ggml_context *ctx = ggml_init(params);
    int status = 1;

    if (ctx == NULL)
        return 1;
    struct ggml_tensor *a = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 2, 2);
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 2);
    struct ggml_tensor *y = ggml_mul_mat(ctx, a, x);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    enum ggml_status computed;

    for (int i = 0; i < 4; i++)
        ggml_set_f32_1d(a, i, values[i]);
    ggml_set_f32(x, 1);
    ggml_build_forward_expand(graph, y);
    computed = ggml_graph_compute_with_ctx(ctx, graph, 2);
    if (computed == GGML_STATUS_SUCCESS) {
        printf("%g %g\n", ggml_get_f32_1d(y, 0), ggml_get_f32_1d(y, 1));
        if (ggml_get_f32_1d(y, 0) == 3 && ggml_get_f32_1d(y, 1) == 7)
            status = 0;
    } else {
        fprintf(stderr, "%s\n", ggmlbackend_last_failure());
    }
    ggml_free(ctx);
    return status;
}
