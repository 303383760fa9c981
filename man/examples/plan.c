/* SPDX-License-Identifier: MIT */
#include <ggml-alloc.h>
#include <ggml-backend.h>
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
    struct ggml_context *ctx = ggml_init(params);
    ggml_backend_t backend = ggml_backend_init_best();
    ggml_backend_buffer_t buffer = NULL;
    ggml_backend_graph_plan_t plan = NULL;
    struct ggml_tensor *x, *next;
    struct ggml_cgraph *graph;
    float value = 1;

    if (ctx == NULL || backend == NULL)
        goto done;
    x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1);
    next = ggml_scale(ctx, x, 3);
    graph = ggml_new_graph(ctx);
    ggml_build_forward_expand(graph, next);
    buffer = ggml_backend_alloc_ctx_tensors(ctx, backend);
    if (buffer == NULL)
        goto done;

    plan = ggml_backend_graph_plan_create(backend, graph);
    for (int i = 0; i < 3; i++) {
        enum ggml_status status;

        ggml_backend_tensor_set(x, &value, 0, sizeof(value));
        status = plan != NULL
                     ? ggml_backend_graph_plan_compute(backend, plan)
                     : ggml_backend_graph_compute(backend, graph);
        if (status != GGML_STATUS_SUCCESS)
            goto done;
        ggml_backend_synchronize(backend);
        ggml_backend_tensor_get(next, &value, 0, sizeof(value));
    }
    printf("3 to the power of 3 is %g\n", value);
done:
    if (value != 27)
        fprintf(stderr, "%s\n", ggmlbackend_last_failure());
    ggml_backend_graph_plan_free(backend, plan);
    ggml_backend_buffer_free(buffer);
    ggml_backend_free(backend);
    ggml_free(ctx);
    return value == 27 ? 0 : 1;
}
