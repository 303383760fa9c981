/* SPDX-License-Identifier: MIT */
/*
 * tests/backend/pairs.c - what the interface promises of two backends, on every
 * pair of simulated devices and the CPU, whichever optional member they lack.
 */
#include "config.h"

#include "tests/sim/sim.h"

#include "backends/sim/state.h"
#include "ggmlbackend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define N 300

/* Devices with all members, with one less each, and with few. */
static const char *const settings[] = {
    "",
    "delay=0",
    "with=from_host_ptr",
    "max_buffer=2K",
    "padding=100,alignment=512",
#define GB_SIM_MEMBER(id, name) "without=" name,
#include "backends/sim/members.def"
#undef GB_SIM_MEMBER
    "without=set_async+get_async+cpy_async",
    "without=cpy_async+cpy_tensor",
    "without=synchronize+events+plans",
    "delay=0,without=cpy_async+cpy_tensor+memset_tensor+init_tensor",
    "without=max_size+alloc_size+is_host+init_tensor+memset_tensor+cpy_tensor+"
    "reset+set_async+get_async+cpy_async+synchronize+plans+events+host_buffer+"
    "offload_op",
};

/* Two backends, and a tensor on each with one more for a result. */
struct pair {
    const char *what; /* for messages */
    ggml_backend_t from, to;
    struct ggml_context *ctx[2];
    ggml_backend_buffer_t buffer[2];
    struct ggml_tensor *in, *twice;  /* on from */
    struct ggml_tensor *copy, *half; /* on to */
    struct ggml_cgraph *doubling, *halving;
};

#define CHECK(p, cond)                                     \
    do {                                                   \
        if (!(cond))                                       \
            fail_msg("%s: %s", (p)->what, #cond);          \
    } while (0)

static void
make_tensors(struct pair *p)
{
    for (int i = 0; i < 2; i++)
        p->ctx[i] = sim_context();
    p->in = ggml_new_tensor_1d(p->ctx[0], GGML_TYPE_F32, N);
    p->twice = ggml_scale(p->ctx[0], p->in, 2.0f);
    p->doubling = ggml_new_graph(p->ctx[0]);
    ggml_build_forward_expand(p->doubling, p->twice);
    p->copy = ggml_new_tensor_1d(p->ctx[1], GGML_TYPE_F32, N);
    p->half = ggml_scale(p->ctx[1], p->copy, 0.5f);
    p->halving = ggml_new_graph(p->ctx[1]);
    ggml_build_forward_expand(p->halving, p->half);
    p->buffer[0] = ggml_backend_alloc_ctx_tensors(p->ctx[0], p->from);
    p->buffer[1] = ggml_backend_alloc_ctx_tensors(p->ctx[1], p->to);
    CHECK(p, p->buffer[0] != NULL && p->buffer[1] != NULL);
}

static void
free_tensors(struct pair *p)
{
    for (int i = 0; i < 2; i++) {
        ggml_backend_buffer_free(p->buffer[i]);
        ggml_free(p->ctx[i]);
    }
}

static void
numbers(float *out, float start)
{
    for (int i = 0; i < N; i++)
        out[i] = start + (float)i;
}

static bool
is_numbers(const float *x, float start, float factor)
{
    for (int i = 0; i < N; i++) {
        if (x[i] != factor * (start + (float)i))
            return false;
    }
    return true;
}

static bool
tensor_is_numbers(const struct ggml_tensor *t, float start, float factor)
{
    float x[N];

    ggml_backend_tensor_get(t, x, 0, sizeof(x));
    return is_numbers(x, start, factor);
}

/* Call RUN with each pair of backends in each of these settings. */
static void
with_each_pair(void (*run)(struct pair *p))
{
    static const int devices[][2] = { { 0, 1 }, { 0, 0 }, { 0, -1 }, { -1, 0 },
                                      { 1, 0 } };
    static char what[200];

    for (size_t s = 0; s < sizeof(settings) / sizeof(settings[0]); s++) {
        for (size_t d = 0; d < sizeof(devices) / sizeof(devices[0]); d++) {
            struct gb_sim_config config;
            struct pair p = { .what = what };
            int n = 1;

            snprintf(what, sizeof(what), "%s, %d to %d", settings[s],
                     devices[d][0], devices[d][1]);
            sim_reset();
            gb_sim_default(&config);
            CHECK(&p, gb_sim_config_parse(settings[s], &n, &config));
            CHECK(&p, gb_sim_configure(0, 1, &config));
            p.from = sim_backend(devices[d][0]);
            p.to = sim_backend(devices[d][1]);
            make_tensors(&p);
            ggmlbackend_clear_failure();
            run(&p);
            free_tensors(&p);
            ggml_backend_free(p.from);
            ggml_backend_free(p.to);
            CHECK(&p, sim_is_clean());
        }
    }
}

/* Input, graph, copy, graph, output: all queued, and then all overwritten. */
static void
run_chain(struct pair *p)
{
    float in[2][N], out[2][N];

    memset(out, 0, sizeof(out));
    for (int i = 0; i < 2; i++) {
        numbers(in[i], (float)(100 * i));
        ggml_backend_tensor_set_async(p->from, p->in, in[i], 0, sizeof(in[i]));
        CHECK(p, ggml_backend_graph_compute_async(p->from, p->doubling) ==
                     GGML_STATUS_SUCCESS);
        /* What the other side still reads must not be overwritten. */
        ggml_backend_synchronize(p->to);
        ggml_backend_tensor_copy_async(p->from, p->to, p->twice, p->copy);
        CHECK(p, ggml_backend_graph_compute_async(p->to, p->halving) ==
                     GGML_STATUS_SUCCESS);
        ggml_backend_tensor_get_async(p->to, p->half, out[i], 0,
                                      sizeof(out[i]));
    }
    ggml_backend_synchronize(p->to);
    CHECK(p, is_numbers(out[0], 0.0f, 1.0f));
    CHECK(p, is_numbers(out[1], 100.0f, 1.0f));
    CHECK(p, tensor_is_numbers(p->copy, 100.0f, 2.0f));
    CHECK(p, ggmlbackend_last_failure()[0] == '\0');
}

static void
a_queued_chain_over_two_backends_keeps_its_order(void **state)
{
    (void)state;
    with_each_pair(run_chain);
}

/* Parts of a tensor, and views, arrive where they belong. */
static void
run_parts(struct pair *p)
{
    struct ggml_tensor *view =
        ggml_view_1d(p->ctx[0], p->in, 100, 100 * sizeof(float));
    struct ggml_tensor *back =
        ggml_view_1d(p->ctx[1], p->copy, 100, 50 * sizeof(float));
    float x[N], y[N];

    CHECK(p, ggml_backend_view_init(view) == GGML_STATUS_SUCCESS);
    CHECK(p, ggml_backend_view_init(back) == GGML_STATUS_SUCCESS);
    numbers(x, 0.0f);
    ggml_backend_tensor_set_async(p->from, p->in, x, 0, 400);
    ggml_backend_tensor_set_async(p->from, p->in, x + 100, 400, 800);
    ggml_backend_tensor_set(p->copy, x, 0, sizeof(x));
    ggml_backend_tensor_copy_async(p->from, p->to, view, back);
    ggml_backend_tensor_get_async(p->to, back, y, 4, 396);
    ggml_backend_synchronize(p->to);
    for (int i = 0; i < 99; i++)
        CHECK(p, y[i] == (float)(101 + i));
    ggml_backend_tensor_get(p->copy, y, 0, sizeof(y));
    for (int i = 0; i < N; i++)
        CHECK(p, y[i] == (float)(i < 50 || i >= 150 ? i : i + 50));
    ggml_backend_tensor_copy(view, back);
    ggml_backend_tensor_get(p->copy, y, 0, sizeof(y));
    CHECK(p, y[50] == 100.0f && y[149] == 199.0f && y[150] == 150.0f);
    CHECK(p, ggmlbackend_last_failure()[0] == '\0');
}

static void
parts_and_views_are_copied_where_they_belong(void **state)
{
    (void)state;
    with_each_pair(run_parts);
}

static void
run_fill(struct pair *p)
{
    const bool can = p->copy->buffer->iface.memset_tensor != NULL;
    float x[N];

    numbers(x, 0.0f);
    ggml_backend_tensor_set(p->copy, x, 0, sizeof(x));
    ggml_backend_tensor_memset(p->copy, 0, 0, sizeof(x));
    ggml_backend_tensor_get(p->copy, x, 0, sizeof(x));
    CHECK(p, x[1] == (can ? 0.0f : 1.0f));
    CHECK(p, (ggmlbackend_last_failure()[0] == '\0') == can);
}

static void
a_fill_is_made_or_refused_with_the_reason(void **state)
{
    (void)state;
    with_each_pair(run_fill);
}

static void
run_plans(struct pair *p)
{
    ggml_backend_graph_plan_t plan =
        ggml_backend_graph_plan_create(p->to, p->halving);
    float x[N];

    CHECK(p, (plan != NULL) == (p->to->iface.graph_plan_create != NULL));
    CHECK(p, (ggmlbackend_last_failure()[0] == '\0') == (plan != NULL));
    if (plan == NULL)
        return;
    for (int i = 0; i < 3; i++) {
        numbers(x, (float)i);
        ggml_backend_tensor_set_async(p->to, p->copy, x, 0, sizeof(x));
        CHECK(p, ggml_backend_graph_plan_compute(p->to, plan) ==
                     GGML_STATUS_SUCCESS);
        ggml_backend_synchronize(p->to);
        CHECK(p, tensor_is_numbers(p->half, (float)i, 0.5f));
    }
    ggml_backend_graph_plan_free(p->to, plan);
}

static void
a_plan_computes_again_and_again(void **state)
{
    (void)state;
    with_each_pair(run_plans);
}

/* An event of FROM's device orders the work of both. */
static void
run_events(struct pair *p)
{
    ggml_backend_event_t event =
        ggml_backend_event_new(ggml_backend_get_device(p->from));
    const bool has_events = p->from->iface.event_record != NULL;
    float x[N];

    CHECK(p, (event != NULL) == has_events);
    if (event == NULL)
        return;
    ggml_backend_event_synchronize(event);
    for (int i = 0; i < 2; i++) {
        numbers(x, (float)i);
        ggml_backend_tensor_set_async(p->from, p->in, x, 0, sizeof(x));
        ggml_backend_event_record(event, p->from);
        if (p->to->iface.event_wait != NULL)
            ggml_backend_event_wait(p->to, event);
        CHECK(p, ggmlbackend_last_failure()[0] == '\0');
        if (i == 0)
            ggml_backend_event_synchronize(event);
        else if (p->to->iface.event_wait != NULL)
            ggml_backend_synchronize(p->to);
        else
            ggml_backend_synchronize(p->from);
        CHECK(p, tensor_is_numbers(p->in, (float)i, 1.0f));
    }
    if (p->to->iface.event_wait == NULL) {
        ggml_backend_event_wait(p->to, event);
        CHECK(p, ggmlbackend_last_failure()[0] != '\0');
    }
    ggml_backend_event_free(event);
}

static void
events_order_the_work_of_two_backends(void **state)
{
    (void)state;
    with_each_pair(run_events);
}

static void
run_graph_copy(struct pair *p)
{
    struct ggml_backend_graph_copy copy;
    float x[N];

    numbers(x, 3.0f);
    ggml_backend_tensor_set(p->in, x, 0, sizeof(x));
    ggml_backend_tensor_set(p->twice, x, 0, sizeof(x));
    copy = ggml_backend_graph_copy(p->to, p->doubling);
    CHECK(p, copy.graph != NULL && copy.buffer != NULL);
    CHECK(p, tensor_is_numbers(ggml_graph_node(copy.graph, 0), 3.0f, 1.0f));
    CHECK(p, ggml_backend_graph_compute(p->to, copy.graph) ==
                 GGML_STATUS_SUCCESS);
    CHECK(p, tensor_is_numbers(ggml_graph_node(copy.graph, 0), 3.0f, 2.0f));
    CHECK(p, tensor_is_numbers(p->twice, 3.0f, 1.0f));
    ggml_backend_graph_copy_free(copy);
    CHECK(p, ggmlbackend_last_failure()[0] == '\0');
}

static void
a_graph_is_copied_to_any_backend(void **state)
{
    (void)state;
    with_each_pair(run_graph_copy);
}

static bool
same_numbers(int index, struct ggml_tensor *a, struct ggml_tensor *b,
             void *user_data)
{
    float x[N], y[N];

    (void)index;
    ggml_backend_tensor_get(a, x, 0, sizeof(x));
    ggml_backend_tensor_get(b, y, 0, sizeof(y));
    if (memcmp(x, y, sizeof(x)) == 0)
        ++*(int *)user_data;
    return true;
}

static void
run_compare(struct pair *p)
{
    int n_same = 0;
    float x[N];

    numbers(x, 3.0f);
    ggml_backend_tensor_set(p->in, x, 0, sizeof(x));
    CHECK(p, ggml_backend_compare_graph_backend(
                 p->from, p->to, p->doubling, same_numbers, &n_same));
    CHECK(p, n_same == 1);
    CHECK(p, tensor_is_numbers(p->twice, 3.0f, 2.0f));
}

static void
any_two_backends_can_be_compared(void **state)
{
    (void)state;
    with_each_pair(run_compare);
}

/* Four tensors: one buffer, or several that are owned as one. */
static void
run_multi_buffers(struct pair *p)
{
    struct ggml_context *ctx = sim_context();
    ggml_backend_buffer_t buffer;
    struct ggml_tensor *t[4];
    size_t max_size;

    for (int i = 0; i < 4; i++)
        t[i] = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, N / 2);
    max_size = ggml_backend_get_max_size(p->to);
    buffer = ggml_backend_alloc_ctx_tensors(ctx, p->to);
    CHECK(p, buffer != NULL);
    CHECK(p, ggml_backend_buffer_is_multi_buffer(buffer) ==
                 (max_size < 4 * N / 2 * sizeof(float)));
    ggml_backend_buffer_set_usage(buffer, GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    ggml_backend_buffer_clear(buffer, 0);
    for (int i = 0; i < 4; i++) {
        float x = 1.0f;

        CHECK(p, t[i]->buffer->usage == GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
        ggml_backend_tensor_get(t[i], &x, 4 * (N / 2 - 1), sizeof(x));
        CHECK(p, x == 0.0f);
    }
    ggml_backend_tensor_copy_async(p->to, p->to, t[0], t[3]);
    ggml_backend_synchronize(p->to);
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
    CHECK(p, ggmlbackend_last_failure()[0] == '\0');
}

static void
what_is_larger_than_a_buffer_is_spread_over_several(void **state)
{
    (void)state;
    with_each_pair(run_multi_buffers);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queued_chain_over_two_backends_keeps_its_order),
        cmocka_unit_test(parts_and_views_are_copied_where_they_belong),
        cmocka_unit_test(a_fill_is_made_or_refused_with_the_reason),
        cmocka_unit_test(a_plan_computes_again_and_again),
        cmocka_unit_test(events_order_the_work_of_two_backends),
        cmocka_unit_test(a_graph_is_copied_to_any_backend),
        cmocka_unit_test(any_two_backends_can_be_compared),
        cmocka_unit_test(what_is_larger_than_a_buffer_is_spread_over_several),
    };

    return cmocka_run_group_tests_name("pairs of backends", tests, NULL, NULL);
}
