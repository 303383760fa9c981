/* SPDX-License-Identifier: MIT */
/*
 * tests/sched/cuts.c - a model cut anywhere, over two and over four devices and
 * the CPU, gives the bits that the CPU gives alone.
 */
#include "config.h"

#include "tests/sched/model.h"
#include "tests/sim/sim.h"

#include "ggml-cpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MAX_BACKENDS 5
#define TEXTS        9 /* so that copies of inputs are used a third time */

static float expected[TEXTS][MODEL_LOGITS];

struct setup {
    ggml_backend_t backends[MAX_BACKENDS]; /* devices, and the CPU behind */
    int n_backends;
    struct model model;
    ggml_backend_sched_t sched;
    char what[100]; /* for messages */
};

/* The backend of node I, of which the cut is before node CUT. */
typedef int (*place_fn)(const struct setup *s, const struct model_graph *g,
                        int i, int cut);

static int
compute_expected(void **state)
{
    ggml_backend_t cpu = ggml_backend_cpu_init();

    (void)state;
    for (int text = 0; text < TEXTS; text++)
        model_reference(cpu, text, expected[text]);
    ggml_backend_free(cpu);
    return 0;
}

/*
 * DELAY is a setting of all devices; but where they are MIXED, the first one is
 * always on time.
 */
static void
open_setup(struct setup *s, int n_devices, bool parallel, const char *delay,
           bool mixed)
{
    sim_reset();
    assert_true(sim_configure(0, n_devices, delay));
    if (mixed)
        assert_true(sim_configure(0, 1, "delay=0"));
    for (int i = 0; i < n_devices; i++)
        s->backends[i] = sim_backend(i);
    s->backends[n_devices] = ggml_backend_cpu_init();
    s->n_backends = n_devices + 1;
    assert_true(model_new(&s->model, s->backends[n_devices], s->backends,
                          n_devices));
    s->sched = ggml_backend_sched_new(s->backends, NULL, s->n_backends, 256,
                                      parallel);
    assert_non_null(s->sched);
}

static void
close_setup(struct setup *s)
{
    ggml_backend_sched_free(s->sched);
    model_free(&s->model);
    for (int i = 0; i < s->n_backends; i++)
        ggml_backend_free(s->backends[i]);
    assert_true(sim_is_clean());
}

/*
 * Queue the model for a text, with its output to OUT.  The graph is gone
 * afterwards, whatever is still to be done of it.
 */
static void
queue_text(struct setup *s, place_fn place, int cut, int text, float *out)
{
    struct model_graph g;

    assert_true(model_build(&s->model, &g));
    ggml_backend_sched_reset(s->sched);
    for (int i = 0; place != NULL && i < ggml_graph_n_nodes(g.graph); i++)
        ggml_backend_sched_set_tensor_backend(
            s->sched, ggml_graph_node(g.graph, i),
            s->backends[place(s, &g, i, cut)]);
    assert_true(ggml_backend_sched_alloc_graph(s->sched, g.graph));
    model_set_inputs(&g, text);
    assert_int_equal(ggml_backend_sched_graph_compute_async(s->sched, g.graph),
                     GGML_STATUS_SUCCESS);
    ggml_backend_tensor_get_async(
        ggml_backend_sched_get_tensor_backend(s->sched, g.logits), g.logits,
        out, 0, MODEL_LOGITS * sizeof(*out));
    ggml_backend_sched_reset(s->sched);
    model_graph_free(&g);
}

/* All texts, without a wait between them where the scheduler is parallel. */
static void
check_cut(struct setup *s, place_fn place, int cut, bool parallel)
{
    static float out[TEXTS][MODEL_LOGITS];
    const int n = parallel ? TEXTS : 1;

    memset(out, 0, sizeof(out));
    for (int text = 0; text < n; text++)
        queue_text(s, place, cut, text, out[text]);
    ggml_backend_sched_synchronize(s->sched);
    for (int text = 0; text < n; text++) {
        if (memcmp(out[text], expected[text], sizeof(out[text])) != 0)
            fail_msg("%s, cut %d, text %d", s->what, cut, text);
    }
}

/*
 * One cut, or all of them, with late and with hasty devices; mixed ones find
 * most, and the others are left to one cut.
 */
static void
check_cuts(const char *name, place_fn place, bool all)
{
    static const struct {
        const char *delay;
        bool mixed;
    } speeds[] = { { "delay=never", true }, { "delay=never", false },
                   { "delay=0", false }, { "delay=20", true } };

    for (int n_devices = 2; n_devices <= 4; n_devices += 2) {
        for (int parallel = 0; parallel < 2; parallel++) {
            /* Without pipelining a wait follows each text: speed is all one. */
            for (int i = 0; i < (parallel && !all ? 4 : 1); i++) {
                struct setup s;
                struct model_graph g;
                int n_cuts = 1;

                snprintf(s.what, sizeof(s.what), "%s, %d devices, %s, speed %d",
                         name, n_devices,
                         parallel ? "parallel" : "one by one", i);
                open_setup(&s, n_devices, parallel, speeds[i].delay,
                           speeds[i].mixed);
                if (all && model_build(&s.model, &g)) {
                    n_cuts = ggml_graph_n_nodes(g.graph) + 1;
                    model_graph_free(&g);
                }
                for (int cut = 0; cut < n_cuts; cut++)
                    check_cut(&s, place, cut, parallel);
                close_setup(&s);
            }
        }
    }
}

static int
before_and_after(const struct setup *s, const struct model_graph *g, int i,
                 int cut)
{
    (void)g;
    return (cut + (i >= cut)) % s->n_backends;
}

static void
cut_before_any_node_the_bits_are_the_same(void **state)
{
    (void)state;
    check_cuts("before a node", before_and_after, true);
}

static int
by_layer(const struct setup *s, const struct model_graph *g, int i, int cut)
{
    int layer = 0;

    (void)cut;
    if (i == 0) /* words, on the CPU */
        return s->n_backends - 1;
    while (layer < MODEL_LAYERS - 1 && i >= g->end_of[layer])
        layer++;
    return layer % (s->n_backends - 1);
}

static void
cut_after_every_layer_the_bits_are_the_same(void **state)
{
    (void)state;
    check_cuts("after every layer", by_layer, false);
}

static int
one_by_one(const struct setup *s, const struct model_graph *g, int i, int cut)
{
    (void)g;
    (void)cut;
    return i % s->n_backends;
}

static void
cut_before_every_node_the_bits_are_the_same(void **state)
{
    (void)state;
    check_cuts("before every node", one_by_one, false);
}

static void
left_to_the_scheduler_the_bits_are_the_same(void **state)
{
    (void)state;
    check_cuts("by weights", NULL, false);
}

/*
 * Nothing is waited for while graph after graph is queued, but that the copies
 * of inputs are free again: the oldest graph with the same copies.
 */
static void
texts_are_queued_without_waiting(void **state)
{
    static float out[TEXTS][MODEL_LOGITS];
    struct gb_sim_counters before, after;
    struct setup s;

    (void)state;
    open_setup(&s, 2, true, "delay=never", false);
    queue_text(&s, by_layer, 0, 0, out[0]); /* plans, and makes buffers */
    gb_sim_count(&before);
    for (int text = 1; text < TEXTS; text++) {
        queue_text(&s, by_layer, 0, text, out[text]);
        gb_sim_count(&after);
        assert_int_equal(after.synchronize, before.synchronize);
    }
    assert_memory_not_equal(out[TEXTS - 1], expected[TEXTS - 1],
                            sizeof(out[0]));
    ggml_backend_sched_synchronize(s.sched);
    assert_memory_equal(out, expected, sizeof(out));
    close_setup(&s);
}

/* Turns begin anew where something was planned for another graph. */
static void
reserving_between_texts_changes_nothing(void **state)
{
    static float out[TEXTS][MODEL_LOGITS];
    struct model_graph g;
    struct setup s;

    (void)state;
    open_setup(&s, 2, true, "delay=never", true);
    for (int text = 0; text < TEXTS; text++) {
        assert_true(model_build(&s.model, &g));
        assert_true(ggml_backend_sched_reserve(s.sched, g.graph));
        assert_null(g.ids->data);
        assert_null(g.mask->buffer);
        assert_null(g.logits->data);
        model_graph_free(&g);
        queue_text(&s, by_layer, 0, text, out[text]);
    }
    ggml_backend_sched_synchronize(s.sched);
    assert_memory_equal(out, expected, sizeof(out));
    close_setup(&s);
}

/*
 * The largest weight has just that.  Cut before every node, a pipeline has
 * copies of most of them.
 */
#define SMALL "max_buffer=8K"

static void
with_small_buffers_the_bits_are_the_same(void **state)
{
    static const place_fn places[] = { NULL, by_layer, one_by_one };

    (void)state;
    for (int i = 0; i < 2 * 2 * 3; i++) {
        const int n_devices = i % 2 == 0 ? 2 : 4, parallel = i / 2 % 2;
        const place_fn place = places[i / 4];
        struct setup s;

        snprintf(s.what, sizeof(s.what), "small buffers, case %d", i);
        open_setup(&s, n_devices, parallel, "delay=never", true);
        /* The weights have their buffers already. */
        assert_true(sim_configure(0, n_devices, SMALL));
        for (int round = 0; round < 2; round++)
            check_cut(&s, place, 0, parallel);
        if (place == one_by_one && parallel)
            assert_true(ggml_backend_sched_get_buffer_size(
                            s.sched, s.backends[0]) > 8 << 10);
        close_setup(&s);
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(left_to_the_scheduler_the_bits_are_the_same),
        cmocka_unit_test(cut_after_every_layer_the_bits_are_the_same),
        cmocka_unit_test(cut_before_every_node_the_bits_are_the_same),
        cmocka_unit_test(cut_before_any_node_the_bits_are_the_same),
        cmocka_unit_test(with_small_buffers_the_bits_are_the_same),
        cmocka_unit_test(texts_are_queued_without_waiting),
        cmocka_unit_test(reserving_between_texts_changes_nothing),
    };

    return cmocka_run_group_tests_name("cuts", tests, compute_expected, NULL);
}
