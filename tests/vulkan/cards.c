/* SPDX-License-Identifier: MIT */
/*
 * tests/vulkan/cards.c - a scheduler with two cards and the CPU, which the shim
 * makes of lavapipe, while the validation layer looks at each call.
 */
#include "config.h"

#include "tests/util/random.h"
#include "tests/vulkan/shimmed.h"

#include "ggml-alloc.h"
#include "ggml-cpu.h"
#include "ggmlbackend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { N = 50000, GRAPHS = 9 }; /* more than twice the copies that are kept */

enum { FIRST, SECOND, CPU, BACKENDS };

struct work {
    ggml_backend_t backends[BACKENDS];
    ggml_backend_sched_t sched; /* NULL: not all is there */
    struct ggml_context *ctx;
    struct ggml_tensor *x, *y;
    struct ggml_cgraph *graph;
};

static void
add_ten(struct ggml_tensor *dst, const struct ggml_tensor *a, int ith, int nth,
        void *data)
{
    (void)data;
    for (int64_t i = ith; i < N; i += nth)
        ((float *)dst->data)[i] = ((const float *)a->data)[i] + 10.0f;
}

static struct ggml_tensor *
on(struct work *work, struct ggml_tensor *node, int which)
{
    ggml_backend_sched_set_tensor_backend(work->sched, node,
                                          work->backends[which]);
    return node;
}

/* Both cards read x, and each of them and the CPU what another one made. */
static void
build(struct work *work)
{
    struct ggml_context *ctx;
    struct ggml_tensor *a, *b, *c, *d;

    ggml_backend_sched_reset(work->sched);
    ggml_free(work->ctx);
    work->ctx = ctx = ggml_init((struct ggml_init_params){
        .mem_size = 32 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true });
    CHECK(ctx != NULL);
    work->x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, N);
    ggml_set_input(work->x);
    a = on(work, ggml_scale(ctx, work->x, 2.0f), FIRST);
    b = on(work, ggml_add(ctx, a, work->x), SECOND);
    c = on(work, ggml_map_custom1(ctx, b, add_ten, 1, NULL), CPU);
    d = on(work, ggml_mul(ctx, c, a), FIRST);
    work->y = on(work, ggml_sub(ctx, d, b), SECOND);
    ggml_set_output(work->y);
    work->graph = ggml_new_graph(ctx);
    ggml_build_forward_expand(work->graph, work->y);
}

/* Of small whole numbers: exact. */
static float
expected(float x)
{
    const float a = 2.0f * x, b = a + x, c = b + 10.0f;

    return c * a - b;
}

static float
x_of(int graph, int i)
{
    return (float)((graph * 31 + i) % 97);
}

static bool
open_work(struct work *work, bool is_parallel)
{
    *work = (struct work){
        .backends = {
            ggml_backend_dev_init(vk_device("Vulkan0"), NULL),
            ggml_backend_dev_init(vk_device("Vulkan1"), NULL),
            ggml_backend_cpu_init(),
        },
    };
    if (work->backends[FIRST] != NULL && work->backends[SECOND] != NULL)
        work->sched = ggml_backend_sched_new(work->backends, NULL, BACKENDS, 64,
                                             is_parallel);
    return work->sched != NULL;
}

static void
close_work(struct work *work)
{
    ggml_backend_sched_free(work->sched);
    for (int i = 0; i < BACKENDS; i++)
        ggml_backend_free(work->backends[i]);
    ggml_free(work->ctx);
}

static bool
queue(struct work *work, int graph, float *out)
{
    static float x[N];

    build(work);
    if (!ggml_backend_sched_alloc_graph(work->sched, work->graph))
        return false;
    for (int i = 0; i < N; i++)
        x[i] = x_of(graph, i);
    ggml_backend_tensor_set(work->x, x, 0, sizeof(x));
    if (ggml_backend_sched_graph_compute_async(work->sched, work->graph) !=
        GGML_STATUS_SUCCESS)
        return false;
    ggml_backend_tensor_get_async(work->backends[SECOND], work->y, out, 0,
                                  sizeof(x));
    return true;
}

/* Queue all graphs before any result is looked at; were all queued? */
static bool
run(bool is_parallel, float (*out)[N])
{
    struct work work;
    bool is_done = open_work(&work, is_parallel);

    ggmlbackend_clear_failure();
    for (int graph = 0; graph < GRAPHS && is_done; graph++)
        is_done = queue(&work, graph, out[graph]);
    if (work.sched != NULL)
        ggml_backend_sched_synchronize(work.sched);
    if (is_done)
        CHECK(ggml_backend_sched_get_n_splits(work.sched) >= 5);
    is_done = is_done && ggmlbackend_last_failure()[0] == '\0';
    close_work(&work);
    return is_done;
}

static float out[GRAPHS][N];

static void
schedule(void)
{
    CHECK(vk_load() != NULL);
    for (int parallel = 0; parallel < 2; parallel++) {
        memset(out, 0, sizeof(out));
        CHECK(run(parallel != 0, out));
        for (int graph = 0; graph < GRAPHS; graph++)
            for (int i = 0; i < N; i++)
                if (out[graph][i] != expected(x_of(graph, i))) {
                    fprintf(stderr, "parallel %d, graph %d, value %d: %g\n",
                            parallel, graph, i, (double)out[graph][i]);
                    exit(1);
                }
        CHECK(!vk_is_left("a scheduler", 0));
    }
}

/* ---- what waits, and what does not ---- */

/* A graph on one card that is queued, and its result. */
struct queued {
    struct ggml_context *ctx;
    ggml_backend_buffer_t buffer;
    struct ggml_tensor *y;
};

static struct queued
queue_on(ggml_backend_t backend)
{
    static float x[N];
    struct queued own = { .ctx = ggml_init((struct ggml_init_params){
        .mem_size = 64 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true }) };
    struct ggml_cgraph *graph = ggml_new_graph(own.ctx);
    struct ggml_tensor *source = ggml_new_tensor_1d(own.ctx, GGML_TYPE_F32, N);

    own.y = source;
    for (int i = 0; i < 20; i++)
        own.y = ggml_scale(own.ctx, own.y, i % 2 == 0 ? 2.0f : 0.5f);
    own.y = ggml_scale(own.ctx, own.y, 3.0f);
    ggml_build_forward_expand(graph, own.y);
    own.buffer = ggml_backend_alloc_ctx_tensors(own.ctx, backend);
    CHECK(own.buffer != NULL);
    for (int i = 0; i < N; i++)
        x[i] = x_of(0, i);
    ggml_backend_tensor_set(source, x, 0, sizeof(x));
    CHECK(ggml_backend_graph_compute_async(backend, graph) ==
          GGML_STATUS_SUCCESS);
    return own;
}

/* Work behind an event of another card's comes after it: the result is there,
 * though the card that made it was never waited for. */
static void
wait_for_an_event(void)
{
    ggml_backend_dev_t devs[2];
    ggml_backend_t first, second;
    ggml_backend_event_t event;
    struct queued queued;

    CHECK(vk_load() != NULL);
    devs[0] = vk_device("Vulkan0");
    devs[1] = vk_device("Vulkan1");
    first = ggml_backend_dev_init(devs[0], NULL);
    second = ggml_backend_dev_init(devs[1], NULL);
    event = ggml_backend_event_new(devs[0]);
    CHECK(first != NULL && second != NULL && event != NULL);
    queued = queue_on(first);
    ggml_backend_event_record(event, first);
    ggml_backend_event_wait(second, event);
    ggml_backend_synchronize(second);
    ggml_backend_tensor_get(queued.y, out[0], 0, sizeof(out[0]));
    for (int i = 0; i < N; i++)
        CHECK(out[0][i] == 3.0f * x_of(0, i));
    ggml_backend_event_free(event);
    ggml_backend_buffer_free(queued.buffer);
    ggml_backend_free(second);
    ggml_backend_free(first);
    ggml_free(queued.ctx);
    CHECK(!vk_is_left("an event", 0));
}

/* A client that gives up what it asked for frees it in any order. */
static void
free_what_is_queued(void)
{
    CHECK(vk_load() != NULL);
    for (int order = 0; order < 2; order++) {
        ggml_backend_t backend =
            ggml_backend_dev_init(vk_device("Vulkan0"), NULL);
        struct queued queued;

        CHECK(backend != NULL);
        queued = queue_on(backend);
        if (order == 0)
            ggml_backend_buffer_free(queued.buffer);
        ggml_backend_free(backend);
        if (order == 1)
            ggml_backend_buffer_free(queued.buffer);
        ggml_free(queued.ctx);
        CHECK(!vk_is_left("what was queued", (uint64_t)order));
    }
}

/* ---- one card alone ---- */

/* What happened on one card says nothing of the other. */
static void
lose_one(void)
{
    ggml_backend_dev_t devs[2];
    struct work work;
    float value = 0.0f;

    CHECK(vk_load() != NULL);
    devs[0] = vk_device("Vulkan0");
    devs[1] = vk_device("Vulkan1");
    CHECK(open_work(&work, false));
    CHECK(queue(&work, 0, out[0]));
    ggml_backend_sched_synchronize(work.sched);
    shim.lose(1);
    ggml_backend_tensor_get_async(work.backends[SECOND], work.y, &value, 0,
                                  sizeof(value));
    CHECK(strstr(ggmlbackend_last_failure(), "Vulkan1") != NULL);
    CHECK(ggml_backend_dev_init(devs[1], NULL) == NULL);
    ggmlbackend_clear_failure();
    ggml_backend_synchronize(work.backends[FIRST]);
    CHECK(ggmlbackend_last_failure()[0] == '\0');
    close_work(&work);
    CHECK(!vk_is_left("one that was lost", 0));
    shim.reset();
    memset(out, 0, sizeof(out));
    CHECK(run(true, out));
    CHECK(!vk_is_left("afterwards", 0));
}

static uint64_t first, step;

/* Each call that may fail, for want of memory.  Threads that make pipelines have
 * the last calls come a little earlier or later. */
static void
fail_calls(void)
{
    static const int results[] = { OUT_OF_HOST_MEMORY, OUT_OF_DEVICE_MEMORY };
    uint64_t n_calls, n_failed = 0, n_tried = 0;

    CHECK(vk_load() != NULL);
    shim.reset();
    CHECK(run(true, out));
    n_calls = shim.calls("any");
    for (int i = 0; i < 2; i++) {
        for (uint64_t n = first; n <= n_calls; n += step) {
            shim.reset();
            shim.fail_call("any", n, results[i]);
            run(true, out);
            n_tried++;
            n_failed += shim.failures();
            CHECK(!vk_is_left("call", n));
            shim.reset();
            CHECK(run(true, out));
            CHECK(!vk_is_left("after call", n));
        }
    }
    CHECK(n_calls > 100 && n_failed > n_tried * 3 / 4);
}

/* ---- tests ---- */

/* On lavapipe, without a word of the validation layer. */
static void
validated_case(void (*function)(void), const char *variables)
{
    const char *errors;
    char whole[256];

    snprintf(whole, sizeof(whole),
             ON_LAVAPIPE "VK_CARDS=2 GGMLBACKEND_VULKAN_VALIDATE=1 %s",
             variables);
    vk_case(function, whole, &errors);
    if (strstr(errors, "vulkan validation:") != NULL)
        fail_msg("[%s] %s", variables, errors);
}

static void
two_cards_and_the_cpu_agree(void **state)
{
    (void)state;
    validated_case(schedule, "");
    validated_case(schedule, "VK_LATE=1");
    validated_case(schedule, "VK_LATE=1 VK_LIMITS=types:2,families:2");
}

static void
an_event_of_another_card_is_waited_for(void **state)
{
    (void)state;
    validated_case(wait_for_an_event, "VK_LATE=1");
}

static void
what_is_queued_may_be_freed(void **state)
{
    (void)state;
    validated_case(free_what_is_queued, "VK_LATE=1");
}

static void
a_card_that_is_lost_leaves_the_other(void **state)
{
    (void)state;
    vk_case(lose_one, ON_NULL "VK_CARDS=2 GGMLBACKEND_LOG=none", NULL);
}

static void
any_call_of_two_cards_may_fail(void **state)
{
    (void)state;
    step = getenv("GGMLBACKEND_TEST_ALL") != NULL ? 1 : 13;
    first = 1 + gb_test_seed(0) % step;
    vk_case(fail_calls, ON_NULL "VK_CARDS=2 GGMLBACKEND_LOG=none", NULL);
}

/* "lavapipe": on that alone, which shim.sh looks for. */
int
main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_card_that_is_lost_leaves_the_other),
        cmocka_unit_test(any_call_of_two_cards_may_fail),
    };
    static const struct CMUnitTest on_lavapipe[] = {
        cmocka_unit_test(two_cards_and_the_cpu_agree),
        cmocka_unit_test(an_event_of_another_card_is_waited_for),
        cmocka_unit_test(what_is_queued_may_be_freed),
    };

    if (argc > 1 && strcmp(argv[1], "lavapipe") == 0)
        return cmocka_run_group_tests_name("two cards of lavapipe", on_lavapipe,
                                           NULL, NULL);
    return cmocka_run_group_tests_name("two cards of Vulkan", tests, NULL,
                                       NULL);
}
