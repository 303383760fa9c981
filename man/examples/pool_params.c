/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggml.h>
#include <stdio.h>

/* Compute with two threads that sleep at once when they have no work. */
int
main(void)
{
    struct ggml_threadpool_params want =
        ggml_threadpool_params_default(2);
    struct ggml_init_params params = { 4 << 20, NULL, false };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *a = ggml_new_tensor_2d(
        ctx, GGML_TYPE_F32, 64, 64);
    struct ggml_tensor *y = ggml_mul_mat(ctx, a, a);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    struct ggml_threadpool *pool;
    struct ggml_cplan plan;
    bool is_right = false;

    want.poll = 0;
    pool = ggml_threadpool_new(&want);
    ggml_set_f32(a, 1);
    ggml_build_forward_expand(graph, y);
    if (pool != NULL) {
        plan = ggml_graph_plan(graph, 2, pool);
        is_right = ggml_graph_compute(graph, &plan) ==
                       GGML_STATUS_SUCCESS &&
                   ggml_get_f32_1d(y, 0) == 64;
        printf("%g, %d threads\n", ggml_get_f32_1d(y, 0),
               ggml_threadpool_get_n_threads(pool));
    }
    ggml_threadpool_free(pool);
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
