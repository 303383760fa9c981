/* SPDX-License-Identifier: MIT */
/*
 * tests/trace/sched.c - the timeline and the drawing of a graph that two
 * simulated devices and the CPU compute.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/sim/sim.h"
#include "tests/trace/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_NODES  9
#define N_SPLITS 4
#define BYTES    (int)(8 * 16 * sizeof(float))

static struct gb_child child;

/* Two or three nodes on each device in turn, and a view between. */
static struct ggml_cgraph *
build(struct ggml_context *ctx, ggml_backend_sched_t sched,
      ggml_backend_t *backends, struct ggml_tensor **x)
{
    static const int devices[N_SPLITS] = { 0, 1, 0, 2 };
    struct ggml_cgraph *graph = ggml_new_graph_custom(ctx, 32, false);
    struct ggml_tensor *y = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 8, 16);

    *x = y;
    ggml_set_input(y);
    ggml_set_name(y, "in \"quotes\" \\ and\nlines \xff");
    for (int i = 0; i < N_NODES; i++) {
        y = ggml_scale(ctx, y, 0.5f);
        ggml_backend_sched_set_tensor_backend(
            sched, y, backends[devices[i * N_SPLITS / N_NODES]]);
        ggml_format_name(y, "y%d", i);
        if (i == 4)
            y = ggml_reshape_2d(ctx, y, 16, 8);
    }
    ggml_set_output(y);
    ggml_build_forward_expand(graph, y);
    return graph;
}

static void
compute(bool is_parallel, int n_computes)
{
    ggml_backend_t backends[3];
    struct ggml_context *ctx = sim_context();
    ggml_backend_sched_t sched;
    struct ggml_cgraph *graph;
    struct ggml_tensor *x;

    for (int i = 0; i < 3; i++)
        backends[i] = sim_backend(i < 2 ? i : -1);
    sched = ggml_backend_sched_new(backends, NULL, 3, 64, is_parallel);
    graph = build(ctx, sched, backends, &x);
    fprintf(stderr, "%d", ggml_backend_sched_alloc_graph(sched, graph));
    sim_fill(x, 1);
    for (int i = 0; i < n_computes; i++)
        fprintf(stderr, "%d", ggml_backend_sched_graph_compute(sched, graph));
    fprintf(stderr, " %d", ggml_backend_sched_get_n_splits(sched));
    ggml_backend_sched_free(sched);
    for (int i = 0; i < 3; i++)
        ggml_backend_free(backends[i]);
    ggml_free(ctx);
}

static void
compute_twice(void)
{
    sim_reset();
    compute(false, 2);
}

static void
compute_in_parallel(void)
{
    sim_reset();
    compute(true, 2);
}

static void
each_node_and_split_appears_once_a_compute(void **state)
{
    static const char *const processes[N_SPLITS] = { "Sim0", "Sim1", "Sim0",
                                                     "CPU" };
    json_t *events;
    int n_seen[N_NODES] = { 0 };

    (void)state;
    events_run(events_file, compute_twice, &child);
    assert_string_equal(child.errors, "100 4");
    events = events_load(events_file);
    events_assert_nested(events);
    assert_int_equal(events_count(events, "compute"), 2);
    assert_int_equal(events_count(events, "split"), 2 * N_SPLITS);
    for (size_t i = 0; i < 2 * N_SPLITS; i++) {
        const json_t *split = events_get(events, "split", i);
        char name[32];

        snprintf(name, sizeof(name), "split %d", (int)i % N_SPLITS);
        assert_string_equal(
            json_string_value(json_object_get(split, "name")), name);
        assert_string_equal(
            event_process(events, split), processes[i % N_SPLITS]);
        assert_int_equal(event_number(split, "inputs"), 1);
    }
    /* What the devices themselves told of their three splits. */
    assert_int_equal(events_count(events, "backend"), 2 * 3);
    for (size_t i = 0; i < 2 * 3; i++) {
        const json_t *run = events_get(events, "backend", i);

        assert_string_equal(
            json_string_value(json_object_get(run, "name")), "queued graph");
        assert_memory_equal(event_process(events, run), "Sim", 3);
    }
    /* The devices compute with the CPU's kernels. */
    assert_int_equal(events_count(events, "node"), 2 * N_NODES);
    for (size_t i = 0; i < 2 * N_NODES; i++) {
        const char *tensor =
            event_text(events_get(events, "node", i), "tensor");
        const int node = atoi(tensor + 1);

        assert_true(tensor[0] == 'y' && node >= 0 && node < N_NODES);
        n_seen[node]++;
    }
    for (int i = 0; i < N_NODES; i++)
        assert_int_equal(n_seen[i], 2);
    json_decref(events);
}

static void
check_copies(void (*run)(void))
{
    static const char *const from[N_SPLITS] = { "CPU", "Sim0", "Sim1", "Sim0" };
    static const char *const to[N_SPLITS] = { "Sim0", "Sim1", "Sim0", "CPU" };
    static const char *const tensors[N_SPLITS] = {
        "in \"quotes\" \\ and\nlines \xef\xbf\xbd", "y2", "y4", "y6"
    };
    json_t *events;

    events_run(events_file, run, &child);
    assert_string_equal(child.errors, "100 4");
    events = events_load(events_file);
    events_assert_nested(events);
    assert_int_equal(events_count(events, "copy"), 2 * N_SPLITS);
    for (size_t i = 0; i < 2 * N_SPLITS; i++) {
        const json_t *copy = events_get(events, "copy", i);

        assert_int_equal(event_number(copy, "bytes"), BYTES);
        assert_string_equal(event_text(copy, "from"), from[i % N_SPLITS]);
        assert_string_equal(event_text(copy, "to"), to[i % N_SPLITS]);
        assert_string_equal(event_process(events, copy), to[i % N_SPLITS]);
        if (strncmp(event_text(copy, "tensor"), tensors[i % N_SPLITS],
                    strlen(tensors[i % N_SPLITS])) != 0)
            fail_msg("%s is not %s", event_text(copy, "tensor"),
                     tensors[i % N_SPLITS]);
        assert_true(
            event_is_within(copy, events_get(events, "split", i)));
    }
    /* Some of them wait for what they read, and the end for everything. */
    assert_true(events_count(events, "wait") >= 2 * 2);
    for (size_t i = 0; i < events_count(events, "wait"); i++)
        assert_memory_equal(
            event_text(events_get(events, "wait", i), "for"), "Sim", 3);
    json_decref(events);
}

static void
copies_have_bytes_and_backends(void **state)
{
    (void)state;
    check_copies(compute_twice);
}

static void
pipelined_copies_too(void **state)
{
    (void)state;
    check_copies(compute_in_parallel);
}

static void
compute_and_fail(void)
{
    sim_reset();
    setenv("GGMLBACKEND_LOG", "none", 1);
    gb_sim_fail(GB_SIM_FAULT_COMPUTE, 2);
    compute(false, 1);
}

static void
a_compute_that_fails_shows_where(void **state)
{
    json_t *events;

    (void)state;
    events_run(events_file, compute_and_fail, &child);
    assert_string_equal(child.errors, "1-1 4");
    events = events_load(events_file);
    events_assert_nested(events);
    assert_int_equal(events_count(events, "compute"), 1);
    assert_int_equal(events_count(events, "split"), 2);
    json_decref(events);
}

/* y = w * w, w on a device that lacks the operation; and z = y * y. */
static void
compute_fallback(void)
{
    ggml_backend_t backends[] = { sim_backend(0), sim_backend(-1) };
    struct ggml_context *ctx = sim_context(), *data = sim_context();
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    struct ggml_tensor *w = ggml_new_tensor_1d(data, GGML_TYPE_F32, 8);
    ggml_backend_buffer_t buffer;
    ggml_backend_sched_t sched;

    sim_configure(0, 1, "without_ops=SQR");
    buffer = ggml_backend_alloc_ctx_tensors(data, backends[0]);
    sim_fill(w, 1);
    sched = ggml_backend_sched_new(backends, NULL, 2, 64, false);
    ggml_build_forward_expand(graph, ggml_sqr(ctx, ggml_sqr(ctx, w)));
    for (int i = 0; i < 2; i++)
        fprintf(stderr, "%d", ggml_backend_sched_graph_compute(sched, graph));
    ggml_backend_sched_free(sched);
    ggml_backend_buffer_free(buffer);
    ggml_backend_free(backends[0]);
    ggml_backend_free(backends[1]);
    ggml_free(ctx);
    ggml_free(data);
}

/* Data of a device that none of the backends is on; and a CPU alone. */
static void
compute_of_nobody(void)
{
    ggml_backend_t backends[] = { sim_backend(0), sim_backend(-1) };
    struct ggml_context *ctx = sim_context(), *data = sim_context();
    struct ggml_cgraph *graphs[2];
    struct ggml_tensor *w = ggml_new_tensor_1d(data, GGML_TYPE_F32, 8);
    ggml_backend_buffer_t buffer = ggml_backend_alloc_ctx_tensors_from_buft(
        data, ggml_backend_dev_buffer_type(sim_device(1)));

    sim_fill(w, 1);
    for (int i = 0; i < 2; i++) {
        ggml_backend_sched_t sched =
            ggml_backend_sched_new(backends + i, NULL, 2 - i, 64, false);

        graphs[i] = ggml_new_graph(ctx);
        ggml_build_forward_expand(
            graphs[i], i == 0 ? ggml_sqr(ctx, w)
                              : ggml_sqr(ctx, ggml_new_tensor_1d(
                                                  ctx, GGML_TYPE_F32, 8)));
        fprintf(stderr, "%d",
                ggml_backend_sched_graph_compute(sched, graphs[i]));
        ggml_backend_sched_free(sched);
    }
    ggml_backend_buffer_free(buffer);
    ggml_backend_free(backends[0]);
    ggml_backend_free(backends[1]);
    ggml_free(ctx);
    ggml_free(data);
}

static void
memory_of_nobody_has_its_own_name(void **state)
{
    json_t *events;

    (void)state;
    events_run(events_file, compute_of_nobody, &child);
    events = events_load(events_file);
    assert_int_equal(events_count(events, "compute"), 2);
    assert_int_equal(events_count(events, "copy"), 1);
    assert_string_equal(event_text(events_get(events, "copy", 0), "from"),
                        "Sim1");
    json_decref(events);
}

static void
what_is_computed_away_from_its_data_is_counted(void **state)
{
    json_t *events;

    (void)state;
    events_run(events_file, compute_fallback, &child);
    assert_string_equal(child.errors, "00");
    events = events_load(events_file);
    assert_int_equal(events_count(events, "compute"), 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(event_number(events_get(events, "compute", i),
                                      "fallback_copies"), 1);
    json_decref(events);
    events_run(events_file, compute_twice, &child);
    events = events_load(events_file);
    assert_int_equal(
        event_number(events_get(events, "compute", 0), "fallback_copies"), 0);
    json_decref(events);
}

/* ---- the drawing ---- */

static void
draw_of(void (*run)(void), const char *to, struct gb_child *out)
{
    setenv("GGMLBACKEND_SCHED_DOT", to, 1);
    gb_child_run(run, out);
    unsetenv("GGMLBACKEND_SCHED_DOT");
}

static void
draw(const char *to, struct gb_child *out)
{
    draw_of(compute_twice, to, out);
}

static void
read_drawing(char *text, size_t size)
{
    FILE *file = fopen(events_file, "r");
    size_t n;

    assert_non_null(file);
    n = fread(text, 1, size - 1, file);
    text[n] = '\0';
    fclose(file);
}

static void
a_drawing_has_splits_and_copies(void **state)
{
    static const char *const parts[] = {
        "digraph ggml {\n",
        "b0 [fillcolor=\"/set312/1\", label=\"Sim0\"];\n",
        "b2 [fillcolor=\"/set312/3\", label=\"CPU\"];\n",
        "s0 [fillcolor=\"/set312/1\", label=\"split 0 on Sim0\\n"
        "3 nodes, 1536 bytes\\nSCALE y0 f32 [8, 16]\\l",
        "s1 [fillcolor=\"/set312/2\", label=\"split 1 on Sim1",
        "s3 [fillcolor=\"/set312/3\", label=\"split 3 on CPU",
        "label=\"in \\\"quotes\\\" \\\\ and lines \xef\xbf\xbd "
        "f32 [8, 16]\"];\n",
        " -> s0 [label=\"in \\\"quotes\\\" \\\\ and lines \xef\xbf\xbd "
        "f32 [8, 16]\\n512 bytes\"];\n",
        "  s0 -> s1 [label=\"y2 f32 [8, 16]\\n512 bytes\"];\n",
        "  s2 -> s3 [label=\"y6 f32 [16, 8]\\n512 bytes\"];\n}\n",
    };
    char text[16384];

    (void)state;
    draw(events_file, &child);
    assert_string_equal(child.errors, "100 4");
    read_drawing(text, sizeof(text));
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (strstr(text, parts[i]) == NULL)
            fail_msg("%s is missing in %s", parts[i], text);
    }
}

static void
compute_alone(void)
{
    ggml_backend_t backend = sim_backend(-1);
    struct ggml_context *ctx = sim_context();
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 8);
    ggml_backend_sched_t sched =
        ggml_backend_sched_new(&backend, NULL, 1, 64, false);

    ggml_build_forward_expand(graph,
                              ggml_set_name(ggml_sqr(ctx, x), "square"));
    fprintf(stderr, "%d", ggml_backend_sched_alloc_graph(sched, graph));
    ggml_backend_sched_free(sched);
    ggml_backend_free(backend);
    ggml_free(ctx);
}

static void
a_graph_on_one_backend_is_drawn_as_one_split(void **state)
{
    char text[4096];

    (void)state;
    draw_of(compute_alone, events_file, &child);
    assert_string_equal(child.errors, "1");
    read_drawing(text, sizeof(text));
    assert_non_null(strstr(text, "label=\"split 0 on CPU\\n1 node, 32 bytes"
                                 "\\nSQR square f32 [8]\\l\"];\n"));
    assert_null(strstr(text, "split 1"));
}

static void
a_drawing_that_cannot_be_written_stops_nothing(void **state)
{
    (void)state;
    draw("no such folder/splits.dot", &child);
    assert_non_null(strstr(child.errors, "splits.dot was not written: "));
    assert_non_null(strstr(child.errors, "100 4"));
    draw("/dev/full", &child);
    assert_non_null(strstr(child.errors, "/dev/full was not written: "));
    assert_non_null(strstr(child.errors, "100 4"));
}

int
main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, events_begin, events_end)
    /* All run in children: this process's environment stays unread. */
    static const struct CMUnitTest tests[] = {
        TEST(each_node_and_split_appears_once_a_compute),
        TEST(copies_have_bytes_and_backends),
        TEST(pipelined_copies_too),
        TEST(a_compute_that_fails_shows_where),
        TEST(memory_of_nobody_has_its_own_name),
        TEST(what_is_computed_away_from_its_data_is_counted),
        TEST(a_drawing_has_splits_and_copies),
        TEST(a_graph_on_one_backend_is_drawn_as_one_split),
        TEST(a_drawing_that_cannot_be_written_stops_nothing),
    };
#undef TEST

    return cmocka_run_group_tests_name("a scheduler's timeline", tests, NULL,
                                       NULL);
}
