/* SPDX-License-Identifier: MIT */
/*
 * bench/alloc.c - what the graph allocator costs for each node: a graph that a
 * new allocator plans, and a graph of the same make again.
 */
#include "bench.h"
#include "ggml-alloc.h"
#include "ggml-cpu.h"
#include "graphs.h"

#include <stddef.h>

static ggml_backend_t cpu;

static ggml_gallocr_t
plan(struct bench_graph *g, struct bench_times *times)
{
    ggml_gallocr_t allocr;
    double begin;

    bench_rebuild(g);
    begin = bench_now();
    allocr = ggml_gallocr_new(ggml_backend_get_default_buffer_type(cpu));
    if (!ggml_gallocr_alloc_graph(allocr, g->graph))
        bench_stop("a first plan");
    bench_add(times, begin);
    return allocr;
}

static void
lay_out(
    struct bench_graph *g, ggml_gallocr_t allocr, struct bench_times *times)
{
    double begin;

    bench_rebuild(g);
    begin = bench_now();
    if (!ggml_gallocr_alloc_graph(allocr, g->graph))
        bench_stop("a graph again");
    bench_add(times, begin);
}

static void
run(struct bench_graph *g)
{
    struct bench_times first = { .n = 0 }, again = { .n = 0 };

    ggml_gallocr_free(plan(g, &first));
    first.n = 0;
    for (int i = 0; i < bench_rounds(g); i++) {
        ggml_gallocr_t allocr = plan(g, &first);

        lay_out(g, allocr, &again);
        ggml_gallocr_free(allocr);
    }
    bench_print_nodes("alloc-first", g, &first);
    bench_print_nodes("alloc-again", g, &again);
}

int
main(void)
{
    cpu = ggml_backend_cpu_init();
    if (cpu == NULL)
        bench_stop("the CPU backend");
    bench_graphs(cpu, run);
    ggml_backend_free(cpu);
}
