/* SPDX-License-Identifier: MIT */
/*
 * alloc/graph.h - the graph allocator, for those who need the status and say
 * themselves when to plan.
 */
#ifndef GB_ALLOC_GRAPH_H
#define GB_ALLOC_GRAPH_H

#include "ggml-impl.h"

#include "ggml-alloc.h"

/*
 * As ggml_gallocr_reserve_n, which it implements.  Buffers that grow are freed
 * first: whoever still works in them must have been waited for.
 */
enum ggml_status gb_alloc_graph_reserve(
    ggml_gallocr_t galloc, const struct ggml_cgraph *graph,
    const int *node_ids, const int *leaf_ids);

/*
 * Let the N leafs from FIRST on change places in the plan: each gets that of
 * the next one, and the last that of the first.  All have one layout and slot,
 * no data, and are flagged as inputs and outputs, so that nothing else lies in
 * their places.
 */
void gb_alloc_graph_turn(ggml_gallocr_t galloc, int first, int n);

/*
 * Somebody who wants to look at the leafs and nodes of a graph too: large
 * graphs are in no cache, and this saves a walk.  What LOOK returns ends the
 * walk when it is not GGML_STATUS_SUCCESS.
 */
struct gb_alloc_looker {
    enum ggml_status (*look)(
        const void *data, const struct ggml_tensor *tensor);
    const void *data;
};

/*
 * Give every tensor of GRAPH its place by the plan that exists; *fits is false,
 * and nothing was touched, when GRAPH is not of the plan's make.  LOOKER, which
 * may be NULL, has seen all of GRAPH when *fits is true, and perhaps only some
 * of it otherwise; nothing was touched when it ended the walk.
 */
enum ggml_status gb_alloc_graph_place(
    ggml_gallocr_t galloc, const struct ggml_cgraph *graph,
    const struct gb_alloc_looker *looker, bool *fits);

#endif
