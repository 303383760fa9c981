/* SPDX-License-Identifier: MIT */
/*
 * tests/sched/print.c - what a scheduler tells of its splits; each case in a
 * process of its own, since the environment is read once.
 */
#include "tests/sched/rig.h"
#include "tests/util/child.h"
#include "tests/util/sink.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct gb_child child;

/* Allocate a graph of two splits; the log is what the child says. */
static void
split_something(void)
{
    static struct gb_sink sink;
    struct rig rig;
    struct ggml_tensor *x, *v, *y;

    sim_reset();
    rig_open(&rig, 1, false);
    x = rig_input(&rig, 4);
    ggml_set_name(x, "in");
    v = ggml_reshape_2d(rig.ctx, x, 2, 2);
    ggml_set_name(v, "view");
    y = rig_choose(&rig, ggml_sqr(rig.ctx, v), 1);
    ggml_set_name(y, "middle");
    y->src[2] = x; /* behind a place without a source */
    y = rig_choose(&rig, ggml_add(rig.ctx, y, v), 0);
    ggml_set_name(y, "out");
    rig_expand(&rig, y);
    gb_sink_begin(&sink);
    rig_alloc(&rig);
    gb_sink_end();
    rig_close(&rig);
    fputs(sink.text, stderr);
}

static void
ask(const char *level)
{
    if (level != NULL)
        setenv("GGML_SCHED_DEBUG", level, 1);
    else
        unsetenv("GGML_SCHED_DEBUG");
    gb_child_run(split_something, &child);
    assert_true(child.is_done);
}

static void
nothing_is_told_unasked(void **state)
{
    (void)state;
    ask(NULL);
    assert_string_equal(child.errors, "");
    ask("0");
    assert_string_equal(child.errors, "");
}

static void
level_1_tells_the_splits_and_their_inputs(void **state)
{
    (void)state;
    ask("1");
    assert_string_equal(child.errors,
                        "sched: split 0 on CPU, 2 nodes, 0 inputs\n"
                        "sched: split 1 on Sim0, 1 nodes, 2 inputs\n"
                        "sched:   input middle, 16 bytes, of CPU\n"
                        "sched:   input view, 16 bytes, of CPU\n");
}

static void
level_2_tells_the_nodes_too(void **state)
{
    (void)state;
    ask("2");
    assert_non_null(strstr(
        child.errors, "sched:   node out, ADD, 16 bytes, on Sim0; "
                      "middle, 16 bytes, of CPU; view, 16 bytes, of CPU\n"));
    assert_non_null(strstr(
        child.errors, "sched:   node middle, SQR, 16 bytes, on CPU; "
                      "view, 16 bytes, of CPU; in, 16 bytes, of CPU\n"));
    assert_null(strstr(child.errors, "node view"));
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_told_unasked),
        cmocka_unit_test(level_1_tells_the_splits_and_their_inputs),
        cmocka_unit_test(level_2_tells_the_nodes_too),
    };

    return cmocka_run_group_tests_name("debug output", tests, NULL, NULL);
}
