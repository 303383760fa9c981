/* SPDX-License-Identifier: MIT */
/*
 * graph/graph.h - what the library knows of graphs beyond ggml-impl.h.
 */
#ifndef GB_GRAPH_GRAPH_H
#define GB_GRAPH_GRAPH_H

#include "ggml-impl.h"

/*
 * A graph has failed when it is full, or when a failed node or NULL was put
 * into it. Slices and copies of a failed graph have failed too;
 * ggml_graph_clear makes it whole again.  Allocating or computing a failed
 * graph is an error, with the reason that gb_graph_failure gives.  (The mark is
 * a bit in the struct's order.)
 */
bool gb_graph_is_failed(const struct ggml_cgraph *graph);

/*
 * Why it has failed, "" for a graph that has not.  It lives as long as GRAPH.
 */
const char *gb_graph_failure(const struct ggml_cgraph *graph);

/* Mark GRAPH as failed. */
void gb_graph_set_failed(struct ggml_cgraph *graph);

/* Let no tensor of GRAPH have a gradient or an accumulator. */
void gb_graph_forget_gradients(struct ggml_cgraph *graph);

/* The order in which sources are visited, whether GRAPH has failed or not. */
enum ggml_cgraph_eval_order gb_graph_order(const struct ggml_cgraph *graph);

#endif
