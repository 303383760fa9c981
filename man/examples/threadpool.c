/* SPDX-License-Identifier: MIT */
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <ggml.h>
#include <ggmlbackend.h>

#include <stdio.h>

int
main(void)
{
    const struct ggml_init_params params = {
        .mem_size = 8 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true,
    };
    struct ggml_threadpool_params settings =
        ggml_threadpool_params_default(2);
    struct ggml_context *ctx = ggml_init(params);
    ggml_backend_t backends[2] = {
        ggml_backend_cpu_init(), ggml_backend_cpu_init()
    };
    ggml_backend_buffer_t buffer = NULL;
    struct ggml_threadpool *pool;
    struct ggml_tensor *x, *y;
    struct ggml_cgraph *graph;
    int n_done = 0;

    settings.poll = 0; /* never spin */
    pool = ggml_threadpool_new(&settings);
    if (ctx == NULL || backends[0] == NULL || backends[1] == NULL ||
        pool == NULL)
        goto done;
    x = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 256, 256);
    y = ggml_mul_mat(ctx, x, x);
    graph = ggml_new_graph(ctx);
    ggml_build_forward_expand(graph, y);
    buffer = ggml_backend_alloc_ctx_tensors(ctx, backends[0]);
    if (buffer == NULL)
        goto done;
    ggml_set_f32(x, 1);

    for (int i = 0; i < 2; i++) {
        ggml_backend_cpu_set_n_threads(
            backends[i], ggml_threadpool_get_n_threads(pool));
        ggml_backend_cpu_set_threadpool(backends[i], pool);
        n_done += ggml_backend_graph_compute(backends[i], graph) ==
                      GGML_STATUS_SUCCESS &&
                  ggml_get_f32_1d(y, 0) == 256;
        /* The pool is paused, for the next backend to resume it. */
        ggml_backend_cpu_set_threadpool(backends[i], NULL);
    }
    printf("%d graphs computed by %d threads\n", n_done,
           ggml_threadpool_get_n_threads(pool));
done:
    if (n_done != 2)
        fprintf(stderr, "%s\n", ggmlbackend_last_failure());
    ggml_backend_buffer_free(buffer);
    ggml_backend_free(backends[0]);
    ggml_backend_free(backends[1]);
    ggml_threadpool_free(pool);
    ggml_free(ctx);
    return n_done == 2 ? 0 : 1;
}
