/* SPDX-License-Identifier: MIT */
/*
 * tests/graph/edited.c - graphs whose lists a client has edited, given to every
 * public function that takes a graph: NULL among nodes or leafs, no list, and
 * counts that are none.  Where a result is wanted it is a failure with one
 * reason; showing, copying and clearing work on what is there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml-impl.h"

#include "lib/graph/check.h"

#include <limits.h>

#define N_NODES 5

struct scene {
    struct ggml_context *ctx;
    struct ggml_cgraph *graph;
    ggml_backend_t backend[2];
};

static int n_errors;

static void
count_errors(enum ggml_log_level level, const char *text, void *data)
{
    (void)text;
    (void)data;
    n_errors += level == GGML_LOG_LEVEL_ERROR;
}

/* ---- what may be done with a graph; true: done, false: a failure ---- */

typedef bool (*call_fn)(struct scene *scene);

static bool
compute(struct scene *s)
{
    return ggml_backend_graph_compute(s->backend[0], s->graph) ==
           GGML_STATUS_SUCCESS;
}

static bool
compute_async(struct scene *s)
{
    return ggml_backend_graph_compute_async(s->backend[0], s->graph) ==
           GGML_STATUS_SUCCESS;
}

static bool
plan_create(struct scene *s)
{
    ggml_backend_graph_plan_t plan =
        ggml_backend_graph_plan_create(s->backend[0], s->graph);

    if (plan != NULL)
        ggml_backend_graph_plan_free(s->backend[0], plan);
    return plan != NULL;
}

static bool
compute_on_cpu(struct scene *s)
{
    struct ggml_cplan plan = { .n_threads = 1 };

    return ggml_graph_compute(s->graph, &plan) == GGML_STATUS_SUCCESS;
}

static bool
compute_with_ctx(struct scene *s)
{
    return ggml_graph_compute_with_ctx(s->ctx, s->graph, 1) ==
           GGML_STATUS_SUCCESS;
}

static bool
allocate(struct scene *s)
{
    ggml_gallocr_t alloc =
        ggml_gallocr_new(ggml_backend_cpu_buffer_type());
    const bool is_done = ggml_gallocr_alloc_graph(alloc, s->graph);

    ggml_gallocr_free(alloc);
    return is_done;
}

static bool
reserve(struct scene *s)
{
    ggml_gallocr_t alloc =
        ggml_gallocr_new(ggml_backend_cpu_buffer_type());
    const bool is_done = ggml_gallocr_reserve(alloc, s->graph);

    ggml_gallocr_free(alloc);
    return is_done;
}

static bool
reserve_n(struct scene *s)
{
    const int slots[64] = { 0 };
    ggml_gallocr_t alloc =
        ggml_gallocr_new(ggml_backend_cpu_buffer_type());
    const bool is_done =
        ggml_gallocr_reserve_n(alloc, s->graph, slots, slots);

    ggml_gallocr_free(alloc);
    return is_done;
}

typedef bool (*sched_fn)(ggml_backend_sched_t sched, struct ggml_cgraph *graph);

static bool
schedule(struct scene *s, int n_backends, sched_fn call)
{
    ggml_backend_sched_t sched =
        ggml_backend_sched_new(s->backend, NULL, n_backends, 64, false);
    const bool is_done = call(sched, s->graph);

    ggml_backend_sched_free(sched);
    return is_done;
}

static bool
sched_compute(ggml_backend_sched_t sched, struct ggml_cgraph *graph)
{
    return ggml_backend_sched_graph_compute(sched, graph) ==
           GGML_STATUS_SUCCESS;
}

static bool
sched_compute_async(ggml_backend_sched_t sched, struct ggml_cgraph *graph)
{
    return ggml_backend_sched_graph_compute_async(sched, graph) ==
           GGML_STATUS_SUCCESS;
}

static bool
sched_reserve_1(struct scene *s)
{
    return schedule(s, 1, ggml_backend_sched_reserve);
}

static bool
sched_reserve_2(struct scene *s)
{
    return schedule(s, 2, ggml_backend_sched_reserve);
}

static bool
sched_alloc_1(struct scene *s)
{
    return schedule(s, 1, ggml_backend_sched_alloc_graph);
}

static bool
sched_alloc_2(struct scene *s)
{
    return schedule(s, 2, ggml_backend_sched_alloc_graph);
}

static bool
sched_compute_1(struct scene *s)
{
    return schedule(s, 1, sched_compute);
}

static bool
sched_compute_2(struct scene *s)
{
    return schedule(s, 2, sched_compute_async);
}

static bool
copy_to_backend(struct scene *s)
{
    struct ggml_backend_graph_copy copy =
        ggml_backend_graph_copy(s->backend[1], s->graph);

    if (copy.graph != NULL)
        ggml_backend_graph_copy_free(copy);
    return copy.graph != NULL;
}

static bool
look(int i, struct ggml_tensor *a, struct ggml_tensor *b, void *data)
{
    (void)data;
    return i >= 0 && a != NULL && b != NULL;
}

static bool
compare(struct scene *s)
{
    return ggml_backend_compare_graph_backend(s->backend[0], s->backend[1],
                                              s->graph, look, NULL);
}

static bool
check_graph(struct scene *s)
{
    return gb_graph_check(s->graph) == GGML_STATUS_SUCCESS;
}

/* ---- calls that give nothing ---- */

static bool
print(struct scene *s)
{
    ggml_graph_print(s->graph);
    return true;
}

static bool
draw(struct scene *s)
{
    ggml_graph_dump_dot(s->graph, s->graph, "/dev/null");
    return true;
}

static bool
reset(struct scene *s)
{
    ggml_graph_reset(s->graph);
    return true;
}

static bool
duplicate(struct scene *s)
{
    return ggml_graph_dup(s->ctx, s->graph) != NULL;
}

static bool
find(struct scene *s)
{
    return ggml_graph_get_tensor(s->graph, "none") == NULL;
}

static bool
gradient(struct scene *s)
{
    ggml_graph_get_grad(s->graph, s->graph->nodes[0]);
    ggml_graph_get_grad_acc(s->graph, NULL);
    return true;
}

static bool
slice(struct scene *s)
{
    struct ggml_cgraph part = ggml_graph_view(s->graph, 0, N_NODES);

    ggml_backend_graph_compute(s->backend[0], &part);
    return true;
}

static bool
ask_for_plan(struct scene *s)
{
    ggml_graph_plan(s->graph, 2, NULL);
    return true;
}

/* They come last: the graph is another one afterwards. */
static bool
expand(struct scene *s)
{
    ggml_build_forward_expand(s->graph,
                              ggml_new_tensor_1d(s->ctx, GGML_TYPE_F32, 3));
    return true;
}

static bool
expand_backward(struct scene *s)
{
    ggml_build_backward_expand(s->ctx, s->ctx, s->graph, false);
    return true;
}

static const struct {
    const char *name;
    call_fn call;
    bool must_fail; /* the CPU alone looks at no leaf */
    bool takes_counts; /* does it look at the counts, or only at the lists? */
} calls[] = {
    { "graph_compute", compute, true, true },
    { "graph_compute_async", compute_async, true, true },
    { "graph_plan_create", plan_create, true, true },
    { "graph_compute of the CPU", compute_on_cpu, false, true },
    { "graph_compute_with_ctx", compute_with_ctx, false, true },
    { "gallocr_alloc_graph", allocate, true, true },
    { "gallocr_reserve", reserve, true, true },
    { "gallocr_reserve_n", reserve_n, true, true },
    { "sched_reserve, one backend", sched_reserve_1, true, true },
    { "sched_reserve", sched_reserve_2, true, true },
    { "sched_alloc_graph, one backend", sched_alloc_1, true, true },
    { "sched_alloc_graph", sched_alloc_2, true, true },
    { "sched_graph_compute", sched_compute_1, true, true },
    { "sched_graph_compute_async", sched_compute_2, true, true },
    { "graph_copy", copy_to_backend, true, true },
    { "compare_graph_backend", compare, true, true },
    { "gb_graph_check", check_graph, true, true },
    { "graph_plan", ask_for_plan, false, true },
    { "graph_print", print, false, false },
    { "graph_dump_dot", draw, false, false },
    { "graph_reset", reset, false, false },
    { "graph_dup", duplicate, false, false },
    { "graph_get_tensor", find, false, false },
    { "graph_get_grad", gradient, false, false },
    { "graph_view", slice, false, false },
    { "build_forward_expand", expand, false, false },
    { "build_backward_expand", expand_backward, false, false },
};

#define N_CALLS (sizeof(calls) / sizeof(calls[0]))

/* ---- scenes ---- */

static void
open_scene(struct scene *s)
{
    struct ggml_tensor *x, *y;

    s->ctx = ggml_init((struct ggml_init_params){ (size_t)1 << 20, NULL,
                                                  false });
    assert_non_null(s->ctx);
    x = y = ggml_new_tensor_1d(s->ctx, GGML_TYPE_F32, 8);
    ggml_set_f32(x, 1.0f);
    for (int i = 0; i < N_NODES; i++)
        y = ggml_sqr(s->ctx, y);
    s->graph = ggml_new_graph_custom(s->ctx, 16, true);
    ggml_build_forward_expand(s->graph, y);
    assert_int_equal(s->graph->n_nodes, N_NODES);
    for (int i = 0; i < 2; i++)
        s->backend[i] = ggml_backend_cpu_init();
}

static void
close_scene(struct scene *s)
{
    for (int i = 0; i < 2; i++)
        ggml_backend_free(s->backend[i]);
    ggml_free(s->ctx);
}

/* Number WAY; false behind the last. */
typedef bool (*edit_fn)(struct ggml_cgraph *graph, int way);

static bool
edit_list(struct ggml_cgraph *graph, int way)
{
    if (way < N_NODES)
        graph->nodes[way] = NULL;
    else if (way == N_NODES)
        graph->leafs[0] = NULL;
    else
        for (int i = 0; i < N_NODES; i++)
            graph->nodes[i] = NULL;
    return way <= N_NODES;
}

static bool
edit_counts(struct ggml_cgraph *graph, int way)
{
    static const int counts[] = { -1, INT_MIN, 17, INT_MAX };

    if (way < 4)
        graph->n_nodes = counts[way];
    else if (way < 8)
        graph->n_leafs = counts[way - 4];
    else
        graph->nodes = NULL;
    return way < 8;
}

static void
try_call(size_t c, edit_fn edit, int way, bool *is_last)
{
    struct scene scene;
    bool is_done;

    open_scene(&scene);
    *is_last = !edit(scene.graph, way);
    ggml_log_set(count_errors, NULL);
    n_errors = 0;
    is_done = calls[c].call(&scene);
    ggml_log_set(NULL, NULL);
    if (calls[c].must_fail && is_done)
        fail_msg("%s, edit %d: no failure", calls[c].name, way);
    if (calls[c].must_fail && n_errors != 1)
        fail_msg("%s, edit %d: %d reasons", calls[c].name, way, n_errors);
    close_scene(&scene);
}

static void
lists_with_null(void **state)
{
    (void)state;
    for (size_t c = 0; c < N_CALLS; c++) {
        bool is_last = false;

        for (int way = 0; !is_last; way++)
            try_call(c, edit_list, way, &is_last);
    }
}

static void
counts_that_are_none(void **state)
{
    (void)state;
    for (size_t c = 0; c < N_CALLS; c++) {
        bool is_last = !calls[c].takes_counts;

        for (int way = 0; !is_last; way++)
            try_call(c, edit_counts, way, &is_last);
    }
}

/* After it was allocated, and before it is computed. */
static void
edited_between_allocating_and_computing(void **state)
{
    (void)state;
    for (int n = 1; n <= 2; n++) {
        for (int at = 0; at < N_NODES; at++) {
            struct scene scene;
            ggml_backend_sched_t sched;

            open_scene(&scene);
            sched = ggml_backend_sched_new(scene.backend, NULL, n, 64, false);
            assert_true(ggml_backend_sched_alloc_graph(sched, scene.graph));
            scene.graph->nodes[at] = NULL;
            ggml_log_set(count_errors, NULL);
            n_errors = 0;
            assert_int_equal(
                ggml_backend_sched_graph_compute(sched, scene.graph),
                GGML_STATUS_FAILED);
            assert_int_equal(n_errors, 1);
            ggml_backend_sched_reset(sched);
            ggml_log_set(NULL, NULL);
            ggml_backend_sched_free(sched);
            close_scene(&scene);
        }
    }
}

/* Copying looks at the bytes of tensors whose shape or place was edited. */
static void
tensors_beyond_their_buffer_are_not_copied(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++) {
        struct ggml_context *ctx = ggml_init(
            (struct ggml_init_params){ (size_t)64 << 10, NULL, true });
        struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 8);
        struct ggml_tensor *y = ggml_sqr(ctx, x);
        struct ggml_cgraph *graph = ggml_new_graph_custom(ctx, 8, false);
        ggml_backend_t backend = ggml_backend_cpu_init();
        ggml_backend_buffer_t buffer;

        ggml_build_forward_expand(graph, y);
        buffer = ggml_backend_alloc_ctx_tensors(ctx, backend);
        assert_non_null(buffer);
        if (way == 0)
            x->ne[1] = 1 << 20;
        else if (way == 1)
            x->data = (char *)x->data + (1 << 20);
        else
            y->data = (char *)ggml_backend_buffer_get_base(buffer) - 4;
        ggml_log_set(count_errors, NULL);
        n_errors = 0;
        assert_null(ggml_backend_graph_copy(backend, graph).graph);
        assert_int_equal(n_errors, 1);
        ggml_log_set(NULL, NULL);
        ggml_backend_buffer_free(buffer);
        ggml_backend_free(backend);
        ggml_free(ctx);
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_with_null),
        cmocka_unit_test(counts_that_are_none),
        cmocka_unit_test(edited_between_allocating_and_computing),
        cmocka_unit_test(tensors_beyond_their_buffer_are_not_copied),
    };

    return cmocka_run_group_tests_name("edited graphs", tests, NULL, NULL);
}
