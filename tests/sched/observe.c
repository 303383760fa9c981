/* SPDX-License-Identifier: MIT */
/*
 * tests/sched/observe.c - a client that looks at nodes while they are computed,
 * and what it may do meanwhile.
 */
#include "tests/sched/rig.h"
#include "tests/util/sink.h"

#include "ggml-cpu.h"
#include "ggmlbackend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct seen {
    const char *wanted; /* letters of the nodes to look at */
    const char *last;   /* of those after which enough was seen */
    char asked[32];     /* the nodes' letters, in the order of the calls */
    char shown[32];
    float values[32];   /* first elements of those */
};

static bool
observe(struct ggml_tensor *t, bool ask, void *data)
{
    struct seen *seen = data;
    const char letter = t->name[0];
    size_t n;

    if (ask) {
        seen->asked[strlen(seen->asked)] = letter;
        return strchr(seen->wanted, letter) != NULL;
    }
    n = strlen(seen->shown);
    seen->shown[n] = letter;
    ggml_backend_tensor_get(t, &seen->values[n], 0, sizeof(float));
    return strchr(seen->last, letter) == NULL;
}

/* a b on the device, c d on the CPU, e f on the device: each one more. */
static struct ggml_tensor *
build(struct rig *rig, struct ggml_tensor **x)
{
    static const char *const names[] = { "a", "b", "c", "d", "e", "f" };
    struct ggml_tensor *one = rig_input(rig, 1), *y = one;

    for (int i = 0; i < 6; i++) {
        y = rig_choose(rig, ggml_add(rig->ctx, y, one), i / 2 % 2);
        ggml_set_name(y, names[i]);
    }
    rig_expand(rig, y);
    rig_alloc(rig);
    rig_set(one, 1);
    *x = one;
    return y;
}

static struct seen
look(const char *wanted, const char *last, float expected)
{
    struct seen seen = { .wanted = wanted, .last = last };
    struct rig rig;
    struct ggml_tensor *x, *y;

    sim_reset();
    rig_open(&rig, 1, false);
    y = build(&rig, &x);
    assert_int_equal(ggml_backend_sched_get_n_splits(rig.sched), 3);
    ggml_backend_sched_set_eval_callback(rig.sched, observe, &seen);
    rig_compute(&rig);
    if (expected > 0)
        rig_expect(y, expected);

    /* And without. */
    ggml_backend_sched_set_eval_callback(rig.sched, NULL, NULL);
    rig_set(x, 1);
    rig_compute(&rig);
    rig_expect(y, 7);
    rig_close(&rig);
    return seen;
}

static void
each_node_is_asked_about_and_nothing_shown_unasked(void **state)
{
    const struct seen seen = look("", "", 7);

    (void)state;
    assert_string_equal(seen.asked, "abcdef");
    assert_string_equal(seen.shown, "");
}

static void
what_is_wanted_is_shown_when_it_is_computed(void **state)
{
    const struct seen seen = look("acf", "", 7);

    (void)state;
    assert_string_equal(seen.asked, "abcdef");
    assert_string_equal(seen.shown, "acf");
    assert_true(seen.values[0] == 2 && seen.values[1] == 4 &&
                seen.values[2] == 7);
}

static void
all_can_be_seen(void **state)
{
    const struct seen seen = look("abcdef", "", 7);

    (void)state;
    assert_string_equal(seen.shown, "abcdef");
    for (int i = 0; i < 6; i++)
        assert_true(seen.values[i] == (float)(i + 2));
}

static void
enough_ends_the_split_and_no_other(void **state)
{
    const struct seen seen = look("ae", "a", 0);

    (void)state;
    /* b is left out; the later splits run. */
    assert_string_equal(seen.asked, "acdef");
    assert_string_equal(seen.shown, "ae");
}

static void
views_are_asked_about_too(void **state)
{
    struct seen seen = { .wanted = "", .last = "" };
    struct rig rig;
    struct ggml_tensor *x, *v, *y;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, false);
    x = rig_input(&rig, 4);
    v = ggml_reshape_2d(rig.ctx, x, 2, 2);
    ggml_set_name(v, "v");
    y = ggml_sqr(rig.ctx, v);
    ggml_set_name(y, "y");
    rig_expand(&rig, y);
    rig_alloc(&rig);
    rig_set(x, 2);
    ggml_backend_sched_set_eval_callback(rig.sched, observe, &seen);
    rig_compute(&rig);
    assert_string_equal(seen.asked, "vy");
    rig_expect(y, 4);
    rig_close(&rig);
}

static void
a_failure_ends_the_observed_compute(void **state)
{
    struct seen seen = { .wanted = "abcdef", .last = "" };
    struct rig rig;
    struct ggml_tensor *x;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, false);
    build(&rig, &x);
    ggml_backend_sched_set_eval_callback(rig.sched, observe, &seen);
    gb_sim_fail(GB_SIM_FAULT_COMPUTE, 2);
    assert_int_equal(ggml_backend_sched_graph_compute(rig.sched, rig.graph),
                     GGML_STATUS_FAILED);
    assert_string_equal(seen.shown, "a");
    rig_close(&rig);
}

/* A client that takes its callback away, or puts another one in its place. */
struct fickle {
    ggml_backend_sched_t sched;
    const char *leaves;  /* letters of the nodes at which it goes */
    bool leaves_asked;   /* when it is asked about them, or shown them */
    struct seen *next;   /* whoever comes then; NULL for nobody */
    char shown[32];
};

static bool
observe_and_leave(struct ggml_tensor *t, bool ask, void *data)
{
    struct fickle *fickle = data;

    if (!ask)
        fickle->shown[strlen(fickle->shown)] = t->name[0];
    if (ask == fickle->leaves_asked &&
        strchr(fickle->leaves, t->name[0]) != NULL)
        ggml_backend_sched_set_eval_callback(
            fickle->sched, fickle->next != NULL ? observe : NULL,
            fickle->next);
    return true;
}

static void
check_fickle(struct fickle *fickle)
{
    struct rig rig;
    struct ggml_tensor *x, *y;

    sim_reset();
    rig_open(&rig, 1, false);
    y = build(&rig, &x);
    fickle->sched = rig.sched;
    ggml_backend_sched_set_eval_callback(rig.sched, observe_and_leave, fickle);
    rig_compute(&rig);
    rig_expect(y, 7);
    rig_close(&rig);
}

/* A callback that is asked, and changes what it is called with. */
struct twice {
    ggml_backend_sched_t sched;
    struct twice *other;
    int n_shown;
};

static bool
observe_as_other(struct ggml_tensor *t, bool ask, void *data)
{
    struct twice *twice = data;

    (void)t;
    if (ask && twice->other != NULL)
        ggml_backend_sched_set_eval_callback(twice->sched, observe_as_other,
                                             twice->other);
    twice->n_shown += !ask;
    return true;
}

/* Nobody is shown the node of which somebody else was asked. */
static void
the_same_callback_with_other_data_is_another(void **state)
{
    struct twice second = { NULL, NULL, 0 }, first = { NULL, &second, 0 };
    struct ggml_tensor *x, *y;
    struct rig rig;
    int n_nodes;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, false);
    y = build(&rig, &x);
    n_nodes = ggml_graph_n_nodes(rig.graph);
    first.sched = rig.sched;
    ggml_backend_sched_set_eval_callback(rig.sched, observe_as_other, &first);
    rig_compute(&rig);
    rig_expect(y, 7);
    assert_int_equal(first.n_shown, 0);
    assert_int_equal(second.n_shown, n_nodes - 1);
    rig_close(&rig);
}

static void
a_callback_may_take_itself_away(void **state)
{
    static const struct {
        const char *leaves;
        bool leaves_asked;
        const char *shown;
    } cases[] = {
        { "a", true, "" },   { "b", true, "a" },  { "f", true, "abcde" },
        { "a", false, "a" }, { "b", false, "ab" }, { "d", false, "abcd" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fickle fickle = { .leaves = cases[i].leaves,
                                 .leaves_asked = cases[i].leaves_asked };

        check_fickle(&fickle);
        assert_string_equal(fickle.shown, cases[i].shown);
    }
}

static void
nobody_is_shown_what_another_one_asked_for(void **state)
{
    (void)state;
    for (int leaves_asked = 0; leaves_asked < 2; leaves_asked++) {
        struct seen next = { .wanted = "cf", .last = "" };
        struct fickle fickle = { .leaves = "b",
                                 .leaves_asked = leaves_asked != 0,
                                 .next = &next };

        check_fickle(&fickle);
        assert_string_equal(fickle.shown, leaves_asked != 0 ? "a" : "ab");
        assert_string_equal(next.asked, "cdef");
        assert_string_equal(next.shown, "cf");
    }
}

/* What an observer tries; N_REFUSED of it was. */
struct meddler {
    struct rig *rig;
    struct ggml_cgraph *own;
    struct ggml_tensor *own_y;
    int n_calls, n_refused, n_right;
};

static void
count_refusal(struct meddler *meddler, bool is_refused)
{
    meddler->n_refused +=
        is_refused && strstr(ggmlbackend_last_failure(), "at work") != NULL;
    ggmlbackend_clear_failure();
}

static bool
meddle(struct ggml_tensor *t, bool ask, void *data)
{
    struct meddler *meddler = data;
    struct rig *rig = meddler->rig;
    struct gb_sink sink;

    (void)ask;
    meddler->n_calls++;
    gb_sink_begin(&sink);
    count_refusal(meddler, ggml_backend_sched_graph_compute(
                               rig->sched, rig->graph) == GGML_STATUS_FAILED);
    count_refusal(meddler, ggml_backend_sched_graph_compute_async(
                               rig->sched, rig->graph) == GGML_STATUS_FAILED);
    count_refusal(meddler,
                  !ggml_backend_sched_alloc_graph(rig->sched, rig->graph));
    count_refusal(meddler, !ggml_backend_sched_reserve(rig->sched, rig->graph));
    ggml_backend_sched_reset(rig->sched);
    count_refusal(meddler, true);
    ggml_backend_sched_set_tensor_backend(rig->sched, t, rig->backends[1]);
    count_refusal(meddler, true);
    ggml_backend_sched_free(rig->sched);
    count_refusal(meddler, true);
    gb_sink_end();

    /* Its backends have nothing to do in the meantime. */
    ggml_backend_sched_synchronize(rig->sched);
    meddler->n_right += ggml_backend_graph_compute(
                            rig->backends[1], meddler->own) ==
                            GGML_STATUS_SUCCESS &&
                        ggml_get_f32_1d(meddler->own_y, 3) == 0.25f;
    return true;
}

static void
an_observer_may_use_the_backends_but_not_the_scheduler(void **state)
{
    struct ggml_context *ctx =
        ggml_init((struct ggml_init_params){ .mem_size = 1 << 20 });
    struct meddler meddler = { .own = ggml_new_graph(ctx) };
    struct rig rig;
    struct ggml_tensor *x, *y;

    (void)state;
    meddler.own_y = ggml_soft_max(
        ctx, ggml_set_f32(ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4), 1.0f));
    ggml_build_forward_expand(meddler.own, meddler.own_y);
    sim_reset();
    rig_open(&rig, 1, false);
    y = build(&rig, &x);
    meddler.rig = &rig;
    ggml_backend_sched_set_eval_callback(rig.sched, meddle, &meddler);
    for (int round = 0; round < 2; round++) {
        rig_set(x, 1);
        rig_compute(&rig);
        rig_expect(y, 7);
    }
    assert_int_equal(meddler.n_calls, 2 * 12);
    assert_int_equal(meddler.n_refused, 7 * meddler.n_calls);
    assert_int_equal(meddler.n_right, meddler.n_calls);
    rig_close(&rig);
    ggml_free(ctx);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_node_is_asked_about_and_nothing_shown_unasked),
        cmocka_unit_test(what_is_wanted_is_shown_when_it_is_computed),
        cmocka_unit_test(all_can_be_seen),
        cmocka_unit_test(enough_ends_the_split_and_no_other),
        cmocka_unit_test(views_are_asked_about_too),
        cmocka_unit_test(a_failure_ends_the_observed_compute),
        cmocka_unit_test(the_same_callback_with_other_data_is_another),
        cmocka_unit_test(a_callback_may_take_itself_away),
        cmocka_unit_test(nobody_is_shown_what_another_one_asked_for),
        cmocka_unit_test(
            an_observer_may_use_the_backends_but_not_the_scheduler),
    };

    return cmocka_run_group_tests_name("observers", tests, NULL, NULL);
}
