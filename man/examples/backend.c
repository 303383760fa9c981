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
    const float w_data[2][2] = { { 1, 2 }, { 3, 4 } };
    const float x_data[2] = { 1, 1 };
    float y_data[2] = { 0, 0 };
    struct ggml_context *ctx = ggml_init(params);
    ggml_backend_buffer_t buffer = NULL;
    struct ggml_tensor *w, *x, *y;
    struct ggml_cgraph *graph;
    ggml_backend_t backend;

    ggml_backend_load_all();
    backend = ggml_backend_init_best();
    if (ctx == NULL || backend == NULL)
        goto done;
    printf("computing on %s\n",
           ggml_backend_dev_description(ggml_backend_get_device(backend)));

    w = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 2, 2);
    x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 2);
    y = ggml_mul_mat(ctx, w, x);
    graph = ggml_new_graph(ctx);
    ggml_build_forward_expand(graph, y);

    buffer = ggml_backend_alloc_ctx_tensors(ctx, backend);
    if (buffer == NULL)
        goto done;
    ggml_backend_tensor_set(w, w_data, 0, sizeof(w_data));
    ggml_backend_tensor_set(x, x_data, 0, sizeof(x_data));
    if (ggml_backend_graph_compute(backend, graph) == GGML_STATUS_SUCCESS)
        ggml_backend_tensor_get(y, y_data, 0, sizeof(y_data));
    printf("%g %g\n", y_data[0], y_data[1]);
done:
    if (y_data[1] != 7)
        fprintf(stderr, "%s\n", ggmlbackend_last_failure());
    ggml_backend_buffer_free(buffer);
    ggml_backend_free(backend);
    ggml_free(ctx);
    return y_data[0] == 3 && y_data[1] == 7 ? 0 : 1;
}
