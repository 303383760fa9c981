/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/graph.c - run a plan: launch after launch, or as a driver's graph
 * that was recorded from one of the same shape.
 *
 * Two plans have the same shape when they launch the same kernels in the same
 * order.  The second one is recorded: a graph of the driver's is built node by
 * node from the list, which no other thread's calls can disturb, as they would
 * a capture of the stream.  From the third on only those launches are changed
 * that differ in arguments or size: a few addresses and counts a token.  Those
 * are compared with, but where the plan itself says what changed.
 *
 * On cards from 9.0 on all kernels but the first may begin before the one in
 * front has ended (programmatic dependent launch): its blocks are dealt out, and
 * a GEMV's first weights asked for, while the last blocks of that one run.
 */
#include "backends/cuda/device/graph.h"

#include "backends/cuda/device/check.h"
#include "backends/cuda/device/kernel.h"
#include "backends/cuda/driver/platform.h"

#include <stdlib.h>
#include <string.h>

enum {
    BATCH = 64,       /* launches between two looks at the abort callback */
    MIN_LAUNCHES = 2, /* of a plan that is worth a recording */
};

bool
gb_cuda_is_aborted(const struct gb_cuda_abort *abort)
{
    return abort->callback != NULL && abort->callback(abort->data);
}

/* ---- launch after launch ---- */

/* The kernel may begin before the one in front of it in the stream has ended. */
static enum ggml_status
launch_early(
    struct gb_cuda_card *card, gb_cuda_stream stream,
    const struct gb_cuda_launch *launch, void **params)
{
    const struct gb_cuda_launch_attribute attribute = {
        .number = GB_CUDA_ATTRIBUTE_MAY_BEGIN_EARLY,
        .value.is_on = 1,
    };
    const struct gb_cuda_launch_config config = {
        .grid = { launch->n_blocks, 1, 1 },
        .block = { gb_cuda_kernel_threads(launch->kernel), 1, 1 },
        .shared = launch->shared,
        .stream = stream,
        .attributes = &attribute,
        .n_attributes = 1,
    };

    return GB_CUDA(card, launch_config,
                   (&config, launch->function, params, NULL));
}

static enum ggml_status
launch_one(
    struct gb_cuda_card *card, gb_cuda_stream stream,
    const struct gb_cuda_plan *plan, const struct gb_cuda_launch *launch,
    bool may_begin_early)
{
    void *params[] = { plan->args + launch->args };

    if (may_begin_early)
        return launch_early(card, stream, launch, params);
    return GB_CUDA(card, launch,
                   (launch->function, launch->n_blocks, 1, 1,
                    gb_cuda_kernel_threads(launch->kernel), 1, 1,
                    launch->shared, stream, params, NULL));
}

enum ggml_status
gb_cuda_launch_all(
    struct gb_cuda_card *card, gb_cuda_stream stream,
    const struct gb_cuda_plan *plan, size_t first, size_t n)
{
    for (size_t i = first; i < first + n; i++) {
        const enum ggml_status status =
            launch_one(card, stream, plan, &plan->launches[i],
                       card->overlaps && i > first);

        if (status != GGML_STATUS_SUCCESS)
            return status;
    }
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
launch_all(
    struct gb_cuda_card *card, gb_cuda_stream stream,
    const struct gb_cuda_plan *plan, const struct gb_cuda_abort *abort)
{
    for (size_t i = 0; i < plan->n_launches; i += BATCH) {
        const size_t left = plan->n_launches - i;
        enum ggml_status status;

        if (gb_cuda_is_aborted(abort))
            return GGML_STATUS_ABORTED;
        status = gb_cuda_launch_all(card, stream, plan, i,
                                    left < BATCH ? left : BATCH);
        if (status != GGML_STATUS_SUCCESS)
            return status;
    }
    return GGML_STATUS_SUCCESS;
}

/* ---- recordings ---- */

static bool
can_record(const struct gb_cuda_driver *driver)
{
    return driver->graph_create != NULL && driver->graph_destroy != NULL &&
           driver->graph_add_kernel != NULL &&
           driver->graph_instantiate != NULL &&
           driver->graph_exec_destroy != NULL &&
           driver->graph_exec_kernel != NULL && driver->graph_launch != NULL;
}

static bool
has_same_shape(const struct gb_cuda_plan *a, const struct gb_cuda_plan *b)
{
    if (a->n_launches != b->n_launches)
        return false;
    for (size_t i = 0; i < a->n_launches; i++) {
        if (a->launches[i].kernel != b->launches[i].kernel)
            return false;
    }
    return true;
}

static void
destroy_graph(struct gb_cuda_recording *recording, struct gb_cuda_card *card)
{
    if (recording->exec != NULL)
        GB_CUDA_CLEANUP(card, graph_exec_destroy, (recording->exec));
    if (recording->graph != NULL)
        GB_CUDA_CLEANUP(card, graph_destroy, (recording->graph));
    free(recording->nodes);
    recording->exec = NULL;
    recording->graph = NULL;
    recording->nodes = NULL;
    recording->n_changes = 0;
}

static void
forget(struct gb_cuda_recording *recording)
{
    free(recording->nodes);
    gb_cuda_plan_clear(&recording->plan);
    memset(recording, 0, sizeof(*recording));
}

static bool
copy_plan(struct gb_cuda_plan *to, const struct gb_cuda_plan *from)
{
    const size_t size = from->n_launches * sizeof(*from->launches);

    gb_cuda_plan_clear(to);
    to->launches = malloc(size);
    to->args = malloc(from->n_args);
    if (to->launches == NULL || to->args == NULL) {
        gb_cuda_plan_clear(to);
        return false;
    }
    memcpy(to->launches, from->launches, size);
    memcpy(to->args, from->args, from->n_args);
    to->n_launches = to->room_launches = from->n_launches;
    to->n_args = to->room_args = from->n_args;
    return true;
}

/* The recording of a plan of that shape; NULL: there is none. */
static struct gb_cuda_recording *
find(struct gb_cuda_recordings *recordings, const struct gb_cuda_plan *plan)
{
    for (int i = 0; i < GB_CUDA_MAX_RECORDINGS; i++) {
        if (recordings->items[i].number == plan->number)
            return &recordings->items[i];
    }
    for (int i = 0; i < GB_CUDA_MAX_RECORDINGS; i++) {
        if (has_same_shape(&recordings->items[i].plan, plan))
            return &recordings->items[i];
    }
    return NULL;
}

/* Remember the shape in the place that was not used for longest. */
static void
remember(
    struct gb_cuda_recordings *recordings, struct gb_cuda_card *card,
    struct gb_cuda_plan *plan)
{
    struct gb_cuda_recording *oldest = &recordings->items[0];

    for (int i = 1; i < GB_CUDA_MAX_RECORDINGS; i++) {
        if (recordings->items[i].last_use < oldest->last_use)
            oldest = &recordings->items[i];
    }
    destroy_graph(oldest, card);
    forget(oldest);
    if (copy_plan(&oldest->plan, plan)) {
        oldest->last_use = ++recordings->n_uses;
        oldest->number = plan->number;
        plan->n_changed = 0;
    }
}

/* ---- the driver's graph ---- */

/* PARAMS has to live as long as the struct. */
static struct gb_cuda_kernel_node
node_of(const struct gb_cuda_launch *launch, void **params)
{
    return (struct gb_cuda_kernel_node){
        .function = launch->function,
        .grid = { launch->n_blocks, 1, 1 },
        .block = { gb_cuda_kernel_threads(launch->kernel), 1, 1 },
        .shared = launch->shared,
        .params = params,
    };
}

/* The launches; with EDGES one runs after the other, as they do in a stream. */
static int
add_nodes(
    struct gb_cuda_recording *recording, const struct gb_cuda_driver *driver,
    bool edges)
{
    const struct gb_cuda_plan *plan = &recording->plan;

    for (size_t i = 0; i < plan->n_launches; i++) {
        const struct gb_cuda_launch *launch = &plan->launches[i];
        void *params[] = { plan->args + launch->args };
        const struct gb_cuda_kernel_node node = node_of(launch, params);
        const bool is_behind = edges && i > 0;
        const int result = driver->graph_add_kernel(
            &recording->nodes[i], recording->graph,
            is_behind ? &recording->nodes[i - 1] : NULL, is_behind, &node);

        if (result != GB_CUDA_SUCCESS)
            return result;
    }
    return GB_CUDA_SUCCESS;
}

/* The same, where each may begin before the one in front has ended. */
static int
add_early_edges(
    struct gb_cuda_recording *recording, const struct gb_cuda_driver *driver)
{
    const size_t n = recording->plan.n_launches - 1;
    struct gb_cuda_edge *edges = calloc(n, sizeof(*edges));
    int result;

    if (edges == NULL)
        return GB_CUDA_OUT_OF_MEMORY;
    for (size_t i = 0; i < n; i++) {
        edges[i].from_port = GB_CUDA_PORT_LETS_NEXT_BEGIN;
        edges[i].type = GB_CUDA_EDGE_PROGRAMMATIC;
    }
    result = driver->graph_add_edges(recording->graph, recording->nodes,
                                     recording->nodes + 1, edges, n);
    free(edges);
    return result;
}

static int
build(struct gb_cuda_recording *recording, const struct gb_cuda_card *card)
{
    const struct gb_cuda_driver *driver = card->driver;
    int result;

    recording->nodes =
        calloc(recording->plan.n_launches, sizeof(*recording->nodes));
    if (recording->nodes == NULL)
        return GB_CUDA_OUT_OF_MEMORY;
    result = driver->graph_create(&recording->graph, 0);
    if (result != GB_CUDA_SUCCESS)
        return result;
    result = add_nodes(recording, driver, !card->overlaps);
    if (result == GB_CUDA_SUCCESS && card->overlaps)
        result = add_early_edges(recording, driver);
    if (result != GB_CUDA_SUCCESS)
        return result;
    return driver->graph_instantiate(&recording->exec, recording->graph, 0);
}

static bool
is_same_launch(
    const struct gb_cuda_plan *a, const struct gb_cuda_plan *b, size_t i)
{
    const struct gb_cuda_launch *x = &a->launches[i], *y = &b->launches[i];

    return x->n_blocks == y->n_blocks && x->shared == y->shared &&
           x->function == y->function &&
           memcmp(gb_cuda_plan_args(a, x), gb_cuda_plan_args(b, y),
                  x->args_size) == 0;
}

/* Runs that were begun before keep what they had. */
static int
change_node(
    struct gb_cuda_recording *recording, const struct gb_cuda_driver *driver,
    const struct gb_cuda_plan *plan, size_t i)
{
    struct gb_cuda_launch *own = &recording->plan.launches[i];
    const struct gb_cuda_launch *other = &plan->launches[i];
    void *params[] = { recording->plan.args + own->args };
    struct gb_cuda_kernel_node node;

    own->function = other->function;
    own->n_blocks = other->n_blocks;
    own->shared = other->shared;
    memcpy(recording->plan.args + own->args, gb_cuda_plan_args(plan, other),
           own->args_size);
    if (recording->exec == NULL)
        return GB_CUDA_SUCCESS;
    node = node_of(own, params);
    recording->n_changes++;
    return driver->graph_exec_kernel(recording->exec, recording->nodes[i],
                                     &node);
}

/* Let the recording do what PLAN does. */
static int
update(
    struct gb_cuda_recording *recording, const struct gb_cuda_driver *driver,
    struct gb_cuda_plan *plan)
{
    const bool is_known = recording->number == plan->number;
    const size_t n = is_known ? plan->n_changed : plan->n_launches;

    for (size_t k = 0; k < n; k++) {
        const size_t i = is_known ? plan->changed[k] : k;
        int result;

        if (is_same_launch(&recording->plan, plan, i))
            continue;
        result = change_node(recording, driver, plan, i);
        if (result != GB_CUDA_SUCCESS)
            return result;
    }
    recording->number = plan->number;
    plan->n_changed = 0;
    return GB_CUDA_SUCCESS;
}

/* Changes that the driver keeps memory for add up; what runs ends as it is. */
static bool
is_worn(const struct gb_cuda_recording *recording)
{
    return recording->exec != NULL && gb_cuda_platform.most_changes > 0 &&
           recording->n_changes >= gb_cuda_platform.most_changes;
}

/* The recording as a graph that can be launched; else the driver's result. */
static int
prepare(
    struct gb_cuda_recording *recording, struct gb_cuda_card *card,
    struct gb_cuda_plan *plan)
{
    const int result = update(recording, card->driver, plan);

    if (is_worn(recording))
        destroy_graph(recording, card);
    if (result != GB_CUDA_SUCCESS || recording->exec != NULL)
        return result;
    return build(recording, card);
}

/* Whatever it was, launches of their own find out whether it stays. */
static void
turn_off(
    struct gb_cuda_recordings *recordings, struct gb_cuda_card *card,
    int result)
{
    GGML_LOG_WARN("%s: graphs cannot be recorded, and are launched kernel by "
                  "kernel: %s\n", card->label, gb_cuda_error(result));
    gb_cuda_recordings_clear(recordings, card);
    recordings->is_off = true;
}

static bool
is_recording_wanted(
    const struct gb_cuda_recordings *recordings,
    const struct gb_cuda_card *card, const struct gb_cuda_plan *plan)
{
    return !recordings->is_off && plan->n_launches >= MIN_LAUNCHES &&
           card->records_graphs && can_record(card->driver);
}

enum ggml_status
gb_cuda_run(
    struct gb_cuda_recordings *recordings, struct gb_cuda_card *card,
    gb_cuda_stream stream, struct gb_cuda_plan *plan,
    const struct gb_cuda_abort *abort)
{
    struct gb_cuda_recording *recording;
    int result;

    if (!is_recording_wanted(recordings, card, plan)) {
        plan->n_changed = 0;
        return launch_all(card, stream, plan, abort);
    }
    recording = find(recordings, plan);
    if (recording == NULL) {
        remember(recordings, card, plan);
        return launch_all(card, stream, plan, abort);
    }
    recording->last_use = ++recordings->n_uses;
    result = prepare(recording, card, plan);
    if (result != GB_CUDA_SUCCESS) {
        turn_off(recordings, card, result);
        return launch_all(card, stream, plan, abort);
    }
    if (gb_cuda_is_aborted(abort))
        return GGML_STATUS_ABORTED;
    return GB_CUDA(card, graph_launch, (recording->exec, stream));
}

void
gb_cuda_recordings_forget(struct gb_cuda_recordings *recordings)
{
    for (int i = 0; i < GB_CUDA_MAX_RECORDINGS; i++)
        forget(&recordings->items[i]);
}

void
gb_cuda_recordings_clear(
    struct gb_cuda_recordings *recordings, struct gb_cuda_card *card)
{
    for (int i = 0; i < GB_CUDA_MAX_RECORDINGS; i++)
        destroy_graph(&recordings->items[i], card);
    gb_cuda_recordings_forget(recordings);
}
