/* SPDX-License-Identifier: MIT */
/*
 * bench/sched.c - what the scheduler costs for each node: a graph on the CPU
 * alone, and on two backends in turns, which have to copy every result.
 */
#include "bench.h"
#include "device.h"
#include "ggml-cpu.h"
#include "graphs.h"

#include <stddef.h>

static ggml_backend_t backends[2];

static bool
is_view(const struct ggml_tensor *node)
{
    return node->view_src != NULL;
}

/* Nodes of two backends in turns. */
static void
assign(ggml_backend_sched_t sched, struct bench_graph *g)
{
    const int n = ggml_graph_n_nodes(g->graph);
    int turn = 0;

    for (int i = 0; i < n; i++) {
        struct ggml_tensor *node = ggml_graph_node(g->graph, i);

        if (!is_view(node))
            ggml_backend_sched_set_tensor_backend(sched, node,
                                                  backends[turn ^= 1]);
    }
}

static void
allocate(
    ggml_backend_sched_t sched, struct bench_graph *g,
    struct bench_times *times)
{
    double begin;

    bench_rebuild(g);
    begin = bench_now();
    ggml_backend_sched_reset(sched);
    if (ggml_backend_sched_get_n_backends(sched) > 1)
        assign(sched, g);
    if (!ggml_backend_sched_alloc_graph(sched, g->graph))
        bench_stop("a graph");
    bench_add(times, begin);
}

static void
run_on(struct bench_graph *g, const char *what, ggml_backend_t *used, int n)
{
    const size_t size = (size_t)g->n_nodes + 1024;
    struct bench_times times = { .n = 0 };
    ggml_backend_sched_t sched =
        ggml_backend_sched_new(used, NULL, n, size, false);

    if (sched == NULL)
        bench_stop("a scheduler");
    allocate(sched, g, &times);
    times.n = 0;
    for (int i = 0; i < bench_rounds(g); i++)
        allocate(sched, g, &times);
    bench_print_nodes(what, g, &times);
    ggml_backend_sched_free(sched);
}

static void
run(struct bench_graph *g)
{
    run_on(g, "sched-one", backends + 1, 1);
    run_on(g, "sched-two", backends, 2);
}

int
main(void)
{
    backends[0] = bench_device_init();
    backends[1] = ggml_backend_cpu_init();
    if (backends[0] == NULL || backends[1] == NULL)
        bench_stop("a backend");
    bench_graphs(backends[1], run);
    ggml_backend_free(backends[0]);
    ggml_backend_free(backends[1]);
}
