/* SPDX-License-Identifier: MIT */
/*
 * bench/calls.c - single calls that clients make for each token, or each
 * request: their cost by themselves.
 */
#include "bench.h"

#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml-cpu.h"

#include <stdlib.h>

enum { ROUNDS = 101, CALLS = 1000, SMALL = 64, CACHE = 96 << 20 };

static void
time_backends(void)
{
    struct bench_times times = { .n = 0 };

    for (int round = 0; round < ROUNDS; round++) {
        const double begin = bench_now();

        for (int i = 0; i < CALLS; i++)
            ggml_backend_free(ggml_backend_cpu_init());
        bench_add(&times, begin);
    }
    bench_print("backend-init-free", &times, CALLS / 1e3, "ns");
}

static void
time_transfers(struct ggml_tensor *tensor)
{
    struct bench_times set = { .n = 0 }, get = { .n = 0 };
    char data[SMALL] = { 0 };

    for (int round = 0; round < ROUNDS; round++) {
        double begin = bench_now();

        for (int i = 0; i < CALLS; i++)
            ggml_backend_tensor_set(tensor, data, 0, sizeof(data));
        bench_add(&set, begin);
        begin = bench_now();
        for (int i = 0; i < CALLS; i++)
            ggml_backend_tensor_get(tensor, data, 0, sizeof(data));
        bench_add(&get, begin);
    }
    bench_print("tensor-set-64", &set, CALLS / 1e3, "ns");
    bench_print("tensor-get-64", &get, CALLS / 1e3, "ns");
}

/* A cache for many positions, of which few will be used. */
static void
time_clearing(void)
{
    struct bench_times times = { .n = 0 };

    for (int round = 0; round < 11; round++) {
        const double begin = bench_now();
        ggml_backend_buffer_t buffer = ggml_backend_buft_alloc_buffer(
            ggml_backend_cpu_buffer_type(), CACHE);

        if (buffer == NULL)
            bench_stop("a buffer");
        ggml_backend_buffer_clear(buffer, 0);
        ggml_backend_buffer_free(buffer);
        bench_add(&times, begin);
    }
    bench_print("fresh-clear-96M", &times, 1, "us");
}

static void
time_computing(struct ggml_context *ctx, struct ggml_tensor *x)
{
    struct bench_times times = { .n = 0 };
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    struct ggml_cplan plan;

    ggml_build_forward_expand(graph, ggml_add(ctx, x, x));
    plan = ggml_graph_plan(graph, 1, NULL);
    plan.work_data = malloc(plan.work_size + 1);
    if (plan.work_data == NULL)
        bench_stop("work memory");
    for (int round = 0; round < ROUNDS; round++) {
        const double begin = bench_now();

        for (int i = 0; i < CALLS; i++)
            if (ggml_graph_compute(graph, &plan) != GGML_STATUS_SUCCESS)
                bench_stop("computing");
        bench_add(&times, begin);
    }
    free(plan.work_data);
    bench_print("graph-compute-add", &times, CALLS / 1e3, "ns");
}

int
main(void)
{
    struct ggml_context *ctx = ggml_init(
        (struct ggml_init_params){ .mem_size = 1 << 20 });
    struct ggml_context *placed = ggml_init(
        (struct ggml_init_params){ .mem_size = 1 << 12, .no_alloc = true });
    struct ggml_tensor *tensor, *x;
    ggml_backend_t backend = ggml_backend_cpu_init();
    ggml_backend_buffer_t buffer;

    if (ctx == NULL || placed == NULL || backend == NULL)
        bench_stop("a context");
    tensor = ggml_new_tensor_1d(placed, GGML_TYPE_F32, SMALL);
    buffer = ggml_backend_alloc_ctx_tensors(placed, backend);
    if (buffer == NULL)
        bench_stop("a buffer");
    x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    time_backends();
    time_transfers(tensor);
    time_clearing();
    time_computing(ctx, x);
    ggml_backend_buffer_free(buffer);
    ggml_backend_free(backend);
    ggml_free(placed);
    ggml_free(ctx);
    return 0;
}
