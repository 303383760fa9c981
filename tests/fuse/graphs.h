/* SPDX-License-Identifier: MIT */
/*
 * tests/fuse/graphs.h - random graphs of nodes that backends may compute together,
 * and of their neighbours that they may not.
 *
 * Steps of AdamW are among them, which write more than their results.
 *
 * Results lie where an allocator puts them, over others that are done with.  Each
 * graph may be computed several times, with stores that move on, as those into a KV
 * cache do, and sometimes with a parameter or a source that is another.  Graphs are
 * small: what matters is which nodes meet, and how the memory of their results lies.
 */
#ifndef GB_TESTS_FUSE_GRAPHS_H
#define GB_TESTS_FUSE_GRAPHS_H

#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml.h"

enum { GRAPH_MAX_TENSORS = 128 };

struct graph {
    struct ggml_context *ctx;
    struct ggml_cgraph *cgraph;
    ggml_gallocr_t alloc;
    int64_t width; /* of all rows: a multiple of 32 */
    struct ggml_tensor *made[GRAPH_MAX_TENSORS]; /* rows of width */
    int n_made;
    struct ggml_tensor *leafs[GRAPH_MAX_TENSORS]; /* to fill */
    int n_leafs;
    struct ggml_tensor *outputs[GRAPH_MAX_TENSORS];
    int n_outputs;
    struct ggml_tensor *stores[GRAPH_MAX_TENSORS]; /* copies into a cache */
    size_t steps[GRAPH_MAX_TENSORS]; /* bytes by which each moves on */
    int n_stores;
    struct ggml_tensor *norms[GRAPH_MAX_TENSORS]; /* and their eps */
    int n_norms;
    int n_steps; /* of AdamW: they write more than their results */
};

/* All that follows is made of numbers from SEED. */
void graph_seed(uint64_t seed);

/* The next graph, its tensors in memory of BUFT.  What fails ends the program. */
void graph_make(struct graph *g, ggml_backend_buffer_type_t buft);
void graph_free(struct graph *g);

/* Caches are zeros before the first time that it is computed. */
void graph_begin(const struct graph *g);

/* What a client changes before time TURN. */
void graph_fill(struct graph *g, int turn);

/* Compute it, or each node as a graph of its own; false: that failed. */
bool graph_compute(
    const struct graph *g, ggml_backend_t backend, bool is_whole);

/* SUM, or 0 at first, and all that others may see of what was computed. */
uint64_t graph_hash(const struct graph *g, uint64_t sum);

#endif
