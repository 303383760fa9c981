/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/device/reentry.c - what a graph's own operations and callbacks call
 * while it is computed: what cannot be done is refused, all else works, and the
 * graph's numbers are right.
 */
#include "config.h"

#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggmlbackend.h"

#include "tests/util/sink.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Elements of a row; enough for a product to have work for some threads. */
#define N 96

/* Refusals are meant to happen; some are said by several threads at once. */
static int
drop_messages(void **state)
{
    (void)state;
    ggml_log_set(gb_sink_ignore, NULL);
    return 0;
}

static int
show_messages(void **state)
{
    (void)state;
    ggml_log_set(NULL, NULL);
    return 0;
}

/* ---- graphs ---- */

/* Two products, with a function of the test's between them. */
struct scene {
    struct ggml_context *ctx;
    struct ggml_cgraph *graph;
    struct ggml_tensor *out;
    ggml_backend_t backend;

    void (*visit)(struct scene *scene); /* from inside; NULL for nothing */
    ggml_backend_t other;
    ggml_backend_graph_plan_t plan;
    struct ggml_threadpool *pool;
    ggml_backend_sched_t sched;
    bool is_to_stop;
    atomic_int n_tasks; /* among which the last function was shared */
    atomic_int n_visits;
    atomic_int n_good; /* calls in them that did what they should */
};

static void
count(struct scene *scene, bool is_good)
{
    atomic_fetch_add(&scene->n_good, is_good);
}

/* Every visit had so many calls, all of which were good. */
static void
expect_visits(struct scene *scene, int n_calls)
{
    const int n = atomic_exchange(&scene->n_visits, 0);

    assert_true(n > 0);
    assert_int_equal(atomic_exchange(&scene->n_good, 0), n * n_calls);
}

/* Hand the rows on, each task its own; each visits. */
static void
pass_on(struct ggml_tensor *dst, const struct ggml_tensor *a, int ith, int nth,
        void *data)
{
    struct scene *scene = data;

    for (int64_t row = ith; row < N; row += nth)
        memcpy((float *)dst->data + row * N, (const float *)a->data + row * N,
               N * sizeof(float));
    atomic_store(&scene->n_tasks, nth);
    if (scene->visit == NULL)
        return;
    atomic_fetch_add(&scene->n_visits, 1);
    scene->visit(scene);
}

static struct ggml_tensor *
ones(struct ggml_context *ctx)
{
    return ggml_set_f32(ggml_new_tensor_2d(ctx, GGML_TYPE_F32, N, N), 1.0f);
}

static void
scene_open(struct scene *scene, int n_tasks, int n_threads)
{
    struct ggml_context *ctx =
        ggml_init((struct ggml_init_params){ .mem_size = (size_t)1 << 20 });
    struct ggml_tensor *first, *middle;

    if (ctx == NULL)
        abort();
    memset(scene, 0, sizeof(*scene));
    first = ggml_mul_mat(ctx, ones(ctx), ones(ctx));
    middle = ggml_map_custom1(ctx, first, pass_on, n_tasks, scene);
    scene->ctx = ctx;
    scene->out = ggml_mul_mat(ctx, ones(ctx), middle);
    scene->graph = ggml_new_graph(ctx);
    ggml_build_forward_expand(scene->graph, scene->out);
    scene->backend = ggml_backend_cpu_init();
    ggml_backend_cpu_set_n_threads(scene->backend, n_threads);
}

static void
scene_close(struct scene *scene)
{
    ggml_backend_free(scene->backend);
    ggml_free(scene->ctx);
}

/* STATUS is success, and the numbers are right: sums of ones are exact. */
static bool
is_right(const struct scene *scene, enum ggml_status status)
{
    float *out = scene->out->data;
    bool is_right = status == GGML_STATUS_SUCCESS;

    for (int i = 0; i < N * N; i++) {
        is_right = is_right && out[i] == (float)(N * N);
        out[i] = 0.0f;
    }
    return is_right;
}

static bool
computes(struct scene *scene)
{
    return is_right(
        scene, ggml_backend_graph_compute(scene->backend, scene->graph));
}

static bool
is_refused(enum ggml_status status)
{
    const bool is_said = strstr(ggmlbackend_last_failure(), "at work") != NULL;

    ggmlbackend_clear_failure();
    return status == GGML_STATUS_FAILED && is_said;
}

/* Functions that return nothing have their reason alone. */
static bool
was_refused(void)
{
    return is_refused(GGML_STATUS_FAILED);
}

/* The ways a custom operation is run: by one thread, and by several. */
static const struct way {
    int n_tasks, n_threads;
} ways[] = { { 1, 1 }, { 1, 4 }, { GGML_N_TASKS_MAX, 4 } };

#define N_WAYS (sizeof(ways) / sizeof(ways[0]))

/* ---- the backend itself ---- */

/* Three calls; each visit may come from another thread, so each has a graph. */
static void
compute_here(struct scene *scene)
{
    struct scene own;

    scene_open(&own, 1, 1);
    count(scene, is_refused(ggml_backend_graph_compute(
                     scene->backend, own.graph)));
    count(scene, is_refused(ggml_backend_graph_compute_async(
                     scene->backend, own.graph)));
    count(scene, is_refused(ggml_backend_graph_plan_compute(
                     scene->backend, scene->plan)));
    scene_close(&own);
}

static void
an_operation_cannot_compute_on_its_own_backend(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_WAYS; i++) {
        struct scene scene, other;

        scene_open(&other, 1, 1);
        scene_open(&scene, ways[i].n_tasks, ways[i].n_threads);
        scene.plan =
            ggml_backend_graph_plan_create(scene.backend, other.graph);
        scene.visit = compute_here;
        assert_true(computes(&scene));
        assert_true(computes(&scene));
        expect_visits(&scene, 3);
        assert_true(is_right(&other, ggml_backend_graph_plan_compute(
                                         scene.backend, scene.plan)));
        ggml_backend_graph_plan_free(scene.backend, scene.plan);
        scene_close(&scene);
        scene_close(&other);
    }
}

static bool
visit_and_ask(void *data)
{
    struct scene *scene = data;

    atomic_fetch_add(&scene->n_visits, 1);
    compute_here(scene);
    return scene->is_to_stop;
}

static void
an_abort_callback_cannot_compute_on_its_own_backend(void **state)
{
    struct scene scene;

    (void)state;
    scene_open(&scene, GGML_N_TASKS_MAX, 4);
    scene.plan = ggml_backend_graph_plan_create(scene.backend, scene.graph);
    ggml_backend_cpu_set_abort_callback(scene.backend, visit_and_ask, &scene);
    assert_true(computes(&scene));
    expect_visits(&scene, 3);
    scene.is_to_stop = true;
    assert_int_equal(ggml_backend_graph_compute(scene.backend, scene.graph),
                     GGML_STATUS_ABORTED);
    ggml_backend_cpu_set_abort_callback(scene.backend, NULL, NULL);
    assert_true(computes(&scene));
    ggml_backend_graph_plan_free(scene.backend, scene.plan);
    scene_close(&scene);
}

/* The first message is enough: refusals have messages too. */
static void
visit_and_log(enum ggml_log_level level, const char *text, void *data)
{
    struct scene *scene = data;

    (void)level;
    (void)text;
    if (atomic_fetch_add(&scene->n_visits, 1) == 0)
        compute_here(scene);
}

/* What cannot be computed is said while the plan for it is made. */
static void
a_log_function_cannot_compute_on_a_backend_that_plans(void **state)
{
    struct scene scene;
    struct ggml_cgraph *failing;
    struct ggml_tensor *lost;

    (void)state;
    scene_open(&scene, 1, 1);
    scene.plan = ggml_backend_graph_plan_create(scene.backend, scene.graph);
    lost = ggml_sqr(scene.ctx, ones(scene.ctx));
    lost->data = NULL;
    failing = ggml_new_graph(scene.ctx);
    ggml_build_forward_expand(failing, lost);
    ggml_log_set(visit_and_log, &scene);
    assert_int_equal(ggml_backend_graph_compute(scene.backend, failing),
                     GGML_STATUS_FAILED);
    ggml_log_set(gb_sink_ignore, NULL);
    assert_int_equal(atomic_load(&scene.n_good), 3);
    assert_true(computes(&scene));
    ggml_backend_graph_plan_free(scene.backend, scene.plan);
    scene_close(&scene);
}

static void
free_backend(struct scene *scene)
{
    ggml_backend_free(scene->backend);
    count(scene, was_refused());
}

static void
a_backend_at_work_is_not_freed(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_WAYS; i++) {
        struct scene scene;

        scene_open(&scene, ways[i].n_tasks, ways[i].n_threads);
        scene.visit = free_backend;
        assert_true(computes(&scene));
        expect_visits(&scene, 1);
        scene_close(&scene);
    }
}

/* A plan has its memory for itself, whoever computes it. */
static void
use_plan(struct scene *scene)
{
    ggml_backend_graph_plan_free(scene->other, scene->plan);
    count(scene, was_refused());
    count(scene, is_refused(ggml_backend_graph_plan_compute(
                     scene->other, scene->plan)));
    count(scene, is_refused(ggml_backend_graph_plan_compute(
                     scene->backend, scene->plan)));
}

static void
a_plan_at_work_is_neither_computed_nor_freed(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_WAYS; i++) {
        struct scene scene;

        scene_open(&scene, ways[i].n_tasks, ways[i].n_threads);
        scene.other = ggml_backend_cpu_init();
        scene.plan =
            ggml_backend_graph_plan_create(scene.backend, scene.graph);
        scene.visit = use_plan;
        for (int k = 0; k < 2; k++) {
            ggml_backend_t by = k == 0 ? scene.backend : scene.other;

            assert_true(is_right(
                &scene, ggml_backend_graph_plan_compute(by, scene.plan)));
            expect_visits(&scene, 3);
        }
        ggml_backend_graph_plan_free(scene.backend, scene.plan);
        ggml_backend_free(scene.other);
        scene_close(&scene);
    }
}

/* ---- what is nobody's business but the client's ---- */

static void
compute_elsewhere(struct scene *scene)
{
    struct scene own;
    struct ggml_cplan plan;

    scene_open(&own, 1, 2);
    ggml_backend_cpu_set_threadpool(own.backend, scene->pool);
    plan = ggml_graph_plan(own.graph, 2, scene->pool);
    count(scene, computes(&own));
    count(scene, is_right(&own, ggml_graph_compute(own.graph, &plan)));
    count(scene, is_right(&own, ggml_graph_compute_with_ctx(
                                    own.ctx, own.graph, 2)));
    scene_close(&own);
}

static void
other_backends_and_contexts_can_be_used_from_inside(void **state)
{
    struct ggml_threadpool_params params = ggml_threadpool_params_default(4);
    struct ggml_threadpool *pool = ggml_threadpool_new(&params);

    (void)state;
    for (size_t i = 0; i < 2 * N_WAYS; i++) {
        const struct way *way = &ways[i / 2];
        struct scene scene;

        scene_open(&scene, way->n_tasks, way->n_threads);
        scene.pool = i % 2 == 0 ? pool : NULL;
        scene.visit = compute_elsewhere;
        ggml_backend_cpu_set_threadpool(scene.backend, scene.pool);
        assert_true(computes(&scene));
        expect_visits(&scene, 3);
        scene_close(&scene);
    }
    ggml_threadpool_free(pool);
}

/* The work memory is not the plan's, so that one is enough for all depths. */
struct nest {
    struct scene scene;
    struct ggml_cplan *plan;
    int depth;
};

static void
compute_deeper(struct scene *scene)
{
    struct nest *nest = (struct nest *)scene;
    struct nest deeper = { .plan = nest->plan, .depth = nest->depth + 1 };

    if (nest->depth == 4)
        return;
    scene_open(&deeper.scene, 1, 1);
    deeper.scene.visit = compute_deeper;
    count(scene, is_right(&deeper.scene,
                          ggml_graph_compute(deeper.scene.graph, nest->plan)));
    count(scene, deeper.depth == 4 || atomic_load(&deeper.scene.n_good) == 2);
    scene_close(&deeper.scene);
}

static void
a_plan_of_the_client_s_serves_several_depths(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_WAYS; i++) {
        struct nest nest = { .depth = 0 };
        struct ggml_cplan plan;

        scene_open(&nest.scene, ways[i].n_tasks, 1);
        plan = ggml_graph_plan(nest.scene.graph, ways[i].n_threads, NULL);
        nest.plan = &plan;
        nest.scene.visit = compute_deeper;
        assert_true(is_right(&nest.scene,
                             ggml_graph_compute(nest.scene.graph, &plan)));
        expect_visits(&nest.scene, 2);
        scene_close(&nest.scene);
    }
}

/* ---- settings ---- */

/* Once a graph: settings are not for several threads at a time. */
static void
change_settings(struct scene *scene)
{
    if (atomic_fetch_add(&scene->n_good, 1) > 0)
        return;
    ggml_backend_cpu_set_n_threads(scene->backend, 2);
    ggml_backend_cpu_set_threadpool(scene->backend, scene->pool);
    ggml_backend_cpu_set_abort_callback(scene->backend, NULL, NULL);
}

static void
settings_hold_from_the_next_graph_on(void **state)
{
    struct ggml_threadpool_params params = ggml_threadpool_params_default(2);
    struct ggml_threadpool *pool = ggml_threadpool_new(&params);

    (void)state;
    for (int n_threads = 1; n_threads < 8; n_threads++) {
        struct scene scene;

        scene_open(&scene, GGML_N_TASKS_MAX, n_threads);
        scene.visit = change_settings;
        for (int round = 0; round < 6; round++) {
            scene.pool = round % 2 == 0 ? pool : NULL;
            assert_true(computes(&scene));
            assert_int_equal(atomic_load(&scene.n_tasks),
                             round == 0 ? n_threads : 2);
            expect_visits(&scene, 1);
        }
        scene_close(&scene);
    }
    ggml_threadpool_free(pool);
}

static bool
stop_at_once(void *data)
{
    (void)data;
    return true;
}

static bool
put_another_in_place(void *data)
{
    struct scene *scene = data;

    ggml_backend_cpu_set_abort_callback(scene->backend, stop_at_once, NULL);
    return false;
}

static bool
go_away(void *data)
{
    struct scene *scene = data;

    atomic_fetch_add(&scene->n_visits, 1);
    ggml_backend_cpu_set_abort_callback(scene->backend, NULL, NULL);
    return false;
}

static void
an_abort_callback_may_be_replaced_from_inside(void **state)
{
    struct scene scene;

    (void)state;
    scene_open(&scene, GGML_N_TASKS_MAX, 4);
    ggml_backend_cpu_set_abort_callback(
        scene.backend, put_another_in_place, &scene);
    assert_int_equal(ggml_backend_graph_compute(scene.backend, scene.graph),
                     GGML_STATUS_ABORTED);
    ggml_backend_cpu_set_abort_callback(scene.backend, go_away, &scene);
    assert_true(computes(&scene));
    assert_int_equal(atomic_load(&scene.n_visits), 1);
    scene_close(&scene);
}

/* ---- pools ---- */

static void
use_pool(struct scene *scene)
{
    ggml_threadpool_pause(scene->pool);
    count(scene, ggml_threadpool_get_n_threads(scene->pool) == 4);
    ggml_threadpool_free(scene->pool);
    count(scene, was_refused());
    ggml_threadpool_resume(scene->pool);
    ggml_threadpool_pause(scene->pool);
}

static void
a_pool_at_work_may_be_paused_and_is_not_freed(void **state)
{
    struct ggml_threadpool_params params = ggml_threadpool_params_default(4);
    struct ggml_threadpool *pool = ggml_threadpool_new(&params);

    (void)state;
    for (int n_tasks = 1; n_tasks <= 4; n_tasks++) {
        struct scene scene;

        scene_open(&scene, n_tasks, 4);
        scene.pool = pool;
        scene.visit = use_pool;
        ggml_backend_cpu_set_threadpool(scene.backend, pool);
        for (int round = 0; round < 20; round++) {
            assert_true(computes(&scene));
            expect_visits(&scene, 2);
        }
        scene_close(&scene);
    }
    ggml_threadpool_free(pool);
}

/* What one thread does before it calls the others is the pool's work too. */
static void
a_pool_is_not_freed_before_its_workers_begin(void **state)
{
    struct ggml_threadpool_params params = ggml_threadpool_params_default(4);
    struct ggml_threadpool *pool = ggml_threadpool_new(&params);
    struct scene scene;
    struct ggml_tensor *first, *second;
    struct ggml_cgraph *graph;

    (void)state;
    scene_open(&scene, 1, 4);
    scene.pool = pool;
    scene.visit = use_pool;
    first = ggml_map_custom1(scene.ctx, ones(scene.ctx), pass_on, 1, &scene);
    second = ggml_mul_mat(scene.ctx, ones(scene.ctx), first);
    graph = ggml_new_graph(scene.ctx);
    ggml_build_forward_expand(graph, second);
    ggml_backend_cpu_set_threadpool(scene.backend, pool);
    assert_int_equal(ggml_backend_graph_compute(scene.backend, graph),
                     GGML_STATUS_SUCCESS);
    expect_visits(&scene, 2);
    assert_true(ggml_get_f32_1d(second, N * N - 1) == (float)N);
    scene_close(&scene);
    ggml_threadpool_free(pool);
}

/* ---- other threads ---- */

struct rival {
    struct scene scene;
    int n_rounds, n_right;
};

static void *
compute_rounds(void *data)
{
    struct rival *rival = data;

    for (int i = 0; i < rival->n_rounds; i++)
        rival->n_right += computes(&rival->scene);
    return NULL;
}

static void
backends_that_share_a_pool_compute_at_once(void **state)
{
    struct ggml_threadpool_params params = ggml_threadpool_params_default(4);
    struct ggml_threadpool *pool = ggml_threadpool_new(&params);
    struct rival rivals[2];
    pthread_t threads[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        scene_open(&rivals[i].scene, GGML_N_TASKS_MAX, 4);
        ggml_backend_cpu_set_threadpool(rivals[i].scene.backend, pool);
        rivals[i].n_rounds = 50;
        rivals[i].n_right = 0;
        assert_int_equal(pthread_create(&threads[i], NULL, compute_rounds,
                                        &rivals[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(rivals[i].n_right, rivals[i].n_rounds);
        scene_close(&rivals[i].scene);
    }
    ggml_threadpool_free(pool);
}

/* One visit, which lasts until another thread has tried. */
struct meeting {
    struct scene scene;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_inside, has_tried;
};

static void
await(struct meeting *meeting, bool *is_true)
{
    while (!*is_true)
        pthread_cond_wait(&meeting->changed, &meeting->lock);
}

static void
announce(struct meeting *meeting, bool *is_true)
{
    *is_true = true;
    pthread_cond_broadcast(&meeting->changed);
}

static void
let_others_try(struct scene *scene)
{
    struct meeting *meeting = (struct meeting *)scene;

    pthread_mutex_lock(&meeting->lock);
    announce(meeting, &meeting->is_inside);
    await(meeting, &meeting->has_tried);
    pthread_mutex_unlock(&meeting->lock);
}

static void *
try_to_compute(void *data)
{
    struct meeting *meeting = data;

    pthread_mutex_lock(&meeting->lock);
    await(meeting, &meeting->is_inside);
    compute_here(&meeting->scene);
    free_backend(&meeting->scene);
    announce(meeting, &meeting->has_tried);
    pthread_mutex_unlock(&meeting->lock);
    return NULL;
}

static void
two_threads_cannot_compute_on_one_backend_at_once(void **state)
{
    (void)state;
    for (int n_threads = 1; n_threads < 4; n_threads++) {
        struct meeting meeting = { .lock = PTHREAD_MUTEX_INITIALIZER,
                                   .changed = PTHREAD_COND_INITIALIZER };
        struct scene *scene = &meeting.scene;
        struct scene planned;
        pthread_t thread;

        scene_open(&planned, 1, 1);
        scene_open(scene, 1, n_threads);
        scene->plan =
            ggml_backend_graph_plan_create(scene->backend, planned.graph);
        scene->visit = let_others_try;
        assert_int_equal(
            pthread_create(&thread, NULL, try_to_compute, &meeting), 0);
        assert_true(computes(scene));
        pthread_join(thread, NULL);
        expect_visits(scene, 4);
        assert_true(is_right(&planned, ggml_backend_graph_plan_compute(
                                           scene->backend, scene->plan)));
        ggml_backend_graph_plan_free(scene->backend, scene->plan);
        scene_close(scene);
        scene_close(&planned);
    }
}

/* ---- schedulers ---- */

static void
schedule_here(struct scene *scene)
{
    struct scene own;

    scene_open(&own, 1, 1);
    count(scene, is_refused(ggml_backend_sched_graph_compute(
                     scene->sched, own.graph)));
    scene_close(&own);
}

static void
schedule_elsewhere(struct scene *scene)
{
    struct scene own;
    ggml_backend_sched_t sched;

    scene_open(&own, 1, 1);
    sched = ggml_backend_sched_new(&own.backend, NULL, 1, 64, false);
    count(scene, is_right(&own, ggml_backend_sched_graph_compute(
                                    sched, own.graph)));
    ggml_backend_sched_free(sched);
    /* A scheduler of its own, on a backend that is not. */
    sched = ggml_backend_sched_new(&scene->backend, NULL, 1, 64, false);
    count(scene, is_refused(ggml_backend_sched_graph_compute(
                     sched, own.graph)));
    ggml_backend_sched_free(sched);
    scene_close(&own);
}

static void
operations_of_a_scheduled_graph_may_use_another_scheduler(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * N_WAYS; i++) {
        const struct way *way = &ways[i / 2];
        struct scene scene;

        scene_open(&scene, way->n_tasks, way->n_threads);
        scene.sched =
            ggml_backend_sched_new(&scene.backend, NULL, 1, 64, false);
        scene.visit = i % 2 == 0 ? schedule_here : schedule_elsewhere;
        assert_true(is_right(&scene, ggml_backend_sched_graph_compute(
                                         scene.sched, scene.graph)));
        expect_visits(&scene, i % 2 == 0 ? 1 : 2);
        ggml_backend_sched_free(scene.sched);
        scene_close(&scene);
    }
}

/* Between two nodes the backend has nothing to do. */
static bool
compute_between(struct ggml_tensor *node, bool is_asked, void *data)
{
    struct scene *scene = data;
    struct scene own;

    (void)node;
    (void)is_asked;
    scene_open(&own, 1, 1);
    atomic_fetch_add(&scene->n_visits, 1);
    count(scene, is_right(&own, ggml_backend_graph_compute(
                                    scene->backend, own.graph)));
    scene_close(&own);
    return true;
}

static void
an_eval_callback_may_compute_on_the_backend(void **state)
{
    struct scene scene;

    (void)state;
    scene_open(&scene, GGML_N_TASKS_MAX, 4);
    scene.sched = ggml_backend_sched_new(&scene.backend, NULL, 1, 64, false);
    ggml_backend_sched_set_eval_callback(scene.sched, compute_between, &scene);
    assert_true(is_right(&scene, ggml_backend_sched_graph_compute(
                                     scene.sched, scene.graph)));
    assert_int_equal(atomic_load(&scene.n_visits), 6);
    expect_visits(&scene, 1);
    ggml_backend_sched_free(scene.sched);
    scene_close(&scene);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_operation_cannot_compute_on_its_own_backend),
        cmocka_unit_test(an_abort_callback_cannot_compute_on_its_own_backend),
        cmocka_unit_test(a_log_function_cannot_compute_on_a_backend_that_plans),
        cmocka_unit_test(a_backend_at_work_is_not_freed),
        cmocka_unit_test(a_plan_at_work_is_neither_computed_nor_freed),
        cmocka_unit_test(other_backends_and_contexts_can_be_used_from_inside),
        cmocka_unit_test(a_plan_of_the_client_s_serves_several_depths),
        cmocka_unit_test(settings_hold_from_the_next_graph_on),
        cmocka_unit_test(an_abort_callback_may_be_replaced_from_inside),
        cmocka_unit_test(a_pool_at_work_may_be_paused_and_is_not_freed),
        cmocka_unit_test(a_pool_is_not_freed_before_its_workers_begin),
        cmocka_unit_test(backends_that_share_a_pool_compute_at_once),
        cmocka_unit_test(two_threads_cannot_compute_on_one_backend_at_once),
        cmocka_unit_test(
            operations_of_a_scheduled_graph_may_use_another_scheduler),
        cmocka_unit_test(an_eval_callback_may_compute_on_the_backend),
    };

    return cmocka_run_group_tests_name(
        "re-entry", tests, drop_messages, show_messages);
}
