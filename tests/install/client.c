/* SPDX-License-Identifier: MIT */
/*
 * install/client.c - a stranger's first program: 2 + 3 on the CPU, and where
 * modules are.
 */
#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <ggml.h>
#include <ggmlbackend.h>

#include <stdio.h>

int
main(void)
{
    const struct ggml_init_params params = { 1024 * 1024, NULL, false };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *a = ggml_new_f32(ctx, 2.0f);
    struct ggml_tensor *b = ggml_new_f32(ctx, 3.0f);
    struct ggml_tensor *sum = ggml_add(ctx, a, b);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    float result;

    ggml_build_forward_expand(graph, sum);
    if (ggml_graph_compute_with_ctx(ctx, graph, 2) != GGML_STATUS_SUCCESS)
        return 1;
    result = ggml_get_f32_1d(sum, 0);
    printf("libggmlbackend %s: 2 + 3 is %g\n", ggmlbackend_version(), result);
    printf("modules: %s\n", ggmlbackend_module_folder());
    ggml_free(ctx);
    return result == 5.0f ? 0 : 1;
}
