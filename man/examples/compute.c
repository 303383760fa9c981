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
        .mem_size = 8 * ggml_tensor_overhead() + 2 * ggml_graph_overhead(),
        .no_alloc = true,
    };
    struct ggml_context *ctx = ggml_init(params);
    ggml_backend_t backend = ggml_backend_init_best();
    ggml_backend_buffer_t buffer = NULL;
    struct ggml_tensor *x, *root, *three, *bad;
    struct ggml_cgraph *graph, *bad_graph;
    enum ggml_status status;
    float value = 0;
    bool is_right = false;

    if (ctx == NULL || backend == NULL)
        goto done;
    x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1);
    root = ggml_sqrt(ctx, x);
    graph = ggml_new_graph(ctx);
    ggml_build_forward_expand(graph, root);
    buffer = ggml_backend_alloc_ctx_tensors(ctx, backend);
    if (buffer == NULL)
        goto done;

    for (float input = 4; input <= 16; input *= 4) {
        ggml_backend_tensor_set(x, &input, 0, sizeof(input));
        status = ggml_backend_graph_compute_async(backend, graph);
        /* Something else could be done here. */
        ggml_backend_synchronize(backend);
        if (status != GGML_STATUS_SUCCESS)
            goto done;
        ggml_backend_tensor_get(root, &value, 0, sizeof(value));
        printf("sqrt(%g) = %g\n", input, value);
    }

    /* Two elements and three cannot be added. */
    three = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 3);
    bad = ggml_add(ctx, ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 2), three);
    bad_graph = ggml_new_graph(ctx);
    ggml_build_forward_expand(bad_graph, bad);
    status = ggml_backend_graph_compute(backend, bad_graph);
    printf("%s: %s\n", ggml_status_to_string(status),
           ggmlbackend_last_failure());
    is_right = value == 4 && status == GGML_STATUS_FAILED;
done:
    ggml_backend_buffer_free(buffer);
    ggml_backend_free(backend);
    ggml_free(ctx);
    return is_right ? 0 : 1;
}
