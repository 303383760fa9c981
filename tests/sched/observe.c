/* SPDX-License-Identifier: MIT */
/*
 * tests/sched/observe.c - a client that looks at nodes while they are computed.
 */
#include "tests/sched/rig.h"

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
    };

    return cmocka_run_group_tests_name("observers", tests, NULL, NULL);
}
