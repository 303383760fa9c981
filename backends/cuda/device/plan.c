/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/plan.c - a graph as a list of launches.
 *
 * The nodes are walked twice: first everything that can be wrong is asked and
 * the scratch is made as large as the node needs that needs most, then each
 * node's row emits its launches.  When the first of them runs, no kernel has to
 * be loaded and no memory be found any more.
 *
 * A kernel that turns out to be missing lowers the card's variant; the walk
 * begins again then, and the rows choose other kernels.
 */
#include "backends/cuda/device/plan.h"

#include "backends/cuda/device/blas.h"
#include "backends/cuda/device/buffer.h"
#include "backends/cuda/device/check.h"
#include "backends/cuda/device/kernel.h"
#include "backends/cuda/device/split-buffer.h"
#include "backends/cuda/device/stream.h"
#include "backends/cuda/ops/op.h"

#include <stdlib.h>
#include <string.h>

enum { ARGS_ALIGNMENT = 16 };

/* What emit's function has to know. */
struct emission {
    struct gb_cuda_emit emit;
    struct gb_cuda_plan *plan;
    struct gb_cuda_card *card;
    enum ggml_status status;
    bool is_lowered; /* a kernel is missing: begin again */
};

/* ---- arrays ---- */

/* Room for N items of SIZE bytes each; they may move. */
static bool
grow(void **items, size_t *room, size_t n, size_t size)
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

static bool
grow_plan(struct gb_cuda_plan *plan, size_t args_size)
{
    void *launches = plan->launches, *args = plan->args;
    const bool is_grown =
        grow(&launches, &plan->room_launches, plan->n_launches + 1,
             sizeof(*plan->launches)) &&
        grow(&args, &plan->room_args, plan->n_args + args_size, 1);

    plan->launches = launches;
    plan->args = args;
    return is_grown;
}

void
gb_cuda_plan_clear(struct gb_cuda_plan *plan)
{
    free(plan->launches);
    free(plan->args);
    free(plan->steps);
    memset(plan, 0, sizeof(*plan));
}

/* ---- what can be wrong ---- */

static bool
needs_work(const struct ggml_tensor *node)
{
    return gb_cuda_op_of(node->op) != NULL && !ggml_is_empty(node);
}

static enum ggml_status
check_place(
    const struct gb_cuda_hold *hold, const struct ggml_tensor *tensor,
    const struct ggml_tensor *node)
{
    if (gb_cuda_lies_on(hold, tensor))
        return GGML_STATUS_SUCCESS;
    return ggmlbackend_fail(GGML_STATUS_FAILED,
                            "%s: tensor %s of %s does not lie on the card",
                            hold->card->label, tensor->name,
                            ggml_op_desc(node));
}

static enum ggml_status
check_node(
    const struct gb_cuda_hold *hold, const struct gb_cuda_limits *limits,
    const struct ggml_tensor *node)
{
    const int first = gb_cuda_split_is_product(node) ? 1 : 0;
    enum ggml_status status = check_place(hold, node, node);

    if (!gb_cuda_supports(limits, node))
        return ggmlbackend_fail(GGML_STATUS_FAILED,
                                "%s: %s (%s) cannot run in this form",
                                hold->card->label, ggml_op_desc(node),
                                node->name);
    if (first == 1 && !gb_cuda_split_is_whole(gb_cuda_split_of(node->src[0])))
        return ggmlbackend_fail(GGML_STATUS_FAILED,
                                "%s: rows of %s went with a card that failed",
                                hold->card->label, node->src[0]->name);
    for (int i = first; i < GGML_MAX_SRC && status == GGML_STATUS_SUCCESS;
         i++) {
        if (node->src[i] != NULL && !ggml_is_empty(node->src[i]))
            status = check_place(hold, node->src[i], node);
    }
    return status;
}

/* Every node can run; *SCRATCH is the most that one of them needs. */
static enum ggml_status
check_graph(
    const struct gb_cuda_hold *hold, const struct gb_cuda_limits *limits,
    const struct ggml_cgraph *cgraph, size_t *scratch)
{
    *scratch = 0;
    for (int i = 0; i < cgraph->n_nodes; i++) {
        const struct ggml_tensor *node = cgraph->nodes[i];
        const struct gb_cuda_op *op = gb_cuda_op_of(node->op);
        enum ggml_status status;
        size_t size;

        if (ggml_is_empty(node) ||
            (op == NULL && gb_cuda_supports(limits, node)))
            continue;
        status = check_node(hold, limits, node);
        if (status != GGML_STATUS_SUCCESS)
            return status;
        size = op->scratch != NULL && !gb_cuda_split_is_product(node)
                   ? op->scratch(limits, node) : 0;
        if (size > *scratch)
            *scratch = size;
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

static enum ggml_status
add_launch(struct emission *emission, const struct gb_cuda_launch *launch,
           const void *args)
{
    struct gb_cuda_plan *plan = emission->plan;
    const size_t size = (launch->args_size + ARGS_ALIGNMENT - 1) /
                        ARGS_ALIGNMENT * ARGS_ALIGNMENT;

    if (!grow_plan(plan, size))
        return ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                                "%s: no memory for a plan of %zu launches",
                                emission->card->label, plan->n_launches + 1);
    plan->launches[plan->n_launches] = *launch;
    plan->launches[plan->n_launches++].args = (unsigned)plan->n_args;
    memset(plan->args + plan->n_args, 0, size);
    memcpy(plan->args + plan->n_args, args, launch->args_size);
    plan->n_args += size;
    return GGML_STATUS_SUCCESS;
}

static void
emission_add(
    struct gb_cuda_emit *emit, enum gb_cuda_kernel kernel, unsigned n_blocks,
    size_t shared, const void *args, size_t size)
{
    struct emission *emission = (struct emission *)emit;
    struct gb_cuda_launch launch = {
        .kernel = kernel,
        .n_blocks = n_blocks,
        .shared = (unsigned)shared,
        .args_size = (unsigned)size,
    };

    if (emission->status != GGML_STATUS_SUCCESS || emission->is_lowered ||
        n_blocks == 0)
        return;
    emission->status =
        gb_cuda_kernel_find(emission->card, kernel, &launch.function);
    if (emission->status != GGML_STATUS_SUCCESS)
        return;
    if (launch.function == NULL)
        emission->is_lowered = true;
    else
        emission->status = add_launch(emission, &launch, args);
}

/* Of a card whose variant has TMA, the driver knows maps (card.c). */
static void
emission_map(
    struct gb_cuda_emit *emit, const struct gb_cuda_mapped *mapped,
    struct gb_cuda_tensor_map *out)
{
    struct emission *emission = (struct emission *)emit;
    const uint64_t dim[] = { mapped->n, mapped->rows };
    const uint32_t box[] = { GB_CUDA_MAPPED_COLUMNS, mapped->box_rows };
    const uint32_t step[] = { 1, 1 };

    if (emission->status != GGML_STATUS_SUCCESS || emission->is_lowered)
        return;
    emission->status =
        GB_CUDA(emission->card, tensor_map,
                (out, GB_CUDA_MAP_UINT16, 2, mapped->data, dim,
                 &mapped->stride, box, step, GB_CUDA_MAP_NO_INTERLEAVE,
                 GB_CUDA_MAP_SWIZZLE_128, GB_CUDA_MAP_L2_128,
                 GB_CUDA_MAP_ZEROS_OUTSIDE));
}

/* One more step, all zero, behind the launches so far; NULL: no memory. */
static struct gb_cuda_step *
add_step(struct emission *emission)
{
    struct gb_cuda_plan *plan = emission->plan;
    void *steps = plan->steps;

    if (!grow(&steps, &plan->room_steps, plan->n_steps + 1,
              sizeof(*plan->steps))) {
        emission->status = ggmlbackend_fail(
            GGML_STATUS_ALLOC_FAILED, "%s: no memory for a plan of %zu steps",
            emission->card->label, plan->n_steps + 1);
        return NULL;
    }
    plan->steps = steps;
    plan->steps[plan->n_steps] = (struct gb_cuda_step){
        .before = plan->n_launches,
    };
    return &plan->steps[plan->n_steps++];
}

static bool
emission_gemm(struct gb_cuda_emit *emit, const struct gb_cuda_gemm *gemm)
{
    struct emission *emission = (struct emission *)emit;
    struct gb_cuda_step *step;

    if (emission->status != GGML_STATUS_SUCCESS || emission->is_lowered ||
        !gb_cuda_blas_may_do(emission->card, gemm))
        return false;
    step = add_step(emission);
    if (step != NULL)
        step->gemm = *gemm;
    return step != NULL;
}

/* The step has copies: the graph may go before the plan does. */
static void
add_split(struct emission *emission, const struct ggml_tensor *node)
{
    struct gb_cuda_step *step = add_step(emission);

    if (step == NULL)
        return;
    step->node = *node;
    step->weights = gb_cuda_split_of(node->src[0]);
    while (step->n_sources < GB_CUDA_STEP_SOURCES &&
           node->src[step->n_sources] != NULL) {
        step->sources[step->n_sources] = *node->src[step->n_sources];
        step->n_sources++;
    }
}

static void
emit_node(struct emission *emission, const struct ggml_tensor *node)
{
    if (gb_cuda_split_is_product(node))
        add_split(emission, node);
    else
        gb_cuda_op_of(node->op)->emit(&emission->emit, node);
}

static void
emit_graph(struct emission *emission, const struct ggml_cgraph *cgraph)
{
    emission->plan->n_launches = 0;
    emission->plan->n_args = 0;
    emission->plan->n_steps = 0;
    for (int i = 0; i < cgraph->n_nodes; i++) {
        const struct ggml_tensor *node = cgraph->nodes[i];

        if (needs_work(node))
            emit_node(emission, node);
    }
}

/* One walk with the variant of now. */
static enum ggml_status
make_once(
    struct emission *emission, const struct gb_cuda_hold *hold,
    struct gb_cuda_scratch *scratch, struct gb_cuda_queue *queue,
    const struct ggml_cgraph *cgraph)
{
    struct gb_cuda_limits limits = gb_cuda_card_limits(hold->card);
    enum ggml_status status;
    size_t size;

    limits.blas_workspace = gb_cuda_blas_workspace(hold->card);
    status = check_graph(hold, &limits, cgraph, &size);
    if (status == GGML_STATUS_SUCCESS)
        status = gb_cuda_scratch_grow(scratch, hold->card, queue, size);
    if (status != GGML_STATUS_SUCCESS)
        return status;
    emission->is_lowered = false;
    emission->status = GGML_STATUS_SUCCESS;
    emission->emit.limits = &limits;
    emission->emit.scratch = (char *)(uintptr_t)scratch->address;
    emit_graph(emission, cgraph);
    return emission->status;
}

enum ggml_status
gb_cuda_plan_make(
    struct gb_cuda_plan *plan, const struct gb_cuda_hold *hold,
    struct gb_cuda_scratch *scratch, struct gb_cuda_queue *queue,
    const struct ggml_cgraph *cgraph)
{
    struct emission emission = {
        .emit.add = emission_add,
        .emit.map = emission_map,
        .emit.gemm = emission_gemm,
        .plan = plan,
        .card = hold->card,
    };
    enum ggml_status status;

    for (int turn = 0; turn <= GB_CUDA_WGMMA + 1; turn++) {
        status = make_once(&emission, hold, scratch, queue, cgraph);
        if (status != GGML_STATUS_SUCCESS || !emission.is_lowered)
            return status;
    }
    return ggmlbackend_fail(GGML_STATUS_FAILED,
                            "%s: kernels of every variant are missing",
                            hold->card->label);
}

enum ggml_status
gb_cuda_plan_node(
    struct gb_cuda_plan *plan, const struct gb_cuda_hold *hold,
    gb_cuda_address scratch, const struct ggml_tensor *node)
{
    const struct gb_cuda_limits limits = gb_cuda_card_limits(hold->card);
    struct emission emission = {
        .emit = { .limits = &limits,
                  .scratch = (char *)(uintptr_t)scratch,
                  .add = emission_add,
                  .map = emission_map },
        .plan = plan,
        .card = hold->card,
    };

    plan->n_launches = plan->n_args = plan->n_steps = 0;
    gb_cuda_op_of(node->op)->emit(&emission.emit, node);
    if (emission.is_lowered)
        return ggmlbackend_fail(GGML_STATUS_FAILED,
                                "%s: a kernel of %s is missing",
                                hold->card->label, ggml_op_name(node->op));
    return emission.status;
}
