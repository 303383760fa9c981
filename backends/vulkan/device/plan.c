/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/plan.c - a graph as a list of dispatches.
 *
 * A graph that comes again is told by its tensors; of one whose views of a KV
 * cache moved on, the nodes that use them are emitted once more, over what they
 * had in the list.
 */
#include "backends/vulkan/device/plan.h"

#include "backends/vulkan/device/buffer.h"
#include "backends/vulkan/device/estimate.h"
#include "backends/vulkan/device/tables.h"
#include "backends/vulkan/ops/fused.h"
#include "backends/vulkan/ops/op.h"

#include "ggmlbackend.h"

#include "lib/node/node.h"

#include <stdlib.h>
#include <string.h>

struct emission {
    struct gb_vk_emit emit; /* first: rows get it */
    struct gb_vk_plan *plan;
    struct gb_vk_context *context;
    const struct gb_vk_memory *scratch;
    const struct ggml_cgraph *cgraph;
    int node;
    enum ggml_status status;
    /* Over what the plan has, where it is changed. */
    size_t next, end;
    bool is_other; /* it has another number of dispatches */
    gb_vk_changed_fn changed; /* NULL: the plan is made */
    void *data;
};

/* ---- bindings ---- */

/* NODE or a source of it that lies in HOME; NULL: none does. */
static const struct ggml_tensor *
operand_in(const struct ggml_tensor *node, const struct gb_vk_buffer *home)
{
    if (gb_vk_buffer_of(node) == home)
        return node;
    for (int i = 0; i < GGML_MAX_SRC; i++)
        if (node->src[i] != NULL && gb_vk_buffer_of(node->src[i]) == home)
            return node->src[i];
    return NULL;
}

/* A tensor of the graph that lies in HOME, as an operand of what is dispatched
 * does: rows bind parts of tensors too, which are gone when they return. */
static const struct ggml_tensor *
lasting_tensor_in(const struct emission *emission,
                  const struct gb_vk_buffer *home)
{
    const struct gb_fuse_group *group =
        gb_fuse_group_of(&emission->plan->fuse, emission->node);
    const struct ggml_tensor *found = NULL;

    if (group == NULL)
        return operand_in(emission->cgraph->nodes[emission->node], home);
    for (int i = 0; i < group->n_nodes && found == NULL; i++)
        found = operand_in(group->nodes[i], home);
    return found;
}

/* Remember that what is at HOME is bound. */
static void
note_home(const struct emission *emission, const struct gb_vk_buffer *home)
{
    struct gb_vk_plan *plan = emission->plan;
    const uint64_t number = home->windows[0].number;
    const struct ggml_tensor *tensor;

    if (plan->n_homes > GB_VK_MAX_HOMES)
        return;
    for (int i = 0; i < plan->n_homes; i++)
        if (plan->homes[i].number == number)
            return;
    tensor = lasting_tensor_in(emission, home);
    if (tensor == NULL)
        plan->n_homes = GB_VK_MAX_HOMES;
    if (plan->n_homes < GB_VK_MAX_HOMES)
        plan->homes[plan->n_homes] = (struct gb_vk_home){ tensor, number };
    plan->n_homes++;
}

/* Where BIND is; false, with the reason told, for what does not lie on the
 * card. */
static bool
locate(const struct emission *emission, const struct gb_vk_bind *bind,
       VkBuffer *buffer, size_t *offset, size_t *size)
{
    struct gb_vk_context *context = emission->context;
    const struct gb_vk_memory *memory = NULL;
    const struct gb_vk_buffer *home;

    if (bind->table != 0)
        return gb_vk_table(context, bind->table, buffer, offset, size);
    if (bind->tensor == NULL) {
        *buffer = emission->scratch->buffer;
        *offset = bind->offset;
        *size = bind->size;
        emission->plan->scratch = emission->scratch->number;
        return true;
    }
    home = gb_vk_buffer_of(bind->tensor);
    if (home != NULL && home->hold.context == context &&
        !(bind->is_written && gb_vk_has_copies(home))) {
        *offset =
            (size_t)((char *)bind->tensor->data - home->base) + bind->offset;
        *size = bind->size > 0 ? bind->size
                               : ggml_nbytes(bind->tensor) - bind->offset;
        memory = gb_vk_find_memory(home, offset, *size);
    }
    if (memory == NULL) {
        ggmlbackend_fail(GGML_STATUS_FAILED,
                         "%s: tensor %.*s does not lie on the card",
                         context->card->label, GB_NODE_NAME(bind->tensor));
        return false;
    }
    note_home(emission, home);
    *buffer = memory->buffer;
    return true;
}

/* Whole words, from a multiple of the device's alignment on; *AT is where the
 * operand begins in it. */
static bool
make_range(const struct emission *emission, const struct gb_vk_bind *bind,
           struct gb_vk_range *range, uint32_t *at)
{
    const size_t mask = emission->context->card->alignment - 1;
    size_t offset, size;

    if (!locate(emission, bind, &range->buffer, &offset, &size))
        return false;
    range->begin = offset & ~mask;
    range->end = (offset + size + 3) & ~(size_t)3;
    range->is_written = bind->is_written;
    *at = (uint32_t)(offset & mask);
    return true;
}

/* ---- dispatches ---- */

/* Room for N items of SIZE bytes each, which may move; false: no memory. */
static bool
grow(void **items, size_t *room, size_t n, size_t size)
{
    const size_t wanted = n > 2 * *room ? n : 2 * *room;
    void *moved;

    if (n <= *room)
        return true;
    moved = realloc(*items, wanted * size);
    if (moved == NULL)
        return false;
    *items = moved;
    *room = wanted;
    return true;
}

static bool
is_same_range(const struct gb_vk_range *a, const struct gb_vk_range *b)
{
    return a->buffer == b->buffer && a->begin == b->begin && a->end == b->end &&
           a->is_written == b->is_written;
}

static bool
is_same(const struct gb_vk_dispatch *a, const struct gb_vk_dispatch *b)
{
    if (a->pipeline != b->pipeline || a->n_groups != b->n_groups ||
        a->n_ranges != b->n_ranges || a->params_size != b->params_size ||
        memcmp(a->params, b->params, a->params_size) != 0)
        return false;
    for (int i = 0; i < a->n_ranges; i++)
        if (!is_same_range(&a->ranges[i], &b->ranges[i]))
            return false;
    return true;
}

bool
gb_vk_plan_add(
    struct gb_vk_plan *plan, const struct gb_vk_dispatch *dispatch)
{
    void *items = plan->dispatches;
    const bool has_room =
        grow(&items, &plan->room_dispatches,
             plan->n_dispatches < 64 ? 64 : plan->n_dispatches + 1,
             sizeof(*plan->dispatches));

    plan->dispatches = items;
    if (has_room)
        plan->dispatches[plan->n_dispatches++] = *dispatch;
    return has_room;
}

static void
append(struct emission *emission, const struct gb_vk_dispatch *dispatch)
{
    if (!gb_vk_plan_add(emission->plan, dispatch))
        emission->status =
            ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                             "%s: no memory for a plan of %zu dispatches",
                             emission->context->card->label,
                             emission->plan->n_dispatches);
}

/* What the plan knows of where it is stays. */
static void
replace(struct emission *emission, struct gb_vk_dispatch *dispatch)
{
    struct gb_vk_dispatch *old;

    emission->is_other |= emission->next == emission->end;
    if (emission->is_other)
        return;
    old = &emission->plan->dispatches[emission->next++];
    if (is_same(old, dispatch))
        return;
    dispatch->chunk = old->chunk;
    dispatch->is_moving = old->is_moving;
    *old = *dispatch;
    emission->changed(emission->data, old);
}

/* The struct's first member is where operands begin. */
static void
add(struct gb_vk_emit *emit, enum gb_vk_pipeline pipeline, int64_t n_groups,
    const struct gb_vk_bind *binds, int n_binds, void *params, size_t size)
{
    struct emission *emission = (struct emission *)emit;
    struct gb_vk_dispatch dispatch = {
        .pipeline = pipeline,
        .node = emission->node,
        .n_groups = n_groups,
        .n_ranges = n_binds,
        .params_size = size,
    };
    uint32_t *at = params;
    uint64_t bytes = 0;

    if (emission->status != GGML_STATUS_SUCCESS || n_groups <= 0)
        return;
    for (int i = 0; i < n_binds; i++) {
        if (!make_range(emission, &binds[i], &dispatch.ranges[i], &at[i])) {
            emission->status = GGML_STATUS_FAILED;
            return;
        }
        bytes += dispatch.ranges[i].end - dispatch.ranges[i].begin;
    }
    memcpy(dispatch.params, params, size);
    dispatch.ns = gb_vk_estimate(emission->context->card, bytes,
                                 emit->operations, n_groups);
    emit->operations = 0;
    if (emission->changed == NULL)
        append(emission, &dispatch);
    else
        replace(emission, &dispatch);
}

static struct emission
new_emission(struct gb_vk_plan *plan, struct gb_vk_context *context,
             const struct gb_vk_limits *limits,
             const struct gb_vk_memory *scratch,
             const struct ggml_cgraph *cgraph)
{
    return (struct emission){
        .emit = { .limits = limits, .add = add },
        .plan = plan,
        .context = context,
        .scratch = scratch,
        .cgraph = cgraph,
        .status = GGML_STATUS_SUCCESS,
    };
}

/* ---- graphs ---- */

/* Node I, or its group where that is computed. */
static void
emit_at(struct emission *emission, const struct ggml_cgraph *cgraph, int i)
{
    const struct ggml_tensor *node = cgraph->nodes[i];
    const struct gb_fuse_group *group =
        gb_fuse_group_of(&emission->plan->fuse, i);

    emission->node = i;
    if (group == NULL && gb_vk_needs_work(node))
        gb_vk_emit_node(&emission->emit, node);
    if (group == NULL || !gb_fuse_is_place(group, i))
        return;
    gb_vk_fused_of(group->pattern)->emit(&emission->emit, group);
    atomic_fetch_add_explicit(&emission->context->n_groups[group->pattern], 1,
                              memory_order_relaxed);
}

static bool
accepts_group(void *data, const struct gb_fuse_group *group)
{
    const struct gb_vk_limits *limits = data;

    return gb_vk_supports_group(limits, group);
}

/* Without memory for the search each node has dispatches of its own. */
static void
find_groups(struct gb_vk_plan *plan, const struct gb_vk_card *card,
            const struct gb_vk_limits *limits,
            const struct ggml_cgraph *cgraph)
{
    struct gb_vk_limits data = *limits;

    plan->fuse.n_groups = 0;
    if (card->fuses)
        gb_fuse_find(&plan->fuse, cgraph, accepts_group, &data);
}

/* Clients may ask for what supports_op refuses. */
static enum ggml_status
check(const struct gb_vk_context *context, const struct gb_vk_limits *limits,
      const struct ggml_cgraph *cgraph)
{
    for (int i = 0; i < cgraph->n_nodes; i++) {
        const struct ggml_tensor *node = cgraph->nodes[i];

        if (gb_vk_needs_work(node) && !gb_vk_supports(limits, node))
            return ggmlbackend_fail(GGML_STATUS_FAILED,
                                    "%s: %s (%.*s) cannot be computed there",
                                    context->card->label, gb_node_word(node),
                                    GB_NODE_NAME(node));
    }
    return GGML_STATUS_SUCCESS;
}

static size_t
scratch_of(const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    return gb_vk_needs_work(node) ? gb_vk_scratch_of(limits, node) : 0;
}

/* What a group needs at once that its nodes need one after the other. */
static size_t
scratch_of_group(const struct gb_vk_limits *limits,
                 const struct gb_fuse_group *group)
{
    const struct gb_vk_fused *row = gb_vk_fused_of(group->pattern);

    return row->scratch != NULL ? row->scratch(limits, group) : 0;
}

static size_t
most_scratch(const struct gb_vk_limits *limits, const struct gb_fuse *fuse,
             const struct ggml_cgraph *cgraph)
{
    size_t most = 0;

    for (int i = 0; i < cgraph->n_nodes; i++) {
        const size_t size = scratch_of(limits, cgraph->nodes[i]);

        most = size > most ? size : most;
    }
    for (int i = 0; i < fuse->n_groups; i++) {
        const size_t size = scratch_of_group(limits, &fuse->groups[i]);

        most = size > most ? size : most;
    }
    return most;
}

/* The old block goes first: both at once may be more than there is. */
static enum ggml_status
grow_scratch(struct gb_vk_context *context, struct gb_vk_memory *scratch,
             uint64_t number, size_t size)
{
    enum ggml_status status;

    if (size <= scratch->size)
        return GGML_STATUS_SUCCESS;
    status = gb_vk_wait(context, number);
    if (status != GGML_STATUS_SUCCESS)
        return status;
    if (scratch->size > 0)
        gb_vk_memory_free(context, scratch);
    return gb_vk_memory_new(context, GB_VK_MEMORY_DEVICE,
                            (size + 255) & ~(size_t)255, scratch);
}

static enum ggml_status
make_units(struct gb_vk_plan *plan, const struct gb_vk_context *context, int n)
{
    void *units = plan->units;
    const bool has_room =
        grow(&units, &plan->room_units, (size_t)n, sizeof(*plan->units));

    plan->units = units;
    return has_room ? GGML_STATUS_SUCCESS
                    : ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                                       "%s: no memory for a plan of %d nodes",
                                       context->card->label, n);
}

static enum ggml_status
emit_all(struct gb_vk_plan *plan, struct gb_vk_context *context,
         const struct gb_vk_limits *limits, const struct gb_vk_memory *scratch,
         const struct ggml_cgraph *cgraph)
{
    struct emission emission =
        new_emission(plan, context, limits, scratch, cgraph);

    for (int i = 0;
         i < cgraph->n_nodes && emission.status == GGML_STATUS_SUCCESS; i++) {
        const size_t first = plan->n_dispatches;

        emit_at(&emission, cgraph, i);
        plan->units[i] = (struct gb_vk_unit){
            .first = first, .n = plan->n_dispatches - first
        };
    }
    return emission.status;
}

enum ggml_status
gb_vk_plan_make(
    struct gb_vk_plan *plan, struct gb_vk_context *context,
    struct gb_vk_memory *scratch, uint64_t number,
    const struct ggml_cgraph *cgraph)
{
    /* What breaks meanwhile changes nothing of what is planned. */
    const struct gb_vk_limits limits = gb_vk_card_limits(context->card);
    enum ggml_status status = check(context, &limits, cgraph);

    gb_fuse_seen_clear(&plan->seen);
    plan->n_dispatches = 0;
    plan->n_homes = 0;
    plan->scratch = 0;
    plan->change = 0;
    if (status != GGML_STATUS_SUCCESS)
        return status;
    find_groups(plan, context->card, &limits, cgraph);
    status = grow_scratch(context, scratch, number,
                          most_scratch(&limits, &plan->fuse, cgraph));
    if (status == GGML_STATUS_SUCCESS)
        status = make_units(plan, context, cgraph->n_nodes);
    if (status == GGML_STATUS_SUCCESS)
        status = emit_all(plan, context, &limits, scratch, cgraph);
    if (status == GGML_STATUS_SUCCESS && plan->n_homes <= GB_VK_MAX_HOMES)
        gb_fuse_seen_take(&plan->seen, cgraph);
    return status;
}

void
gb_vk_plan_clear(struct gb_vk_plan *plan)
{
    free(plan->dispatches);
    free(plan->units);
    gb_fuse_clear(&plan->fuse);
    gb_fuse_seen_clear(&plan->seen);
    memset(plan, 0, sizeof(*plan));
}

/* ---- once more ---- */

/* Is the memory that is bound still there?  Tensors are those of a graph that
 * was compared; a buffer that came in the place of another may have its
 * addresses. */
static bool
are_homes_there(const struct gb_vk_plan *plan,
                const struct gb_vk_context *context,
                const struct gb_vk_memory *scratch)
{
    if (plan->scratch != 0 && plan->scratch != scratch->number)
        return false;
    for (int i = 0; i < plan->n_homes; i++) {
        const struct gb_vk_buffer *home =
            gb_vk_buffer_of(plan->homes[i].tensor);

        if (home == NULL || home->hold.context != context ||
            home->windows[0].number != plan->homes[i].number)
            return false;
    }
    return true;
}

/* Without a word: who is refused is planned anew, and told. */
static bool
still_runs(const struct emission *emission, const struct ggml_tensor *node,
           const struct gb_fuse_group *group)
{
    const struct gb_vk_limits *limits = emission->emit.limits;

    if (group != NULL)
        return gb_vk_supports_group(limits, group) &&
               scratch_of_group(limits, group) <= emission->scratch->size;
    return gb_vk_supports(limits, node) &&
           scratch_of(limits, node) <= emission->scratch->size;
}

/*
 * Node I has moved, or a source of it.  Why nodes are a group may depend on
 * where other tensors lie; the place that a key or value is copied to is no such
 * thing.
 */
static bool
change_user(struct emission *emission, const struct ggml_cgraph *cgraph, int i)
{
    struct gb_vk_plan *plan = emission->plan;
    const struct ggml_tensor *node = cgraph->nodes[i];
    const struct gb_fuse_group *group = gb_fuse_group_of(&plan->fuse, i);
    const int place = group == NULL ? i : gb_fuse_place_of(group);
    struct gb_vk_unit *unit = &plan->units[place];

    if (!gb_vk_needs_work(node))
        return true;
    if (group != NULL && node->op != GGML_OP_CPY)
        return false;
    if (unit->change == plan->change)
        return true;
    unit->change = plan->change;
    if (!still_runs(emission, node, group))
        return false;
    emission->next = unit->first;
    emission->end = unit->first + unit->n;
    emit_at(emission, cgraph, place);
    return !emission->is_other && emission->next == emission->end &&
           emission->status == GGML_STATUS_SUCCESS;
}

static bool
change_users(struct emission *emission, const struct ggml_cgraph *cgraph,
             int look)
{
    const struct gb_fuse_seen *seen = &emission->plan->seen;

    for (int k = seen->first_user[look]; k < seen->first_user[look + 1]; k++)
        if (!change_user(emission, cgraph, seen->users[k]))
            return false;
    return true;
}

static bool
change_moved(struct gb_vk_plan *plan, struct gb_vk_context *context,
             const struct gb_vk_memory *scratch,
             const struct ggml_cgraph *cgraph, gb_vk_changed_fn changed,
             void *data)
{
    const struct gb_vk_limits limits = gb_vk_card_limits(context->card);
    struct emission emission =
        new_emission(plan, context, &limits, scratch, cgraph);

    emission.changed = changed;
    emission.data = data;
    plan->change++;
    for (int i = 0; i < plan->seen.n_moved; i++)
        if (!change_users(&emission, cgraph, plan->seen.moved[i]))
            return false;
    return true;
}

enum gb_vk_again
gb_vk_plan_again(
    struct gb_vk_plan *plan, struct gb_vk_context *context,
    const struct gb_vk_memory *scratch, const struct ggml_cgraph *cgraph,
    gb_vk_changed_fn changed, void *data)
{
    const enum gb_fuse_change change =
        gb_fuse_seen_compare(&plan->seen, cgraph);

    if (change == GB_FUSE_OTHER)
        return GB_VK_ANOTHER;
    if (!are_homes_there(plan, context, scratch))
        return GB_VK_WORN;
    if (change == GB_FUSE_SAME)
        return GB_VK_AS_BEFORE;
    return change_moved(plan, context, scratch, cgraph, changed, data)
               ? GB_VK_CHANGED : GB_VK_WORN;
}
