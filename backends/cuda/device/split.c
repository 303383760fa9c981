/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/split.c - products of weights whose rows lie on several cards.
 *
 * The activations are copied to every card that has rows; each multiplies its
 * rows, and the results are copied back and written to their places.  All of it
 * is queued: streams wait for each other's events, and the host for nothing.
 *
 * On the backend's card lie, behind each other: activations and indices without
 * gaps, the results of all parts, scratch.  On each other card: activations and
 * indices, its result, scratch.
 */
#include "backends/cuda/device/split.h"

#include "backends/cuda/device/between.h"
#include "backends/cuda/device/buffer.h"
#include "backends/cuda/device/check.h"
#include "backends/cuda/device/graph.h"
#include "backends/cuda/ops/op.h"

#include <string.h>

enum { N_COPIED = 2 }; /* sources that every card needs: activations, indices */

/* Where things lie on a card, and as what. */
struct layout {
    struct ggml_tensor sources[GB_CUDA_STEP_SOURCES];
    struct ggml_tensor product; /* of one part's rows */
    size_t result, scratch, end; /* offsets */
};

static size_t
aligned(size_t size)
{
    return (size + 255) / 256 * 256;
}

/* The same values without gaps, at DATA. */
static struct ggml_tensor
dense(const struct ggml_tensor *like, gb_cuda_address data)
{
    struct ggml_tensor t = *like;

    t.nb[0] = ggml_type_size(t.type);
    t.nb[1] = ggml_row_size(t.type, t.ne[0]);
    t.nb[2] = t.nb[1] * (size_t)t.ne[1];
    t.nb[3] = t.nb[2] * (size_t)t.ne[2];
    t.data = (void *)(uintptr_t)data;
    t.view_src = NULL;
    t.buffer = NULL;
    memset(t.src, 0, sizeof(t.src));
    return t;
}

static bool
has_source(const struct gb_cuda_step *step, int i)
{
    return i < step->n_sources;
}

/* The product of PART's rows with everything at BASE; RESULT_ROWS lie there. */
static void
lay_out(struct layout *layout, const struct gb_cuda_step *step,
        const struct gb_cuda_split_part *part, gb_cuda_address base)
{
    size_t at = 0;

    memcpy(layout->sources, step->sources, sizeof(layout->sources));
    for (int i = 1; has_source(step, i); i++) {
        layout->sources[i] = dense(&step->sources[i], base + at);
        at += aligned(ggml_nbytes(&layout->sources[i]));
    }
    layout->sources[0].ne[1] = part->n;
    layout->sources[0] = dense(&layout->sources[0], part->address);
    layout->product = step->node;
    layout->product.ne[0] = part->n;
    layout->result = at;
    layout->product = dense(&layout->product, base + at);
    layout->product.op = step->node.op;
    for (int i = 0; has_source(step, i); i++)
        layout->product.src[i] = &layout->sources[i];
    layout->scratch = at + aligned(ggml_nbytes(&layout->product));
    layout->end = layout->scratch;
}

static size_t
scratch_of(struct gb_cuda_card *card, const struct ggml_tensor *node)
{
    const struct gb_cuda_limits limits = gb_cuda_card_limits(card);
    const struct gb_cuda_needs needs = gb_cuda_needs_of(&limits, node);

    return gb_cuda_needs_size(&needs);
}

/* The same on the backend's card, where all results lie behind each other. */
static void
lay_out_main(struct layout *layout, const struct gb_cuda_step *step,
             const struct gb_cuda_split_part *part, gb_cuda_address base)
{
    const size_t rest = (size_t)(step->node.ne[1] * step->node.ne[2] *
                                 step->node.ne[3]) * sizeof(float);

    lay_out(layout, step, part, base);
    layout->product.data = (char *)(uintptr_t)base + layout->result +
                           (size_t)part->first * rest;
    layout->scratch =
        layout->result + aligned((size_t)step->node.ne[0] * rest);
}

/* ---- getting ready ---- */

static enum ggml_status
make_worker(struct gb_cuda_worker *worker, struct gb_cuda_device *device)
{
    enum ggml_status status;

    if (worker->hold.card != NULL)
        return GGML_STATUS_SUCCESS;
    status = gb_cuda_hold(device->card, true, &worker->hold);
    if (status != GGML_STATUS_SUCCESS)
        return status;
    status = GGML_STATUS_FAILED;
    if (gb_cuda_enter(&worker->hold)) {
        status = gb_cuda_queue_init(device->card, &worker->queue);
        gb_cuda_leave(&worker->hold);
    }
    if (status != GGML_STATUS_SUCCESS) {
        gb_cuda_release(&worker->hold);
        return status;
    }
    worker->live.hold = &worker->hold;
    worker->live.queue = &worker->queue;
    gb_cuda_live_add(&worker->live);
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
grow_worker(struct gb_cuda_worker *worker, size_t size)
{
    enum ggml_status status;

    if (!gb_cuda_enter(&worker->hold))
        return GGML_STATUS_FAILED;
    status = gb_cuda_scratch_grow(&worker->memory, worker->hold.card,
                                  &worker->queue, size);
    gb_cuda_leave(&worker->hold);
    return status;
}

static bool
is_main(const struct gb_cuda_hold *hold, const struct gb_cuda_split_part *part)
{
    return part->hold.card == hold->card;
}

/* *SIZE grows to what the step's part needs on the backend's card. */
static enum ggml_status
prepare_part(
    struct gb_cuda_split *split, const struct gb_cuda_hold *hold,
    const struct gb_cuda_step *step, const struct gb_cuda_split_part *part,
    size_t *size)
{
    struct gb_cuda_worker *worker = &split->workers[part->device->index];
    struct layout layout;
    enum ggml_status status;
    size_t end;

    lay_out_main(&layout, step, part, 0);
    end = layout.scratch + scratch_of(hold->card, &layout.product);
    *size = end > *size ? end : *size;
    if (is_main(hold, part))
        return GGML_STATUS_SUCCESS;
    lay_out(&layout, step, part, 0);
    status = make_worker(worker, part->device);
    if (status != GGML_STATUS_SUCCESS)
        return status;
    return grow_worker(worker, layout.scratch + scratch_of(part->hold.card,
                                                           &layout.product));
}

enum ggml_status
gb_cuda_split_prepare(
    struct gb_cuda_split *split, const struct gb_cuda_hold *hold,
    struct gb_cuda_queue *queue, const struct gb_cuda_plan *plan)
{
    size_t size = 0;

    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct gb_cuda_step *step = &plan->steps[i];

        if (step->weights == NULL)
            continue;
        for (int p = 0; p < step->weights->n_parts; p++) {
            const enum ggml_status status = prepare_part(
                split, hold, step, &step->weights->parts[p], &size);

            if (status != GGML_STATUS_SUCCESS)
                return status;
        }
    }
    return gb_cuda_scratch_grow(&split->memory, hold->card, queue, size);
}

/* ---- one step ---- */

/* What a step works with. */
struct run {
    struct gb_cuda_split *split;
    const struct gb_cuda_hold *hold;
    struct gb_cuda_queue *queue;
    const struct gb_cuda_step *step;
};

static enum ggml_status
launch_node(struct gb_cuda_split *split, const struct gb_cuda_hold *hold,
            struct gb_cuda_queue *queue, gb_cuda_address scratch,
            const struct ggml_tensor *node)
{
    const enum ggml_status status =
        gb_cuda_plan_node(&split->plan, hold, scratch, node);

    if (status != GGML_STATUS_SUCCESS)
        return status;
    return gb_cuda_launch_all(hold->card, queue->stream, &split->plan, 0,
                              split->plan.n_launches);
}

/* On the backend's card: FROM's values to where TO lies. */
static enum ggml_status
move(const struct run *run, const struct ggml_tensor *from,
     struct ggml_tensor *to)
{
    struct ggml_tensor source = *from;

    to->op = GGML_OP_CONT;
    memset(to->src, 0, sizeof(to->src));
    to->src[0] = &source;
    return launch_node(run->split, run->hold, run->queue, 0, to);
}

static enum ggml_status
close_gaps(const struct run *run, struct layout *layout)
{
    for (int i = 1; has_source(run->step, i); i++) {
        struct ggml_tensor to = layout->sources[i];
        const enum ggml_status status =
            move(run, &run->step->sources[i], &to);

        if (status != GGML_STATUS_SUCCESS)
            return status;
    }
    return GGML_STATUS_SUCCESS;
}

static struct gb_cuda_stage_end
end_at(const struct gb_cuda_hold *hold, struct gb_cuda_queue *queue,
       const struct ggml_tensor *tensor)
{
    return (struct gb_cuda_stage_end){ hold, queue,
                                       gb_cuda_address_of(tensor) };
}

/*
 * Sources there, the product, and its result back, all in the worker's stream.
 */
static enum ggml_status
run_worker(const struct run *run, const struct gb_cuda_split_part *part)
{
    struct gb_cuda_worker *worker =
        &run->split->workers[part->device->index];
    struct layout here, there;
    struct gb_cuda_stage_end from, to;
    enum ggml_status status;

    lay_out_main(&here, run->step, part, run->split->memory.address);
    lay_out(&there, run->step, part, worker->memory.address);
    for (int i = 1; has_source(run->step, i); i++) {
        from = end_at(run->hold, run->queue, &here.sources[i]);
        to = end_at(&worker->hold, &worker->queue, &there.sources[i]);
        if (!gb_cuda_copy_between(&worker->in, &from, &to,
                                  ggml_nbytes(&here.sources[i])))
            return GGML_STATUS_FAILED;
    }
    if (!gb_cuda_enter(&worker->hold))
        return GGML_STATUS_FAILED;
    status = launch_node(run->split, &worker->hold, &worker->queue,
                         worker->memory.address + there.scratch,
                         &there.product);
    gb_cuda_leave(&worker->hold);
    if (status != GGML_STATUS_SUCCESS)
        return status;
    from = end_at(&worker->hold, &worker->queue, &there.product);
    to = end_at(run->hold, run->queue, &here.product);
    return gb_cuda_copy_between(&worker->out, &from, &to,
                                ggml_nbytes(&here.product))
               ? GGML_STATUS_SUCCESS : GGML_STATUS_FAILED;
}

static enum ggml_status
run_main(const struct run *run, const struct gb_cuda_split_part *part)
{
    const gb_cuda_address memory = run->split->memory.address;
    struct layout layout;

    lay_out_main(&layout, run->step, part, memory);
    return launch_node(run->split, run->hold, run->queue,
                       memory + layout.scratch, &layout.product);
}

/* The part's rows of the result to their places. */
static enum ggml_status
gather(const struct run *run, const struct gb_cuda_split_part *part)
{
    struct ggml_tensor to = run->step->node;
    struct layout layout;

    lay_out_main(&layout, run->step, part, run->split->memory.address);
    to.data = (char *)to.data + (size_t)part->first * to.nb[0];
    to.ne[0] = part->n;
    return move(run, &layout.product, &to);
}

typedef enum ggml_status (*part_fn)(
    const struct run *run, const struct gb_cuda_split_part *part);

static enum ggml_status
for_parts(const struct run *run, bool on_main, bool on_others, part_fn act)
{
    const struct gb_cuda_split_tensor *weights = run->step->weights;

    for (int i = 0; i < weights->n_parts; i++) {
        const bool is_wanted =
            is_main(run->hold, &weights->parts[i]) ? on_main : on_others;
        enum ggml_status status;

        if (!is_wanted)
            continue;
        status = act(run, &weights->parts[i]);
        if (status != GGML_STATUS_SUCCESS)
            return status;
    }
    return GGML_STATUS_SUCCESS;
}

/* The other cards begin before this one does. */
enum ggml_status
gb_cuda_split_run(
    struct gb_cuda_split *split, const struct gb_cuda_hold *hold,
    struct gb_cuda_queue *queue, const struct gb_cuda_step *step)
{
    const struct run run = { split, hold, queue, step };
    struct layout layout;
    enum ggml_status status;

    lay_out_main(&layout, step, &step->weights->parts[0],
                 split->memory.address);
    status = close_gaps(&run, &layout);
    if (status == GGML_STATUS_SUCCESS)
        status = for_parts(&run, false, true, run_worker);
    if (status == GGML_STATUS_SUCCESS)
        status = for_parts(&run, true, false, run_main);
    if (status == GGML_STATUS_SUCCESS)
        status = for_parts(&run, true, true, gather);
    return status;
}

static void
clear_worker(struct gb_cuda_worker *worker)
{
    gb_cuda_live_remove(&worker->live);
    struct gb_cuda_card *card = worker->hold.card;

    if (gb_cuda_enter_cleanup(&worker->hold)) {
        gb_cuda_queue_drain(card, &worker->queue);
        gb_cuda_scratch_clear(&worker->memory, card);
        gb_cuda_stage_clear(&worker->in, card);
        gb_cuda_queue_clear(card, &worker->queue);
        gb_cuda_leave(&worker->hold);
    }
    gb_cuda_release(&worker->hold);
}

void
gb_cuda_split_clear(struct gb_cuda_split *split, struct gb_cuda_card *card)
{
    for (int i = 0; i < GB_CUDA_MAX_DEVICES; i++)
        gb_cuda_stage_clear(&split->workers[i].out, card);
    gb_cuda_scratch_clear(&split->memory, card);
}

void
gb_cuda_split_release(struct gb_cuda_split *split)
{
    for (int i = 0; i < GB_CUDA_MAX_DEVICES; i++)
        clear_worker(&split->workers[i]);
    gb_cuda_plan_clear(&split->plan);
    memset(split, 0, sizeof(*split));
}
