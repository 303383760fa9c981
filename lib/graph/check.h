/* SPDX-License-Identifier: MIT */
/*
 * graph/check.h - is this graph whole?  For tests and debugging.
 */
#ifndef GB_GRAPH_CHECK_H
#define GB_GRAPH_CHECK_H

#include "lib/graph/graph.h"

/*
 * Success when GRAPH has not failed, each of its tensors is there once, and
 * each node's sources stand before it; a slice may have sources from outside.
 * Nodes that were added with ggml_graph_add_node are looked at like the others.
 */
enum ggml_status gb_graph_check(const struct ggml_cgraph *graph);

#endif
