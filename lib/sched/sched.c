/* SPDX-License-Identifier: MIT */
/*
 * sched/sched.c - the scheduler as clients see it.
 *
 * It has no graph, or one that is split, or one that has its places too and can
 * be computed.  What the client chose for the next graph is kept beside it.
 */
#include "config.h"

#include "lib/sched/sched.h"

#include "lib/base/array.h"
#include "lib/base/env.h"
#include "lib/base/log.h"
#include "lib/base/status.h"
#include "lib/graph/graph.h"

/* ---- new and free ---- */

static enum ggml_status
no_memory(void)
{
    return gb_fail(GGML_STATUS_ALLOC_FAILED, "sched: no memory");
}

static enum ggml_status
check_backends(const ggml_backend_t *backends, int n_backends)
{
    ggml_backend_t last;

    GB_NEED_OR(GGML_STATUS_FAILED, backends != NULL && n_backends > 0,
               "sched: no backend");
    for (int i = 0; i < n_backends; i++)
        GB_NEED_OR(GGML_STATUS_FAILED,
                   backends[i] != NULL && backends[i]->device != NULL,
                   "sched: backend %d is NULL or has no device", i);
    last = backends[n_backends - 1];
    GB_NEED_OR(GGML_STATUS_FAILED,
               ggml_backend_dev_type(last->device) ==
                   GGML_BACKEND_DEVICE_TYPE_CPU,
               "sched: the last backend, %s, is not a CPU",
               ggml_backend_name(last));
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
enter_backends(
    struct ggml_backend_sched *s, const ggml_backend_t *backends,
    const ggml_backend_buffer_type_t *bufts)
{
    for (int i = 0; i < s->n_backends; i++) {
        struct gb_sched_backend *b = &s->backends[i];

        b->backend = backends[i];
        b->buft = bufts != NULL ? bufts[i] : NULL;
        if (b->buft == NULL)
            b->buft = ggml_backend_get_default_buffer_type(backends[i]);
        GB_NEED_OR(GGML_STATUS_FAILED,
                   b->buft != NULL &&
                       ggml_backend_supports_buft(backends[i], b->buft),
                   "sched: %s cannot use the memory %s that it is to work in",
                   ggml_backend_name(backends[i]),
                   b->buft != NULL ? ggml_backend_buft_name(b->buft) : "NULL");
        for (int k = 0; k < i; k++)
            b->has_twin = b->has_twin || s->backends[k].buft == b->buft;
    }
    for (int i = 0; i < s->n_backends; i++)
        for (int k = 0; k < s->n_backends; k++)
            s->can_use[i * s->n_backends + k] =
                ggml_backend_supports_buft(backends[i], s->backends[k].buft);
    for (int i = 0; i < s->n_backends; i++)
        for (int k = 0; k < s->n_backends; k++)
            s->backends[i].has_neighbours |= gb_sched_are_neighbours(s, i, k);
    return GGML_STATUS_SUCCESS;
}

/* One of the backend and its device knows nothing of events: none is made. */
static bool
has_events(ggml_backend_t backend)
{
    return backend->iface.event_record != NULL &&
           backend->iface.event_wait != NULL &&
           backend->device->iface.event_synchronize != NULL;
}

static enum ggml_status
make_events(struct ggml_backend_sched *s)
{
    s->events = gb_mem_zalloc((size_t)s->n_backends * (size_t)s->n_copies,
                              sizeof(*s->events));
    if (s->events == NULL)
        return no_memory();
    for (int i = 0; i < s->n_backends; i++)
        for (int k = 0; k < s->n_copies; k++)
            if (has_events(s->backends[i].backend))
                s->events[i * s->n_copies + k] =
                    ggml_backend_event_new(s->backends[i].backend->device);
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
make_allocator(struct ggml_backend_sched *s)
{
    const size_t n = (size_t)s->n_backends;
    ggml_backend_buffer_type_t *bufts = gb_mem_zalloc(n, sizeof(*bufts));

    if (bufts == NULL)
        return no_memory();
    for (size_t i = 0; i < n; i++)
        bufts[i] = s->backends[i].buft;
    s->galloc = ggml_gallocr_new_n(bufts, s->n_backends);
    gb_mem_free(bufts);
    return s->galloc != NULL ? GGML_STATUS_SUCCESS : GGML_STATUS_ALLOC_FAILED;
}

/* ggml_backend_sched_free undoes it, also when only a part was done. */
static enum ggml_status
init(
    struct ggml_backend_sched *s, const ggml_backend_t *backends,
    const ggml_backend_buffer_type_t *bufts, int n_backends, size_t graph_size,
    bool parallel)
{
    const size_t n = (size_t)n_backends;
    const int64_t most = INT64_C(1) << 16;

    s->n_backends = n_backends;
    s->n_copies = parallel ? GB_SCHED_COPIES : 1;
    s->n_last_nodes = -1;
    s->debug = gb_env_int(GB_ENV_SCHED_DEBUG);
    s->is_watched =
        s->debug > 0 || *gb_env_string(GB_ENV_SCHED_DOT) != '\0';
    s->backends = gb_mem_zalloc(n + 1, sizeof(*s->backends));
    s->can_use = gb_mem_zalloc(n * n, sizeof(*s->can_use));
    if (s->backends == NULL || s->can_use == NULL ||
        !gb_index_reset(&s->chosen, 1) ||
        !gb_index_reset(&s->index, graph_size < (size_t)most
                                       ? (int64_t)graph_size : most))
        return no_memory();
    GB_TRY(enter_backends(s, backends, bufts));
    if (parallel)
        GB_TRY(make_events(s));
    return make_allocator(s);
}

ggml_backend_sched_t
ggml_backend_sched_new(
    ggml_backend_t *backends, ggml_backend_buffer_type_t *bufts,
    int n_backends, size_t graph_size, bool parallel)
{
    struct ggml_backend_sched *s;

    if (check_backends(backends, n_backends) != GGML_STATUS_SUCCESS)
        return NULL;
    s = gb_mem_zalloc(1, sizeof(*s));
    if (s == NULL) {
        no_memory();
        return NULL;
    }
    if (init(s, backends, bufts, n_backends, graph_size, parallel) ==
        GGML_STATUS_SUCCESS)
        return s;
    ggml_backend_sched_free(s);
    return NULL;
}

static void
free_events(struct ggml_backend_sched *s)
{
    if (s->events == NULL)
        return;
    for (int i = 0; i < s->n_backends * s->n_copies; i++)
        ggml_backend_event_free(s->events[i]);
    gb_mem_free(s->events);
}

void
ggml_backend_sched_free(ggml_backend_sched_t s)
{
    if (s == NULL)
        return;
    GB_NEED_VOID(!s->is_busy, "sched: it is at work and cannot be freed");
    free_events(s);
    ggml_gallocr_free(s->galloc);
    gb_index_clear(&s->chosen);
    gb_index_clear(&s->index);
    gb_mem_free(s->chosen_backends);
    gb_mem_free(s->tensors);
    gb_mem_free(s->leafs);
    gb_mem_free(s->nodes);
    gb_mem_free(s->links);
    gb_mem_free(s->strays);
    gb_mem_free(s->splits);
    gb_mem_free(s->inputs);
    gb_mem_free(s->copies);
    gb_mem_free(s->rewrites);
    gb_mem_free(s->pool);
    gb_mem_free(s->placed_nodes);
    gb_mem_free(s->placed_leafs);
    gb_mem_free(s->node_slots);
    gb_mem_free(s->leaf_slots);
    gb_mem_free(s->last_node_slots);
    gb_mem_free(s->last_leaf_slots);
    gb_mem_free(s->can_use);
    gb_mem_free(s->backends);
    gb_mem_free(s);
}

/* ---- from graph to graph ---- */

/* The tables are empty: nothing of any graph is known. */
static void
forget_graph(struct ggml_backend_sched *s)
{
    s->is_allocated = false;
    s->is_split = false;
    s->given = NULL;
}

static void
reset(struct ggml_backend_sched *s)
{
    forget_graph(s);
    if (s->chosen.n_tensors > 0)
        gb_index_reset(&s->chosen, s->chosen.n_tensors);
}

void
ggml_backend_sched_reset(ggml_backend_sched_t s)
{
    GB_NEED_VOID(s != NULL, "sched reset: no scheduler");
    GB_NEED_VOID(!s->is_busy, "sched reset: it is at work");
    reset(s);
}

/*
 * Begin a call that takes or runs a graph.  The client's code runs inside: its
 * custom operations, its callbacks and its log sink.  They may call anything,
 * but have the scheduler only when it is at rest.
 */
static enum ggml_status
enter(struct ggml_backend_sched *s)
{
    GB_NEED_OR(GGML_STATUS_FAILED, s != NULL, "sched: no scheduler");
    GB_NEED_OR(GGML_STATUS_FAILED, !s->is_busy,
               "sched: it is at work, and can do nothing for its own graph's "
               "operations and callbacks");
    s->is_busy = true;
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
leave(struct ggml_backend_sched *s, enum ggml_status status)
{
    s->is_busy = false;
    return status;
}

static enum ggml_status
check_graph(const struct ggml_cgraph *graph)
{
    GB_NEED_OR(GGML_STATUS_FAILED, graph != NULL, "sched: no graph");
    return gb_graph_check_lists(graph);
}

/* Take GRAPH in; nothing of it is changed unless all goes well. */
static enum ggml_status
split_graph(
    struct ggml_backend_sched *s, struct ggml_cgraph *graph, bool is_plain)
{
    forget_graph(s);
    s->graph = *graph;
    s->copy = s->next_copy;
    s->is_plain = is_plain;
    if (!is_plain)
        GB_TRY(gb_sched_assign(s));
    GB_TRY(gb_sched_split(s));
    gb_sched_print(s);
    gb_sched_draw(s);
    GB_TRY(gb_sched_make_copies(s));
    s->is_split = true;
    return GGML_STATUS_SUCCESS;
}

/* What is done with a graph that was taken in; for plain ones, and others. */
struct purpose {
    enum ggml_status (*plain)(
        struct ggml_backend_sched *sched, bool *is_refused);
    enum ggml_status (*other)(struct ggml_backend_sched *sched);
};

static const struct purpose to_plan = { gb_sched_plan_plain, gb_sched_plan };
static const struct purpose to_place = { gb_sched_place_plain, gb_sched_place };

/* Take GRAPH in for a purpose; what fails leaves it as it was. */
static enum ggml_status
take_in(
    struct ggml_backend_sched *s, struct ggml_cgraph *graph,
    const struct purpose *purpose)
{
    enum ggml_status status;

    GB_TRY(check_graph(graph));
    if (gb_sched_may_be_plain(s)) {
        bool is_refused = false;

        GB_TRY(split_graph(s, graph, true));
        status = purpose->plain(s, &is_refused);
        if (!is_refused)
            return status;
    }
    GB_TRY(split_graph(s, graph, false));
    status = purpose->other(s);
    if (status != GGML_STATUS_SUCCESS)
        gb_sched_restore(s);
    return status;
}

static enum ggml_status
reserve(struct ggml_backend_sched *s, struct ggml_cgraph *measure_graph)
{
    const enum ggml_status status = take_in(s, measure_graph, &to_plan);

    if (status == GGML_STATUS_SUCCESS)
        gb_sched_restore(s);
    reset(s);
    return status;
}

bool
ggml_backend_sched_reserve(
    ggml_backend_sched_t s, struct ggml_cgraph *measure_graph)
{
    return enter(s) == GGML_STATUS_SUCCESS &&
           leave(s, reserve(s, measure_graph)) == GGML_STATUS_SUCCESS;
}

static enum ggml_status
alloc_graph(struct ggml_backend_sched *s, struct ggml_cgraph *graph)
{
    const enum ggml_status status = take_in(s, graph, &to_place);

    if (status != GGML_STATUS_SUCCESS) {
        forget_graph(s);
        return status;
    }
    s->is_allocated = true;
    s->given = graph;
    return GGML_STATUS_SUCCESS;
}

bool
ggml_backend_sched_alloc_graph(
    ggml_backend_sched_t s, struct ggml_cgraph *graph)
{
    return enter(s) == GGML_STATUS_SUCCESS &&
           leave(s, alloc_graph(s, graph)) == GGML_STATUS_SUCCESS;
}

static enum ggml_status
compute(struct ggml_backend_sched *s, struct ggml_cgraph *graph)
{
    if (!s->is_allocated)
        GB_TRY(alloc_graph(s, graph));
    else if (graph != s->given)
        gb_log(GGML_LOG_LEVEL_WARN,
               "sched: another graph is allocated, which is computed instead "
               "of the one given");
    /* The client may have edited its lists since. */
    GB_TRY(gb_graph_check_lists(&s->graph));
    return gb_sched_run(s);
}

enum ggml_status
ggml_backend_sched_graph_compute_async(
    ggml_backend_sched_t s, struct ggml_cgraph *graph)
{
    GB_TRY(enter(s));
    return leave(s, compute(s, graph));
}

enum ggml_status
ggml_backend_sched_graph_compute(
    ggml_backend_sched_t s, struct ggml_cgraph *graph)
{
    enum ggml_status status, waited;

    GB_TRY(enter(s));
    status = compute(s, graph);
    waited = gb_sched_wait_for_all(s);
    return leave(s, status != GGML_STATUS_SUCCESS ? status : waited);
}

void
ggml_backend_sched_synchronize(ggml_backend_sched_t s)
{
    GB_NEED_VOID(s != NULL, "sched synchronize: no scheduler");
    gb_sched_wait_for_all(s);
}

/* ---- choices and questions ---- */

void
ggml_backend_sched_set_eval_callback(
    ggml_backend_sched_t s, ggml_backend_sched_eval_callback callback,
    void *user_data)
{
    GB_NEED_VOID(s != NULL, "sched callback: no scheduler");
    s->callback = callback;
    s->callback_data = user_data;
}

/* The number of a backend, -1 for one that the scheduler does not have. */
static int32_t
backend_number(const struct ggml_backend_sched *s, ggml_backend_t backend)
{
    for (int32_t i = 0; i < s->n_backends; i++)
        if (s->backends[i].backend == backend)
            return i;
    return -1;
}

static enum ggml_status
choose(
    struct ggml_backend_sched *s, struct ggml_tensor *tensor, int32_t backend)
{
    int32_t number, *backends;

    backends = gb_array_room(s->chosen_backends, &s->max_chosen,
                             (size_t)s->chosen.n_tensors + 1,
                             sizeof(*backends));
    if (backends == NULL)
        return no_memory();
    s->chosen_backends = backends;
    number = gb_index_add(&s->chosen, tensor);
    if (number < 0)
        return no_memory();
    backends[number] = backend;
    return GGML_STATUS_SUCCESS;
}

/* What is known of the tensor in the graph at hand; NULL for nothing. */
static struct gb_sched_tensor *
find_tensor(struct ggml_backend_sched *s, const struct ggml_tensor *tensor)
{
    const int32_t number = s->is_split && !s->is_plain
                               ? gb_index_find(&s->index, tensor) : -1;

    return number >= 0 ? &s->tensors[number] : NULL;
}

void
ggml_backend_sched_set_tensor_backend(
    ggml_backend_sched_t s, struct ggml_tensor *node, ggml_backend_t backend)
{
    struct gb_sched_tensor *assigned;
    int32_t number;

    GB_NEED_VOID(s != NULL && node != NULL,
                 "sched assign: no scheduler or no tensor");
    GB_NEED_VOID(!s->is_busy, "sched assign: it is at work");
    number = backend_number(s, backend);
    GB_NEED_VOID(number >= 0, "sched assign: tensor %s: %s is not a backend of "
                 "this scheduler", node->name, ggml_backend_name(backend));
    if (choose(s, node, number) != GGML_STATUS_SUCCESS)
        return;
    assigned = find_tensor(s, node);
    if (assigned != NULL)
        assigned->backend = number;
}

ggml_backend_t
ggml_backend_sched_get_tensor_backend(
    ggml_backend_sched_t s, struct ggml_tensor *node)
{
    const struct gb_sched_tensor *assigned;
    int32_t number;

    GB_NEED_OR(NULL, s != NULL && node != NULL,
               "sched backend: no scheduler or no tensor");
    if (s->is_split && s->is_plain)
        return gb_sched_backend(s, 0);
    assigned = find_tensor(s, node);
    if (assigned != NULL)
        return gb_sched_backend(s, assigned->backend);
    number = gb_index_find(&s->chosen, node);
    return number >= 0 ? gb_sched_backend(s, s->chosen_backends[number]) : NULL;
}

int
ggml_backend_sched_get_n_splits(ggml_backend_sched_t s)
{
    GB_NEED_OR(0, s != NULL, "sched splits: no scheduler");
    return (int)s->n_splits;
}

int
ggml_backend_sched_get_n_copies(ggml_backend_sched_t s)
{
    GB_NEED_OR(0, s != NULL, "sched copies: no scheduler");
    return s->n_copies;
}

int
ggml_backend_sched_get_n_backends(ggml_backend_sched_t s)
{
    GB_NEED_OR(0, s != NULL, "sched backends: no scheduler");
    return s->n_backends;
}

ggml_backend_t
ggml_backend_sched_get_backend(ggml_backend_sched_t s, int i)
{
    GB_NEED_OR(NULL, s != NULL, "sched backend: no scheduler");
    GB_NEED_OR(NULL, i >= 0 && i < s->n_backends, "sched backend: %d of %d", i,
               s->n_backends);
    return s->backends[i].backend;
}

size_t
ggml_backend_sched_get_buffer_size(
    ggml_backend_sched_t s, ggml_backend_t backend)
{
    int32_t number;

    GB_NEED_OR(0, s != NULL, "sched buffer size: no scheduler");
    number = backend_number(s, backend);
    GB_NEED_OR(0, number >= 0, "sched buffer size: %s is not a backend of this "
               "scheduler", ggml_backend_name(backend));
    return ggml_gallocr_get_buffer_size(s->galloc, number);
}
