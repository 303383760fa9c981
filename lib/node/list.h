/* SPDX-License-Identifier: MIT */
/*
 * node/list.h - whether a graph's list of nodes can be walked.
 */
#ifndef GB_NODE_LIST_H
#define GB_NODE_LIST_H

#include "ggml.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * True if CGRAPH has a count of nodes that fits its list, and none of them is
 * NULL.  Else WHY, of SIZE bytes, gets the predicate of a sentence about the
 * graph.
 */
bool gb_node_list_is_whole(
    const struct ggml_cgraph *cgraph, char *why, size_t size);

#endif
