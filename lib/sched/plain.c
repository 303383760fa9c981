/* SPDX-License-Identifier: MIT */
/*
 * sched/plain.c - a graph on the only backend: nothing to assign or to copy.
 *
 * Whether the backend can compute a node is asked while the graph allocator
 * walks over the graph: that is the only walk, when there is a plan that fits.
 * When it cannot, a copy of something may still help, and others find that out.
 */
#include "config.h"

#include "lib/sched/sched.h"

#include "lib/alloc/graph.h"
#include "lib/backend/transfer.h"
#include "lib/base/status.h"
#include "lib/tensor/tensor.h"

struct looking {
    const struct ggml_backend_sched *sched;
    bool *is_refused;
};

/* Can the backend compute the tensor, where it lies? */
static bool
can_compute(
    const struct ggml_backend_sched *s, const struct ggml_tensor *tensor)
{
    const ggml_backend_buffer_t home = gb_transfer_home(tensor);

    return (home == NULL || gb_sched_can_use(s, 0, home->buft)) &&
           gb_sched_can_run(s, 0, tensor);
}

static enum ggml_status
look(const void *data, const struct ggml_tensor *tensor)
{
    const struct looking *looking = data;

    if (can_compute(looking->sched, tensor))
        return GGML_STATUS_SUCCESS;
    *looking->is_refused = true;
    return GGML_STATUS_FAILED;
}

static bool
can_compute_all(const struct ggml_backend_sched *s)
{
    struct gb_tensor_walk walk = { { 0, 0 } };

    for (int i = 0; i < s->graph.n_leafs; i++)
        if (!can_compute(s, s->graph.leafs[i]))
            return false;
    for (int i = 0; i < s->graph.n_nodes; i++) {
        gb_tensor_walk(&walk, s->graph.nodes[i]);
        if (!can_compute(s, s->graph.nodes[i]))
            return false;
    }
    return true;
}

enum ggml_status
gb_sched_plan_plain(struct ggml_backend_sched *s, bool *is_refused)
{
    *is_refused = !can_compute_all(s);
    if (*is_refused)
        return GGML_STATUS_FAILED;
    /* Buffers that grow are freed first. */
    gb_sched_wait_for_all(s);
    return gb_alloc_graph_reserve(s->galloc, &s->graph, NULL, NULL);
}

enum ggml_status
gb_sched_place_plain(struct ggml_backend_sched *s, bool *is_refused)
{
    const struct looking looking = { s, is_refused };
    const struct gb_alloc_looker looker = { look, &looking };
    bool fits;

    GB_TRY(gb_alloc_graph_place(s->galloc, &s->graph, &looker, &fits));
    if (fits)
        return GGML_STATUS_SUCCESS;
    GB_TRY(gb_sched_plan_plain(s, is_refused));
    return gb_sched_place_as_planned(s, &s->graph);
}
