/* SPDX-License-Identifier: MIT */
/*
 * tests/trace/cpu.c - the timeline of graphs that the CPU computes.
 */
#include "config.h"

#include "lib/trace/trace.h"

#include "ggml-backend.h"
#include "ggml-cpu.h"

#include "tests/trace/events.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_THREADS 2

static struct gb_child child;

static struct ggml_context *
new_context(size_t bytes)
{
    const struct ggml_init_params params = { bytes, NULL, false };

    return ggml_init(params);
}

/* A product of several tiles, a view, a sum in place and one in a tile. */
static struct ggml_cgraph *
small_graph(struct ggml_context *ctx)
{
    struct ggml_tensor *a = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 64, 300);
    struct ggml_tensor *b = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 64, 40);
    struct ggml_tensor *product = ggml_mul_mat(ctx, a, b);
    struct ggml_tensor *flat = ggml_reshape_1d(ctx, product, 12000);
    struct ggml_tensor *relu = ggml_relu(ctx, flat);
    struct ggml_tensor *sum = ggml_sum(ctx, relu);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);

    ggml_set_name(a, "a");
    ggml_set_name(b, "b");
    ggml_set_name(flat, "flat");
    ggml_set_name(product, "product");
    ggml_set_name(relu, "say \"relu\"");
    ggml_set_name(sum, "sum");
    ggml_set_f32(a, 0.5f);
    ggml_set_f32(b, 2.0f);
    ggml_build_forward_expand(graph, sum);
    return graph;
}

static void
compute_twice(void)
{
    struct ggml_context *ctx = new_context(1 << 20);
    struct ggml_cgraph *graph = small_graph(ctx);

    for (int i = 0; i < 2; i++)
        fprintf(stderr, "%d",
                ggml_graph_compute_with_ctx(ctx, graph, N_THREADS));
    ggml_free(ctx);
}

static void
each_node_appears_once_a_compute(void **state)
{
    static const struct {
        const char *op, *tensor, *shape, *sources;
        json_int_t bytes;
    } nodes[] = {
        { "MUL_MAT", "product", "[300,40,1,1]",
          "[\"a f32 [64, 300, 1, 1]\",\"b f32 [64, 40, 1, 1]\"]", 48000 },
        { "RELU", "say \"relu\"", "[12000,1,1,1]",
          "[\"flat f32 [12000, 1, 1, 1]\"]", 48000 },
        { "SUM", "sum", "[1,1,1,1]",
          "[\"say \\\"relu\\\" f32 [12000, 1, 1, 1]\"]", 4 },
    };
    json_t *events;

    (void)state;
    events_run(events_file, compute_twice, &child);
    assert_string_equal(child.errors, "00");
    events = events_load(events_file);
    assert_int_equal(events_count(events, "node"), 6);
    for (size_t i = 0; i < 6; i++) {
        const json_t *event = events_get(events, "node", i);
        json_t *args = json_object_get(event, "args");
        char *shape = json_dumps(json_object_get(args, "shape"), JSON_COMPACT);
        char *sources =
            json_dumps(json_object_get(args, "sources"), JSON_COMPACT);

        assert_string_equal(event_text(event, "op"), nodes[i % 3].op);
        assert_string_equal(event_text(event, "tensor"), nodes[i % 3].tensor);
        assert_string_equal(event_text(event, "type"), "f32");
        assert_int_equal(event_number(event, "bytes"), nodes[i % 3].bytes);
        assert_string_equal(shape, nodes[i % 3].shape);
        assert_string_equal(sources, nodes[i % 3].sources);
        assert_string_equal(event_process(events, event), "CPU");
        free(shape);
        free(sources);
    }
    json_decref(events);
}

static void
nodes_lie_in_their_graph(void **state)
{
    json_t *events;

    (void)state;
    events_run(events_file, compute_twice, &child);
    events = events_load(events_file);
    events_assert_nested(events);
    assert_int_equal(events_count(events, "graph"), 2);
    for (size_t i = 0; i < 6; i++)
        assert_true(event_is_within(events_get(events, "node", i),
                                    events_get(events, "graph", i / 3)));
    assert_int_equal(
        event_number(events_get(events, "graph", 0), "steps"), 3);
    assert_int_equal(
        event_number(events_get(events, "graph", 0), "threads"), N_THREADS);
    json_decref(events);
}

/* The pool's threads finish steps too; the track is the caller's. */
static void
compute_long(void)
{
    struct ggml_context *ctx = new_context((size_t)16 << 20);
    struct ggml_tensor *x = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 64, 64);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);

    ggml_set_f32(x, 0.01f);
    for (int i = 0; i < 150; i++)
        x = i % 2 == 0 ? ggml_mul_mat(ctx, x, x) : ggml_sqr(ctx, x);
    ggml_build_forward_expand(graph, x);
    ggml_graph_compute_with_ctx(ctx, graph, 4);
    ggml_free(ctx);
}

static void
steps_of_all_threads_are_on_the_callers_track(void **state)
{
    json_t *events;

    (void)state;
    events_run(events_file, compute_long, &child);
    events = events_load(events_file);
    assert_int_equal(events_count(events, "node"), 150);
    events_assert_nested(events);
    for (size_t i = 0; i < 150; i++)
        assert_true(event_is_within(events_get(events, "node", i),
                                    events_get(events, "graph", 0)));
    json_decref(events);
}

static bool
stop_at_once(void *data)
{
    (void)data;
    return true;
}

static void
compute_and_stop(void)
{
    struct ggml_context *ctx = new_context(1 << 20);
    struct ggml_cgraph *graph = small_graph(ctx);
    struct ggml_cplan plan = ggml_graph_plan(graph, 1, NULL);

    plan.abort_callback = stop_at_once;
    fprintf(stderr, "%d", ggml_graph_compute(graph, &plan));
    ggml_free(ctx);
}

static void
a_stopped_compute_shows_what_was_done(void **state)
{
    json_t *events;

    (void)state;
    events_run(events_file, compute_and_stop, &child);
    assert_string_equal(child.errors, "1");
    events = events_load(events_file);
    assert_int_equal(events_count(events, "node"), 1);
    assert_int_equal(events_count(events, "graph"), 1);
    json_decref(events);
}

static int64_t
time_of_tracks(int n)
{
    const int64_t start = gb_trace_now();
    int sum = 0;

    for (int i = 0; i < n; i++)
        sum += gb_trace_track("CPU");
    assert_int_equal(sum, 0);
    return gb_trace_now() - start;
}

static int64_t
time_of_computes(int n)
{
    struct ggml_context *ctx = new_context(1 << 20);
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    struct ggml_cplan plan;
    int64_t start;

    ggml_build_forward_expand(graph, ggml_neg(ctx, x));
    plan = ggml_graph_plan(graph, 1, NULL);
    start = gb_trace_now();
    for (int i = 0; i < n; i++)
        assert_int_equal(
            ggml_graph_compute(graph, &plan), GGML_STATUS_SUCCESS);
    start = gb_trace_now() - start;
    ggml_free(ctx);
    return start;
}

/*
 * The smallest graph there is, one number's negative, costs a call for the
 * track and two branches.  So much is lost among the rest.
 */
static void
off_a_track_costs_little_even_of_the_smallest_graph(void **state)
{
    enum { N = 20000 };
    int64_t track = INT64_MAX, compute = INT64_MAX;

    (void)state;
    for (int i = 0; i < 5; i++) {
        const int64_t t = time_of_tracks(N), c = time_of_computes(N);

        track = t < track ? t : track;
        compute = c < compute ? c : compute;
    }
    printf("# off: %.2f ns of %.0f ns\n", (double)track / N,
           (double)compute / N);
    /* A real graph has hundreds of nodes, each a thousand times this one. */
    assert_true(track * 5 < compute);
}

int
main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, events_begin, events_end)
    static const struct CMUnitTest tests[] = {
        /* In children, before this process reads its own environment. */
        TEST(each_node_appears_once_a_compute),
        TEST(nodes_lie_in_their_graph),
        TEST(steps_of_all_threads_are_on_the_callers_track),
        TEST(a_stopped_compute_shows_what_was_done),
        TEST(off_a_track_costs_little_even_of_the_smallest_graph),
    };
#undef TEST

    return cmocka_run_group_tests_name("the CPU's timeline", tests, NULL, NULL);
}
