/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/change.c - a plan that is used again.
 *
 * Where it is the graph that the plan was made of, and only views of a KV cache
 * moved on, the launches of the nodes that use them get other arguments.  What
 * that costs is comparing the graph; the rest goes by what moved.
 */
#include "backends/cuda/device/change.h"

#include "backends/cuda/device/buffer.h"
#include "backends/cuda/device/emission.h"
#include "backends/cuda/ops/fused.h"

#include "lib/node/sound.h"

/*
 * The launch of GROUP, if what moved of it are copies.  Why its nodes are a
 * group may depend on where other tensors lie; the place that a key or value is
 * copied to is no such thing.
 */
static bool
change_group(struct gb_cuda_plan *plan, const struct gb_cuda_unit *unit,
             const struct gb_fuse_group *group)
{
    const struct gb_cuda_fused *row = gb_cuda_fused_of(group->pattern);
    const struct gb_cuda_launch *launch = &plan->launches[unit->first];

    return row->move != NULL && unit->n == 1 &&
           row->move(plan->args + launch->args, group) &&
           gb_cuda_plan_note_change(plan, unit->first);
}

/* Are COPY and what it reads, of which all but the place is what it was, where
 * kernels can reach them? */
static bool
can_move(const struct gb_cuda_hold *hold, const struct ggml_tensor *copy)
{
    return gb_node_is_sound(copy) && gb_node_is_sound(copy->src[0]) &&
           gb_cuda_lies_on(hold, copy) && gb_cuda_lies_on(hold, copy->src[0]);
}

/* Without a word: who is refused is planned anew, and told. */
static bool
can_run(const struct gb_cuda_hold *hold, const struct gb_cuda_limits *limits,
        const struct ggml_tensor *node)
{
    if (!gb_cuda_supports(limits, node) || !gb_cuda_lies_on(hold, node))
        return false;
    for (int i = 0; i < GGML_MAX_SRC; i++) {
        if (node->src[i] != NULL && !ggml_is_empty(node->src[i]) &&
            !gb_cuda_lies_on(hold, node->src[i]))
            return false;
    }
    return true;
}

/* The launches of node I, if it stands alone: columns that products share
 * depend on where other tensors lie. */
static bool
change_node(struct gb_cuda_emission *emission, const struct gb_cuda_hold *hold,
            const struct ggml_cgraph *cgraph, int i)
{
    const struct gb_cuda_unit *unit = &emission->plan->units[i];
    const struct ggml_tensor *node = cgraph->nodes[i];

    if (node->op == GGML_OP_MUL_MAT || node->op == GGML_OP_MUL_MAT_ID ||
        !can_run(hold, emission->emit.limits, node))
        return false;
    emission->next = unit->first;
    emission->end = unit->first + unit->n;
    gb_cuda_emission_at(emission, cgraph, i);
    return !emission->is_other && emission->next == emission->end &&
           emission->status == GGML_STATUS_SUCCESS;
}

/* Node I moved, or a source of it.  A group whose copy moves is changed once,
 * whatever else of it moves. */
static bool
change_user(struct gb_cuda_emission *emission, const struct gb_cuda_hold *hold,
            const struct ggml_cgraph *cgraph, int i)
{
    struct gb_cuda_plan *plan = emission->plan;
    const struct gb_fuse_group *group = gb_fuse_group_of(&plan->fuse, i);
    struct gb_cuda_unit *unit =
        &plan->units[group == NULL ? i : gb_fuse_place_of(group)];

    if (group == NULL ? !gb_cuda_needs_work(cgraph->nodes[i])
                      : cgraph->nodes[i]->op != GGML_OP_CPY)
        return group == NULL;
    if (group != NULL && !can_move(hold, cgraph->nodes[i]))
        return false;
    if (unit->change == plan->change)
        return true;
    unit->change = plan->change;
    return group == NULL ? change_node(emission, hold, cgraph, i)
                         : change_group(plan, unit, group);
}

static bool
change_users(struct gb_cuda_emission *emission, const struct gb_cuda_hold *hold,
             const struct ggml_cgraph *cgraph, int look)
{
    const struct gb_fuse_seen *seen = &emission->plan->seen;

    for (int k = seen->first_user[look]; k < seen->first_user[look + 1]; k++) {
        if (!change_user(emission, hold, cgraph, seen->users[k]))
            return false;
    }
    return true;
}

static bool
change_moved(struct gb_cuda_plan *plan, const struct gb_cuda_hold *hold,
             gb_cuda_address memory, const struct ggml_cgraph *cgraph)
{
    const struct gb_cuda_limits limits = gb_cuda_card_limits(hold->card);
    struct gb_cuda_emission emission = gb_cuda_emission_change(
        plan, hold->card, &limits, &plan->needs, memory);

    plan->change++;
    for (int i = 0; i < plan->seen.n_moved; i++) {
        if (!change_users(&emission, hold, cgraph, plan->seen.moved[i]))
            return false;
    }
    return true;
}

bool
gb_cuda_plan_change(
    struct gb_cuda_plan *plan, const struct gb_cuda_hold *hold,
    gb_cuda_address memory, const struct ggml_cgraph *cgraph)
{
    const enum gb_fuse_change change =
        gb_fuse_seen_compare(&plan->seen, cgraph);

    if (change != GB_FUSE_MOVED)
        return change == GB_FUSE_SAME;
    return change_moved(plan, hold, memory, cgraph);
}
