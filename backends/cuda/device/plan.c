/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/plan.c - a graph as a list of launches.
 *
 * The nodes are walked twice: first everything that can be wrong is asked and
 * the scratch is made as large as the node needs that needs most, then each
 * node's row emits its launches, or one row those of a group of nodes that one
 * kernel computes.  When the first of them runs, no kernel has to be loaded and
 * no memory be found any more.
 */
#include "backends/cuda/device/plan.h"

#include "backends/cuda/device/blas.h"
#include "backends/cuda/device/buffer.h"
#include "backends/cuda/device/change.h"
#include "backends/cuda/device/check.h"
#include "backends/cuda/device/emission.h"
#include "backends/cuda/device/split-buffer.h"
#include "backends/cuda/device/stream.h"
#include "backends/cuda/ops/fused.h"
#include "backends/cuda/ops/matmul.h"
#include "backends/cuda/ops/op.h"

#include "lib/fuse/memory.h"
#include "lib/node/list.h"
#include "lib/node/node.h"

#include <stdlib.h>
#include <string.h>

bool
gb_cuda_plan_grow(void **items, size_t *room, size_t n, size_t size)
{
    size_t wanted = *room * 2;
    void *moved;

    if (n <= *room)
        return true;
    if (wanted < n)
        wanted = n;
    if (wanted < 64)
        wanted = 64;
    moved = realloc(*items, wanted * size);
    if (moved == NULL)
        return false;
    *items = moved;
    *room = wanted;
    return true;
}

bool
gb_cuda_plan_note_change(struct gb_cuda_plan *plan, size_t launch)
{
    void *changed = plan->changed;
    const bool has_room =
        gb_cuda_plan_grow(&changed, &plan->room_changed, plan->n_changed + 1,
                          sizeof(*plan->changed));

    plan->changed = changed;
    if (has_room)
        plan->changed[plan->n_changed++] = (unsigned)launch;
    return has_room;
}

void
gb_cuda_plan_clear(struct gb_cuda_plan *plan)
{
    free(plan->launches);
    free(plan->args);
    free(plan->steps);
    free(plan->units);
    free(plan->changed);
    gb_fuse_clear(&plan->fuse);
    gb_fuse_seen_clear(&plan->seen);
    memset(plan, 0, sizeof(*plan));
}

/* ---- what can be wrong ---- */

static enum ggml_status
check_list(const struct gb_cuda_hold *hold, const struct ggml_cgraph *cgraph)
{
    char why[80];

    if (gb_node_list_is_whole(cgraph, why, sizeof(why)))
        return GGML_STATUS_SUCCESS;
    return ggmlbackend_fail(GGML_STATUS_FAILED, "%s: the graph %s",
                            hold->card->label, why);
}

static enum ggml_status
check_place(
    const struct gb_cuda_hold *hold, const struct ggml_tensor *tensor,
    const struct ggml_tensor *node)
{
    const char *why = gb_cuda_place_fault(hold, tensor);

    if (why == NULL)
        return GGML_STATUS_SUCCESS;
    return ggmlbackend_fail(GGML_STATUS_FAILED, "%s: tensor %.*s of %s %s",
                            hold->card->label, GB_NODE_NAME(tensor),
                            gb_node_word(node), why);
}

/* Of a product of weights on several GPUs. */
static enum ggml_status
check_split(const struct gb_cuda_hold *hold, const struct ggml_tensor *node)
{
    const char *why = gb_cuda_split_fault(node->src[0]);

    if (why == NULL)
        return GGML_STATUS_SUCCESS;
    return ggmlbackend_fail(GGML_STATUS_FAILED, "%s: weights %.*s %s",
                            hold->card->label, GB_NODE_NAME(node->src[0]),
                            why);
}

/* Check that NODE is valid and supported, then that kernels can reach its tensors.
 * Logs one reason. */
static enum ggml_status
check_node(
    const struct gb_cuda_hold *hold, const struct gb_cuda_limits *limits,
    const struct ggml_tensor *node)
{
    enum ggml_status status;
    int first = 0;

    if (!gb_cuda_supports(limits, node))
        return ggmlbackend_fail(GGML_STATUS_FAILED,
                                "%s: %s (%.*s) cannot run in this form",
                                hold->card->label, gb_node_word(node),
                                GB_NODE_NAME(node));
    status = check_place(hold, node, node);
    if (status == GGML_STATUS_SUCCESS && gb_cuda_split_is_product(node)) {
        status = check_split(hold, node);
        first = 1;
    }
    for (int i = first; i < GGML_MAX_SRC && status == GGML_STATUS_SUCCESS;
         i++) {
        if (node->src[i] != NULL && !ggml_is_empty(node->src[i]))
            status = check_place(hold, node->src[i], node);
    }
    return status;
}

static size_t
larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static bool
lies_with_weights(const struct ggml_tensor *t)
{
    const struct ggml_tensor *in = t->view_src != NULL ? t->view_src : t;

    return in->buffer != NULL && ggml_backend_buffer_get_usage(in->buffer) ==
                                     GGML_BACKEND_BUFFER_USAGE_WEIGHTS;
}

/* Does NODE write where weights are, as a step of training does? */
static bool
writes_weights(const struct ggml_tensor *node)
{
    const unsigned sources = gb_fuse_written_sources(node->op);

    if (!gb_cuda_needs_work(node))
        return false;
    for (int i = 0; i < GGML_MAX_SRC; i++) {
        if ((sources >> i & 1) != 0 && node->src[i] != NULL &&
            lies_with_weights(node->src[i]))
            return true;
    }
    return lies_with_weights(node);
}

static bool
weights_stay(const struct ggml_cgraph *cgraph)
{
    for (int i = 0; i < cgraph->n_nodes; i++) {
        if (writes_weights(cgraph->nodes[i]))
            return false;
    }
    return true;
}

/* Every node can run; *MOST is the most that any of them needs. */
static enum ggml_status
check_graph(
    const struct gb_cuda_hold *hold, const struct gb_cuda_limits *limits,
    const struct ggml_cgraph *cgraph, struct gb_cuda_needs *most)
{
    *most = (struct gb_cuda_needs){ 0, 0, 0 };
    for (int i = 0; i < cgraph->n_nodes; i++) {
        const struct ggml_tensor *node = cgraph->nodes[i];
        const struct gb_cuda_op *op = gb_cuda_op_of(node->op);
        enum ggml_status status;
        struct gb_cuda_needs needs;

        if (ggml_is_empty(node) ||
            (op == NULL && gb_cuda_supports(limits, node)))
            continue;
        status = check_node(hold, limits, node);
        if (status != GGML_STATUS_SUCCESS)
            return status;
        if (gb_cuda_split_is_product(node))
            continue;
        needs = gb_cuda_needs_of(limits, node);
        most->columns = larger(most->columns, needs.columns);
        most->block_mask = larger(most->block_mask, needs.block_mask);
        most->scratch = larger(most->scratch, needs.scratch);
    }
    return GGML_STATUS_SUCCESS;
}

/* ---- scratch ---- */

void
gb_cuda_scratch_clear(
    struct gb_cuda_scratch *scratch, struct gb_cuda_card *card)
{
    if (scratch->size > 0)
        gb_cuda_memory_free(card, scratch->address, scratch->size, false);
    *scratch = (struct gb_cuda_scratch){ .size = 0 };
}

/* The old block goes first: both at once may be more than there is. */
enum ggml_status
gb_cuda_scratch_grow(
    struct gb_cuda_scratch *scratch, struct gb_cuda_card *card,
    struct gb_cuda_queue *queue, size_t size)
{
    enum ggml_status status;

    if (size <= scratch->size)
        return GGML_STATUS_SUCCESS;
    if (scratch->size > 0) {
        status = gb_cuda_queue_wait(card, queue);
        if (status != GGML_STATUS_SUCCESS)
            return status;
        gb_cuda_scratch_clear(scratch, card);
    }
    status = gb_cuda_memory_new(card, size, false, &scratch->address);
    if (status == GGML_STATUS_SUCCESS)
        scratch->size = size;
    return status;
}

/* ---- launches ---- */

/* Is there one kernel for GROUP?  Each of its nodes was checked. */
static bool
accepts_group(void *data, const struct gb_fuse_group *group)
{
    const struct gb_cuda_limits *limits = data;

    for (int i = 0; i < group->n_nodes; i++) {
        if (gb_cuda_split_is_product(group->nodes[i]))
            return false;
    }
    return gb_cuda_fused_of(group->pattern)->supports(limits, group);
}

/* Without memory for the search each node has launches of its own. */
static void
find_groups(struct gb_cuda_plan *plan, const struct gb_cuda_card *card,
            struct gb_cuda_limits *limits, const struct ggml_cgraph *cgraph)
{
    plan->fuse.n_groups = 0;
    if (card->fuses)
        gb_fuse_find(&plan->fuse, cgraph, accepts_group, limits);
}

static void
emit_graph(
    struct gb_cuda_emission *emission, const struct ggml_cgraph *cgraph)
{
    struct gb_cuda_plan *plan = emission->plan;

    for (int i = 0; i < cgraph->n_nodes; i++) {
        const size_t first = plan->n_launches;

        gb_cuda_emission_at(emission, cgraph, i);
        plan->units[i] = (struct gb_cuda_unit){
            .first = (unsigned)first, .n = (unsigned)(plan->n_launches - first)
        };
    }
}

static enum ggml_status
make_units(struct gb_cuda_plan *plan, const struct gb_cuda_card *card, int n)
{
    void *units = plan->units;
    const bool has_room = gb_cuda_plan_grow(
        &units, &plan->room_units, (size_t)n, sizeof(*plan->units));

    plan->units = units;
    if (has_room)
        return GGML_STATUS_SUCCESS;
    return ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                            "%s: no memory for a plan of %d nodes",
                            card->label, n);
}

/* What groups need at once that their nodes need one after the other. */
static void
add_needs_of_groups(const struct gb_fuse *fuse,
                    const struct gb_cuda_limits *limits,
                    struct gb_cuda_needs *most)
{
    for (int i = 0; i < fuse->n_groups; i++) {
        const struct gb_fuse_group *group = &fuse->groups[i];
        const struct gb_cuda_fused *row = gb_cuda_fused_of(group->pattern);

        if (row->scratch != NULL)
            most->scratch = larger(most->scratch, row->scratch(limits, group));
    }
}

/* One walk with the variant of now; *IS_LOWERED: it is another one now. */
static enum ggml_status
make_once(
    struct gb_cuda_plan *plan, const struct gb_cuda_hold *hold,
    struct gb_cuda_scratch *scratch, struct gb_cuda_queue *queue,
    const struct ggml_cgraph *cgraph, bool *is_lowered)
{
    struct gb_cuda_limits limits = gb_cuda_card_limits(hold->card);
    struct gb_cuda_emission emission;
    enum ggml_status status;

    limits.blas_workspace = gb_cuda_blas_workspace(hold->card);
    limits.weights_stay = weights_stay(cgraph);
    status = check_graph(hold, &limits, cgraph, &plan->needs);
    if (status != GGML_STATUS_SUCCESS)
        return status;
    find_groups(plan, hold->card, &limits, cgraph);
    add_needs_of_groups(&plan->fuse, &limits, &plan->needs);
    status = gb_cuda_scratch_grow(scratch, hold->card, queue,
                                  gb_cuda_needs_size(&plan->needs));
    if (status == GGML_STATUS_SUCCESS)
        status = make_units(plan, hold->card, cgraph->n_nodes);
    if (status != GGML_STATUS_SUCCESS)
        return status;
    emission = gb_cuda_emission_new(plan, hold->card, &limits, &plan->needs,
                                    scratch->address);
    emit_graph(&emission, cgraph);
    *is_lowered = emission.is_lowered;
    return emission.status;
}

static enum ggml_status
make(struct gb_cuda_plan *plan, const struct gb_cuda_hold *hold,
     struct gb_cuda_scratch *scratch, struct gb_cuda_queue *queue,
     const struct ggml_cgraph *cgraph)
{
    for (int turn = 0; turn <= GB_CUDA_WGMMA + 1; turn++) {
        bool is_lowered = false;
        const enum ggml_status status =
            make_once(plan, hold, scratch, queue, cgraph, &is_lowered);

        if (status != GGML_STATUS_SUCCESS || !is_lowered)
            return status;
    }
    return ggmlbackend_fail(GGML_STATUS_FAILED,
                            "%s: kernels of every variant are missing",
                            hold->card->label);
}

enum ggml_status
gb_cuda_plan_make(
    struct gb_cuda_plan *plan, const struct gb_cuda_hold *hold,
    struct gb_cuda_scratch *scratch, struct gb_cuda_queue *queue,
    const struct ggml_cgraph *cgraph)
{
    enum ggml_status status;

    if (gb_cuda_plan_change(plan, hold, scratch->address, cgraph))
        return GGML_STATUS_SUCCESS;
    gb_fuse_seen_clear(&plan->seen);
    status = check_list(hold, cgraph);
    if (status == GGML_STATUS_SUCCESS)
        status = make(plan, hold, scratch, queue, cgraph);
    /* Steps have copies of tensors. */
    if (status == GGML_STATUS_SUCCESS && plan->n_steps == 0)
        gb_fuse_seen_take(&plan->seen, cgraph);
    return status;
}

enum ggml_status
gb_cuda_plan_node(
    struct gb_cuda_plan *plan, const struct gb_cuda_hold *hold,
    gb_cuda_address scratch, const struct ggml_tensor *node)
{
    const struct gb_cuda_limits limits = gb_cuda_card_limits(hold->card);
    const struct gb_cuda_needs needs = gb_cuda_needs_of(&limits, node);
    struct gb_cuda_emission emission =
        gb_cuda_emission_new(plan, hold->card, &limits, &needs, scratch);

    gb_cuda_op_of(node->op)->emit(&emission.emit, node);
    if (emission.is_lowered)
        return ggmlbackend_fail(GGML_STATUS_FAILED,
                                "%s: a kernel of %s is missing",
                                hold->card->label, ggml_op_name(node->op));
    return emission.status;
}
