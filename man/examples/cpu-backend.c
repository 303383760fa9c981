/* SPDX-License-Identifier: MIT */
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <ggml.h>
#include <ggmlbackend.h>

#include <stdio.h>

/* Asked between the nodes. */
static bool
is_late(void *deadline)
{
    return ggml_time_us() > *(const int64_t *)deadline;
}

int
main(void)
{
    const struct ggml_init_params params = {
        .mem_size = 8 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true,
    };
    int64_t deadline = ggml_time_us() + 60 * 1000000;
    struct ggml_context *ctx = ggml_init(params);
    ggml_backend_t cpu = ggml_backend_cpu_init();
    ggml_backend_buffer_t buffer = NULL;
    struct ggml_tensor *x, *y;
    struct ggml_cgraph *graph;
    enum ggml_status in_time = GGML_STATUS_FAILED;
    enum ggml_status late = GGML_STATUS_FAILED;

    if (ctx == NULL || cpu == NULL)
        goto done;
    printf("%d threads would be usual\n", ggmlbackend_default_n_threads());
    ggml_backend_cpu_set_n_threads(cpu, 2);
    ggml_backend_cpu_set_abort_callback(cpu, is_late, &deadline);

    x = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 64, 64);
    y = ggml_soft_max(ctx, ggml_mul_mat(ctx, x, x));
    graph = ggml_new_graph(ctx);
    ggml_build_forward_expand(graph, y);
    buffer = ggml_backend_alloc_ctx_tensors(ctx, cpu);
    if (buffer == NULL)
        goto done;
    ggml_set_zero(x);

    in_time = ggml_backend_graph_compute(cpu, graph);
    deadline = 0;
    late = ggml_backend_graph_compute(cpu, graph);
    printf("%s; %s\n", ggml_status_to_string(in_time),
           ggml_status_to_string(late));
done:
    if (in_time != GGML_STATUS_SUCCESS)
        fprintf(stderr, "%s\n", ggmlbackend_last_failure());
    ggml_backend_buffer_free(buffer);
    ggml_backend_free(cpu);
    ggml_free(ctx);
    return in_time == GGML_STATUS_SUCCESS && late == GGML_STATUS_ABORTED
               ? 0 : 1;
}
