/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/emission.c - what rows of the operation table emit becomes
 * launches of a plan.
 *
 * A kernel that is needed first is loaded here.  One that turns out to be
 * missing lowers the card's variant, and rows choose other kernels then.
 */
#include "backends/cuda/device/emission.h"

#include "backends/cuda/device/blas.h"
#include "backends/cuda/device/check.h"
#include "backends/cuda/device/kernel.h"
#include "backends/cuda/device/split-buffer.h"
#include "backends/cuda/ops/fused.h"
#include "backends/cuda/ops/matmul.h"

#include "lib/fuse/memory.h"

#include <stdlib.h>
#include <string.h>

enum { ARGS_ALIGNMENT = 16 };

/* ---- launches ---- */

static bool
grow_plan(struct gb_cuda_plan *plan, size_t args_size)
{
    void *launches = plan->launches, *args = plan->args;
    const bool is_grown =
        gb_cuda_plan_grow(&launches, &plan->room_launches,
                          plan->n_launches + 1, sizeof(*plan->launches)) &&
        gb_cuda_plan_grow(&args, &plan->room_args, plan->n_args + args_size,
                          1);

    plan->launches = launches;
    plan->args = args;
    return is_grown;
}

static enum ggml_status
add_launch(struct gb_cuda_emission *emission,
           const struct gb_cuda_launch *launch, const void *args)
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
    struct gb_cuda_emission *emission = (struct gb_cuda_emission *)emit;
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

/* The same launch with other arguments, or on more blocks? */
static bool
fits(const struct gb_cuda_emission *emission,
     const struct gb_cuda_launch *launch)
{
    const struct gb_cuda_launch *old =
        &emission->plan->launches[emission->next];

    return emission->next < emission->end && old->kernel == launch->kernel &&
           old->args_size == launch->args_size;
}

/* In place of add, for launches that the plan has. */
static void
emission_change(
    struct gb_cuda_emit *emit, enum gb_cuda_kernel kernel, unsigned n_blocks,
    size_t shared, const void *args, size_t size)
{
    struct gb_cuda_emission *emission = (struct gb_cuda_emission *)emit;
    const struct gb_cuda_launch launch = {
        .kernel = kernel, .args_size = (unsigned)size
    };
    struct gb_cuda_launch *old = &emission->plan->launches[emission->next];

    if (n_blocks == 0 || emission->is_other)
        return;
    /* Which attentions share a block mask depends on what lies between them. */
    if (kernel == GB_CUDA_KERNEL_gb_attention_block_mask ||
        !fits(emission, &launch) ||
        !gb_cuda_plan_note_change(emission->plan, emission->next)) {
        emission->is_other = true;
        return;
    }
    old->n_blocks = n_blocks;
    old->shared = (unsigned)shared;
    memcpy(emission->plan->args + old->args, args, size);
    emission->next++;
}

/* Of a card whose variant has TMA, the driver knows maps (card.c). */
static void
emission_map(
    struct gb_cuda_emit *emit, const struct gb_cuda_mapped *mapped,
    struct gb_cuda_tensor_map *out)
{
    struct gb_cuda_emission *emission = (struct gb_cuda_emission *)emit;
    const uint64_t dim[] = { mapped->n, mapped->rows, mapped->more[0].n,
                             mapped->more[1].n };
    const uint64_t stride[] = { mapped->stride, mapped->more[0].stride,
                                mapped->more[1].stride };
    const uint32_t box[] = { GB_CUDA_MAPPED_COLUMNS, mapped->box_rows,
                             mapped->more[0].box, mapped->more[1].box };
    const uint32_t step[] = { 1, 1, 1, 1 };
    const uint32_t rank = mapped->more[0].n > 0 ? 4 : 2;

    if (emission->status != GGML_STATUS_SUCCESS || emission->is_lowered)
        return;
    emission->status =
        GB_CUDA(emission->card, tensor_map,
                (out, GB_CUDA_MAP_UINT16, rank, mapped->data, dim, stride, box,
                 step, GB_CUDA_MAP_NO_INTERLEAVE, GB_CUDA_MAP_SWIZZLE_128,
                 GB_CUDA_MAP_L2_128, GB_CUDA_MAP_ZEROS_OUTSIDE));
}

/* One more step, all zero, behind the launches so far; NULL: no memory. */
static struct gb_cuda_step *
add_step(struct gb_cuda_emission *emission)
{
    struct gb_cuda_plan *plan = emission->plan;
    void *steps = plan->steps;

    if (!gb_cuda_plan_grow(&steps, &plan->room_steps, plan->n_steps + 1,
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
    struct gb_cuda_emission *emission = (struct gb_cuda_emission *)emit;
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
add_split(struct gb_cuda_emission *emission, const struct ggml_tensor *node)
{
    struct gb_cuda_step *step = add_step(emission);

    emission->emit.sorted.ids = NULL;
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

/* Packed columns, what is sorted, and block masks are of no use any more when
 * what they were made of is written to. */
static void
note_write(struct gb_cuda_emission *emission, const struct ggml_tensor *node)
{
    const struct gb_fuse_use use = gb_fuse_use_of(node);
    struct gb_cuda_kept *kept = &emission->emit.kept;
    struct gb_cuda_sorted *sorted = &emission->emit.sorted;

    if (kept->b != NULL && gb_fuse_writes(&use, gb_fuse_span_of(kept->b)))
        kept->b = NULL;
    if (sorted->ids != NULL &&
        gb_fuse_writes(&use, gb_fuse_span_of(sorted->ids)))
        sorted->ids = NULL;
    for (int i = 0; i < GB_CUDA_BLOCK_MASKS; i++) {
        struct gb_cuda_kept_mask *kept_mask = &emission->emit.masks[i];

        if (kept_mask->mask != NULL &&
            gb_fuse_writes(&use, gb_fuse_span_of(kept_mask->mask)))
            kept_mask->mask = NULL;
    }
}

/* Products by expert leave what is sorted in scratch; others that have scratch do
 * not. */
static void
note_scratch(
    struct gb_cuda_emission *emission, const struct ggml_tensor *node)
{
    struct gb_cuda_emit *emit = &emission->emit;

    if (emit->sorted.ids != NULL && node->op != GGML_OP_MUL_MAT_ID &&
        gb_cuda_needs_of(emit->limits, node).scratch > 0)
        emit->sorted.ids = NULL;
}

static void
emit_node(
    struct gb_cuda_emission *emission, const struct ggml_tensor *node)
{
    note_write(emission, node);
    note_scratch(emission, node);
    if (gb_cuda_split_is_product(node))
        add_split(emission, node);
    else
        gb_cuda_op_of(node->op)->emit(&emission->emit, node);
}

static void
emit_group(
    struct gb_cuda_emission *emission, const struct gb_fuse_group *group)
{
    for (int i = 0; i < group->n_nodes; i++) {
        if (gb_fuse_is_written(group, i))
            note_write(emission, group->nodes[i]);
        note_scratch(emission, group->nodes[i]);
    }
    gb_cuda_fused_of(group->pattern)->emit(&emission->emit, group);
}

/* ---- nodes of a graph ---- */

bool
gb_cuda_needs_work(const struct ggml_tensor *node)
{
    return gb_cuda_op_of(node->op) != NULL && !ggml_is_empty(node);
}

/* How many nodes behind another the product is looked for that reads it. */
enum { NEAR = 8 };

/* What the next product behind node I packs, and as what; nothing where that is
 * not known here. */
static struct gb_cuda_kept
next_packed(const struct gb_cuda_emission *emission,
            const struct ggml_cgraph *cgraph, int i)
{
    static const struct gb_cuda_kept nothing;
    const struct gb_fuse *fuse = &emission->plan->fuse;

    for (int j = i + 1; j <= i + NEAR && j < cgraph->n_nodes; j++) {
        const struct ggml_tensor *node = cgraph->nodes[j];
        const struct gb_fuse_group *group = gb_fuse_group_of(fuse, j);

        if (group != NULL && gb_fuse_is_place(group, j))
            node = group->nodes[0];
        else if (group != NULL)
            continue;
        if (node->op == GGML_OP_MUL_MAT_ID || gb_cuda_split_is_product(node))
            return nothing;
        if (node->op == GGML_OP_MUL_MAT && !ggml_is_empty(node))
            return (struct gb_cuda_kept){
                .b = node->src[1],
                .packing =
                    (int)gb_cuda_packing_of(emission->emit.limits, node),
            };
    }
    return nothing;
}

/* Is there a kernel for GROUP, or for NODE by itself, that may do it besides? */
static bool
packs_what_it_makes(const struct gb_cuda_card *card,
                    const struct gb_fuse_group *group,
                    const struct ggml_tensor *node)
{
    return card->fuses && (group != NULL || node->op == GGML_OP_FLASH_ATTN_EXT);
}

void
gb_cuda_emission_at(struct gb_cuda_emission *emission,
                    const struct ggml_cgraph *cgraph, int i)
{
    const struct ggml_tensor *node = cgraph->nodes[i];
    const struct gb_fuse_group *group =
        gb_fuse_group_of(&emission->plan->fuse, i);

    if (group == NULL ? !gb_cuda_needs_work(node) : !gb_fuse_is_place(group, i))
        return;
    emission->emit.next.b = NULL;
    if (packs_what_it_makes(emission->card, group, node))
        emission->emit.next = next_packed(emission, cgraph, i);
    if (group == NULL)
        emit_node(emission, node);
    else
        emit_group(emission, group);
}

/* ---- emissions ---- */

static struct gb_cuda_emission
new_emission(struct gb_cuda_plan *plan, struct gb_cuda_card *card,
             const struct gb_cuda_limits *limits,
             const struct gb_cuda_needs *needs, gb_cuda_address memory)
{
    struct gb_cuda_emission emission = {
        .emit = { .limits = limits,
                  .add = emission_add,
                  .map = emission_map,
                  .gemm = emission_gemm },
        .plan = plan,
        .card = card,
    };

    gb_cuda_emit_place(&emission.emit, needs, (char *)(uintptr_t)memory);
    return emission;
}

struct gb_cuda_emission
gb_cuda_emission_new(
    struct gb_cuda_plan *plan, struct gb_cuda_card *card,
    const struct gb_cuda_limits *limits, const struct gb_cuda_needs *needs,
    gb_cuda_address memory)
{
    plan->n_launches = plan->n_args = plan->n_steps = plan->n_changed = 0;
    plan->number++;
    return new_emission(plan, card, limits, needs, memory);
}

struct gb_cuda_emission
gb_cuda_emission_change(
    struct gb_cuda_plan *plan, struct gb_cuda_card *card,
    const struct gb_cuda_limits *limits, const struct gb_cuda_needs *needs,
    gb_cuda_address memory)
{
    struct gb_cuda_emission emission =
        new_emission(plan, card, limits, needs, memory);

    emission.emit.add = emission_change;
    return emission;
}
