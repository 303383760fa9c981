/* SPDX-License-Identifier: MIT */
/*
 * sim/graph.h - a graph as the device sees it.
 */
#ifndef GB_SIM_GRAPH_H
#define GB_SIM_GRAPH_H

#include "backends/sim/state.h"

#include "ggml-impl.h"

/*
 * Copies of the nodes that compute something and of their sources, with the
 * device's addresses.  The original may change or go once it is made.
 */
struct gb_sim_graph {
    int n_users; /* under the lock */
    struct ggml_cgraph graph;
};

/* Is OP something to compute, and neither a view nor no operation? */
bool gb_sim_computes(enum ggml_op op);

/* Fails when a tensor does not lie in the device's memory. */
enum ggml_status gb_sim_graph_new(
    struct gb_sim_device *device, const struct ggml_cgraph *cgraph,
    struct gb_sim_graph **out);

void gb_sim_graph_acquire(struct gb_sim_graph *graph);
void gb_sim_graph_release(struct gb_sim_graph *graph);

#endif
