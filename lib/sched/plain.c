/* SPDX-License-Identifier: MIT */
/*
 * sched/plain.c - a graph on the only backend: nothing to assign or to copy.
 *
 * Whether the backend can compute a node is asked while the graph allocator
 * walks over the graph: that is the only walk, when there is a plan that fits.
 */
#include "config.h"

#include "lib/sched/sched.h"

#include "lib/alloc/graph.h"
#include "lib/base/status.h"
#include "lib/tensor/tensor.h"

static enum ggml_status
look(const void *sched, const struct ggml_tensor *tensor)
{
    return gb_sched_check_single(sched, tensor);
}

static enum ggml_status
check_all(const struct ggml_backend_sched *s)
{
    struct gb_tensor_walk walk = { { 0, 0 } };

    for (int i = 0; i < s->graph.n_leafs; i++)
        GB_TRY(gb_sched_check_single(s, s->graph.leafs[i]));
    for (int i = 0; i < s->graph.n_nodes; i++) {
        gb_tensor_walk(&walk, s->graph.nodes[i]);
        GB_TRY(gb_sched_check_single(s, s->graph.nodes[i]));
    }
    return GGML_STATUS_SUCCESS;
}

enum ggml_status
gb_sched_plan_plain(struct ggml_backend_sched *s)
{
    GB_TRY(check_all(s));
    /* Buffers that grow are freed first. */
    gb_sched_wait_for_all(s);
    return gb_alloc_graph_reserve(s->galloc, &s->graph, NULL, NULL);
}

enum ggml_status
gb_sched_place_plain(struct ggml_backend_sched *s)
{
    const struct gb_alloc_looker looker = { look, s };
    bool fits;

    GB_TRY(gb_alloc_graph_place(s->galloc, &s->graph, &looker, &fits));
    if (fits)
        return GGML_STATUS_SUCCESS;
    GB_TRY(gb_sched_plan_plain(s));
    return gb_sched_place_as_planned(s, &s->graph);
}
