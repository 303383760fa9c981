/* SPDX-License-Identifier: MIT */
/*
 * bench/graphs.h - graphs of many small nodes, built anew for each timing.
 */
#ifndef GB_BENCH_GRAPHS_H
#define GB_BENCH_GRAPHS_H

#include "ggml-backend.h"
#include "ggml.h"

struct bench_graph {
    const char *name;
    int n_nodes;                /* about as many; graph says how many */
    struct ggml_context *fixed; /* weights, which lie in a buffer */
    ggml_backend_buffer_t weights;
    struct ggml_context *ctx; /* everything else; built into again */
    struct ggml_cgraph *graph;
};

/* Every kind of graph: calls RUN for each kind and number of nodes. */
void bench_graphs(ggml_backend_t backend, void (*run)(struct bench_graph *g));

/* The same graph again, with no tensor but the weights in memory. */
void bench_rebuild(struct bench_graph *g);

/* How often something that costs time for each node is to be done. */
int bench_rounds(const struct bench_graph *g);

/* The median for each node, as "WHAT-KIND-NODES VALUE us/node". */
struct bench_times;
void bench_print_nodes(
    const char *what, const struct bench_graph *g, struct bench_times *times);

#endif
