/* SPDX-License-Identifier: MIT */
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggmlbackend.h>
#include <stdio.h>

/* y = A x, computed on BACKEND; false when that failed. */
static bool
multiply(ggml_backend_t backend, const float a[4], const float x[2],
         float y[2])
{
    /* Descriptions alone; the data will lie in buffers of the device. */
    struct ggml_init_params params = {
        .mem_size = 8 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true,
    };
    struct ggml_context *weights = ggml_init(params);
    struct ggml_context *nodes = ggml_init(params);
    ggml_gallocr_t places =
        ggml_gallocr_new(ggml_backend_get_default_buffer_type(backend));
    ggml_backend_buffer_t buffer = NULL;
    bool done = false;

    if (weights != NULL && nodes != NULL && places != NULL) {
        const enum ggml_type f32 = GGML_TYPE_F32;
        struct ggml_tensor *wa = ggml_new_tensor_2d(weights, f32, 2, 2);
        struct ggml_tensor *vx = ggml_new_tensor_1d(nodes, f32, 2);
        struct ggml_tensor *vy = ggml_mul_mat(nodes, wa, vx);
        struct ggml_cgraph *graph = ggml_new_graph(nodes);

        ggml_set_input(vx);
        ggml_set_output(vy);
        ggml_build_forward_expand(graph, vy);
        buffer = ggml_backend_alloc_ctx_tensors(weights, backend);
        if (buffer != NULL && ggml_gallocr_alloc_graph(places, graph)) {
            ggml_backend_tensor_set(wa, a, 0, 4 * sizeof(*a));
            ggml_backend_tensor_set(vx, x, 0, 2 * sizeof(*x));
            done = ggml_backend_graph_compute(backend, graph) ==
                   GGML_STATUS_SUCCESS;
            if (done)
                ggml_backend_tensor_get(vy, y, 0, 2 * sizeof(*y));
        }
    }
    ggml_backend_buffer_free(buffer);
    ggml_gallocr_free(places);
    ggml_free(nodes);
    ggml_free(weights);
    return done;
}

int
main(void)
{
    static const float a[4] = { 1, 2, 3, 4 }, x[2] = { 1, 1 };
    float y[2] = { 0, 0 };
    ggml_backend_t backend;

    ggml_backend_load_all();
    backend = ggml_backend_init_best();
    if (backend == NULL || !multiply(backend, a, x, y)) {
        fprintf(stderr, "%s\n", ggmlbackend_last_failure());
    } else {
        printf("%s: %g %g\n", ggml_backend_name(backend), y[0], y[1]);
    }
    ggml_backend_free(backend);
    return y[0] == 3 && y[1] == 7 ? 0 : 1;
}
