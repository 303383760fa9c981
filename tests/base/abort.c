/* SPDX-License-Identifier: MIT */
/*
 * tests/base/abort.c - broken preconditions, and what ends a process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/base/status.h"

#include "ggmlbackend.h"

#include "tests/util/child.h"
#include "tests/util/sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gb_child child;
static struct gb_sink sink;

static void
keep_reason(const char *reason, void *user_data)
{
    snprintf(user_data, GB_REASON_SIZE, "%s", reason);
}

/* A hook may set another; here it takes itself away. */
static void
leave(const char *reason, void *user_data)
{
    (void)reason;
    ++*(int *)user_data;
    ggmlbackend_set_precondition_hook(NULL, NULL);
}

static int
asked(bool cond)
{
    GB_NEED_OR(-1, cond, "answer: %d is wrong", 41);
    return 42;
}

static void
the_call_goes_on_as_its_contract_says(void **state)
{
    (void)state;
    gb_sink_begin(&sink);
    assert_int_equal(asked(true), 42);
    assert_int_equal(sink.n, 0);
    assert_int_equal(asked(false), -1);
    gb_sink_end();
    assert_string_equal(sink.text, "answer: 41 is wrong\n");
    assert_string_equal(ggmlbackend_last_failure(), "answer: 41 is wrong");
}

static void
the_hook_hears_the_reason(void **state)
{
    char reason[GB_REASON_SIZE] = "";

    (void)state;
    gb_sink_begin(&sink);
    ggmlbackend_set_precondition_hook(keep_reason, reason);
    assert_int_equal(asked(false), -1);
    ggmlbackend_set_precondition_hook(NULL, NULL);
    gb_sink_end();
    assert_string_equal(reason, "answer: 41 is wrong");
}

static void
a_hook_may_set_another(void **state)
{
    int n_calls = 0;

    (void)state;
    gb_sink_begin(&sink);
    ggmlbackend_set_precondition_hook(leave, &n_calls);
    asked(false);
    asked(false);
    gb_sink_end();
    assert_int_equal(n_calls, 1);
}

static void
break_one_strictly(void)
{
    setenv("GGMLBACKEND_STRICT", "1", 1);
    asked(false);
}

static void
strict_stops_at_the_check(void **state)
{
    (void)state;
    gb_child_run(break_one_strictly, &child);
    assert_true(child.is_aborted);
    assert_string_equal(child.errors, "answer: 41 is wrong\n");
}

static void
break_one_with_a_hook(void)
{
    char reason[GB_REASON_SIZE] = "";

    ggmlbackend_set_precondition_hook(keep_reason, reason);
    break_one_strictly();
}

static void
a_hosts_hook_stands_in_for_strict(void **state)
{
    (void)state;
    gb_child_run(break_one_with_a_hook, &child);
    assert_true(child.is_done);
}

static void
end_it(void)
{
    printf("# said before\n");
    ggml_abort("client.c", 12, "%s and %d", "this", 3);
}

static void
abort_says_where_and_why(void **state)
{
    (void)state;
    gb_child_run(end_it, &child);
    assert_true(child.is_aborted);
    assert_string_equal(child.errors, "client.c:12: this and 3\n");
}

static void
assert_something(void)
{
    const int n = 1;

    GGML_ASSERT(n == 1);
    GGML_ASSERT(n == 2);
}

static void
a_clients_assertion_quotes_itself(void **state)
{
    (void)state;
    gb_child_run(assert_something, &child);
    assert_true(child.is_aborted);
    assert_non_null(strstr(child.errors, "GGML_ASSERT(n == 2) failed\n"));
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        /* In children that read the environment before this process does. */
        cmocka_unit_test(strict_stops_at_the_check),
        cmocka_unit_test(a_hosts_hook_stands_in_for_strict),
        cmocka_unit_test(the_call_goes_on_as_its_contract_says),
        cmocka_unit_test(the_hook_hears_the_reason),
        cmocka_unit_test(a_hook_may_set_another),
        cmocka_unit_test(abort_says_where_and_why),
        cmocka_unit_test(a_clients_assertion_quotes_itself),
    };

    return cmocka_run_group_tests_name("ending", tests, NULL, NULL);
}
