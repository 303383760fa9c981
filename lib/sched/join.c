/* SPDX-License-Identifier: MIT */
/*
 * sched/join.c - nodes that write to memory of other tensors are computed where
 * that memory is, whatever was chosen.
 *
 * Data stays where it is.  What is only planned may still move: when its
 * backend cannot run a node that writes to it, another may be able to compute
 * it and to run all such nodes.
 */
#include "config.h"

#include "lib/sched/sched.h"

#include "lib/base/status.h"

int
gb_sched_find_written(
    const struct ggml_backend_sched *s, const struct gb_sched_node *node,
    int32_t owners[GB_SCHED_MAX_WRITTEN])
{
    int n = 0;

    if ((node->writes & GB_SCHED_WRITES_ROOT) != 0)
        owners[n++] = gb_sched_owner(s, node->number);
    for (int slot = 0; slot < node->n_links; slot++) {
        const int32_t source = s->links[node->links + (size_t)slot];

        if (source >= 0 && (node->writes >> slot & 1) != 0)
            owners[n++] = gb_sched_owner(s, source);
    }
    return n;
}

static bool
writes_to(
    const struct ggml_backend_sched *s, const struct gb_sched_node *node,
    int32_t owner)
{
    int32_t owners[GB_SCHED_MAX_WRITTEN];
    const int n =
        node->writes != 0 ? gb_sched_find_written(s, node, owners) : 0;

    for (int i = 0; i < n; i++)
        if (owners[i] == owner)
            return true;
    return false;
}

/* Can BACKEND write to what the node writes to, leaving EXCEPT aside? */
static bool
reaches_written(
    const struct ggml_backend_sched *s, const struct gb_sched_node *node,
    int32_t backend, int32_t except)
{
    int32_t owners[GB_SCHED_MAX_WRITTEN];
    const int n = gb_sched_find_written(s, node, owners);

    for (int i = 0; i < n; i++)
        if (owners[i] != except && !gb_sched_can_reach(s, owners[i], backend))
            return false;
    return true;
}

/* ---- moving what is not in memory yet ---- */

/*
 * Could BACKEND compute OWNER, and run what writes to it before node I?  Its
 * memory belongs to whoever computes it, and all of them have to reach it.
 */
static bool
can_move(
    const struct ggml_backend_sched *s, int32_t owner, int32_t backend,
    int32_t i)
{
    bool is_whole = s->tensors[owner].home == NULL;

    while (is_whole && --i >= 0) {
        const struct gb_sched_node *node = &s->nodes[i];

        if (node->number != owner && !writes_to(s, node, owner))
            continue;
        is_whole = reaches_written(s, node, backend, owner) &&
                   gb_sched_can_run_on_copies(
                       s, backend, gb_sched_tensor(s, node->number));
        if (node->number == owner)
            break;
    }
    return is_whole;
}

static void
move(struct ggml_backend_sched *s, int32_t owner, int32_t backend, int32_t i)
{
    s->tensors[owner].backend = backend;
    while (--i >= 0 && s->nodes[i].number != owner)
        if (writes_to(s, &s->nodes[i], owner))
            s->tensors[s->nodes[i].number].backend = backend;
}

/* Can BACKEND run node I, whose memory it can reach or move? */
static bool
can_take(const struct ggml_backend_sched *s, int32_t i, int32_t backend)
{
    const struct gb_sched_node *node = &s->nodes[i];
    int32_t owners[GB_SCHED_MAX_WRITTEN];
    const int n = gb_sched_find_written(s, node, owners);

    for (int k = 0; k < n; k++)
        if (!gb_sched_can_reach(s, owners[k], backend) &&
            !can_move(s, owners[k], backend, i))
            return false;
    return gb_sched_can_run_on_copies(
        s, backend, gb_sched_tensor(s, node->number));
}

static void
take(struct ggml_backend_sched *s, int32_t i, int32_t backend)
{
    int32_t owners[GB_SCHED_MAX_WRITTEN];
    const int n = gb_sched_find_written(s, &s->nodes[i], owners);

    for (int k = 0; k < n; k++)
        if (!gb_sched_can_reach(s, owners[k], backend))
            move(s, owners[k], backend, i);
    s->tensors[s->nodes[i].number].backend = backend;
}

/*
 * The first that can run node I where most of it is, which is known, else
 * anywhere; or -1.
 */
static int32_t
find_taker(const struct ggml_backend_sched *s, int32_t i, int32_t owner)
{
    const int32_t there = s->tensors[owner].backend;

    if (there < s->n_backends && can_take(s, i, there))
        return there;
    for (int32_t b = 0; b < s->n_backends; b++)
        if (can_take(s, i, b))
            return b;
    return -1;
}

enum ggml_status
gb_sched_join(struct ggml_backend_sched *s, int32_t i)
{
    const struct gb_sched_node *node = &s->nodes[i];
    const int32_t backend = s->tensors[node->number].backend;
    int32_t owners[GB_SCHED_MAX_WRITTEN], taker;
    const int n = gb_sched_find_written(s, node, owners);

    for (int k = 0; k < n; k++)
        if (s->tensors[owners[k]].backend < 0)
            s->tensors[owners[k]].backend = backend;
    if (n == 0 || reaches_written(s, node, backend, -1))
        return GGML_STATUS_SUCCESS;
    taker = find_taker(s, i, owners[0]);
    if (taker < 0)
        return gb_sched_fail_for_all(s, gb_sched_tensor(s, node->number));
    take(s, i, taker);
    return GGML_STATUS_SUCCESS;
}
