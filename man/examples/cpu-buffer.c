/* SPDX-License-Identifier: MIT */
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml.h>
#include <ggmlbackend.h>

#include <stdio.h>

/* The program's own data, at a multiple of 32 bytes. */
static _Alignas(32) float x[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

int
main(void)
{
    const struct ggml_init_params params = {
        .mem_size = 8 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true,
    };
    struct ggml_context *ctx = ggml_init(params);
    ggml_backend_t cpu =
        ggml_backend_init_by_type(GGML_BACKEND_DEVICE_TYPE_CPU, NULL);
    ggml_backend_buffer_t own =
        ggml_backend_cpu_buffer_from_ptr(x, sizeof(x));
    ggml_backend_buffer_t results = NULL;
    struct ggml_tensor *in, *sum;
    struct ggml_cgraph *graph;
    float value = 0;

    if (ctx == NULL || cpu == NULL || own == NULL)
        goto done;
    in = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 8);
    sum = ggml_sum(ctx, in);
    graph = ggml_new_graph(ctx);
    ggml_build_forward_expand(graph, sum);

    /* x where it is; all other tensors in memory of the library. */
    if (ggml_backend_tensor_alloc(own, in, x) != GGML_STATUS_SUCCESS)
        goto done;
    results = ggml_backend_alloc_ctx_tensors_from_buft(
        ctx, ggml_backend_cpu_buffer_type());
    if (results == NULL ||
        ggml_backend_graph_compute(cpu, graph) != GGML_STATUS_SUCCESS)
        goto done;
    ggml_backend_tensor_get(sum, &value, 0, sizeof(value));
    printf("the sum is %g\n", value);
done:
    if (value != 36)
        fprintf(stderr, "%s\n", ggmlbackend_last_failure());
    ggml_backend_buffer_free(results);
    ggml_backend_buffer_free(own);
    ggml_backend_free(cpu);
    ggml_free(ctx);
    return value == 36 ? 0 : 1;
}
