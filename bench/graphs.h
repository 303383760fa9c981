/* SPDX-License-Identifier: MIT */
/*
 * bench/graphs.h - graphs of many small nodes, built anew for each timing.
 */
#ifndef GB_BENCH_GRAPHS_H
#define GB_BENCH_GRAPHS_H

#include "ggml-backend.h"
#include "ggml.h"

/* The weights of one layer, which all layers share. */
enum bench_weight { NORM, QUERY, KEY, VALUE, OUT, UP, GATE, DOWN, N_WEIGHTS };

struct bench_graph {
    const char *name;
    int n_nodes;                /* about as many; graph says how many */
    struct ggml_context *fixed; /* weights, which lie in a buffer */
    struct ggml_tensor *weight[N_WEIGHTS];
    ggml_backend_buffer_t weights;
    struct ggml_context *ctx; /* everything else; built into again */
    struct ggml_cgraph *graph;
};

/* Every kind of graph: calls RUN for each kind and number of nodes. */
void bench_graphs(ggml_backend_t backend, void (*run)(struct bench_graph *g));

/* The same graph again, with no tensor but the weights in memory. */
void bench_rebuild(struct bench_graph *g);

/* A context without data for N_TENSORS tensors and MORE bytes. */
struct ggml_context *bench_new_context(size_t n_tensors, size_t more);

/* How often something that costs time for each node is to be done. */
int bench_rounds(const struct bench_graph *g);

/* For each node, as "WHAT-KIND-NODES MEDIAN us/node LEAST". */
struct bench_times;
void bench_print_nodes(
    const char *what, const struct bench_graph *g, struct bench_times *times);

#endif
