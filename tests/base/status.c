/* SPDX-License-Identifier: MIT */
/*
 * tests/base/status.c - a thread's last failure, and the names of statuses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/base/status.h"

#include "ggmlbackend.h"

#include "tests/util/sink.h"

#include <pthread.h>
#include <string.h>

static struct gb_sink sink;

static int
begin(void **state)
{
    (void)state;
    gb_sink_begin(&sink);
    gb_clear_failure();
    return 0;
}

static int
end(void **state)
{
    (void)state;
    gb_sink_end();
    return 0;
}

static void
a_failure_is_logged_kept_and_given_back(void **state)
{
    (void)state;
    assert_string_equal(ggmlbackend_last_failure(), "");
    assert_int_equal(gb_fail(GGML_STATUS_ALLOC_FAILED, "file %d: bad", 3),
                     GGML_STATUS_ALLOC_FAILED);
    assert_string_equal(ggmlbackend_last_failure(), "file 3: bad");
    assert_string_equal(sink.text, "file 3: bad\n");
    assert_int_equal(sink.n, 1);
    assert_int_equal(sink.level, GGML_LOG_LEVEL_ERROR);
    ggmlbackend_clear_failure();
    assert_string_equal(ggmlbackend_last_failure(), "");
}

static void
a_backend_fails_like_the_library(void **state)
{
    const uint64_t before = gb_failure_count();

    (void)state;
    assert_int_equal(ggmlbackend_fail(GGML_STATUS_FAILED, "gpu %d: gone", 1),
                     GGML_STATUS_FAILED);
    assert_string_equal(ggmlbackend_last_failure(), "gpu 1: gone");
    assert_string_equal(sink.text, "gpu 1: gone\n");
    ggmlbackend_clear_failure();
    assert_int_equal(gb_failure_count(), before + 1);
}

static void
a_reason_may_quote_the_one_before(void **state)
{
    (void)state;
    gb_fail(GGML_STATUS_FAILED, "first");
    gb_fail(GGML_STATUS_FAILED, "second, after %s", gb_last_failure());
    assert_string_equal(gb_last_failure(), "second, after first");
}

static void
a_reason_that_is_too_long_is_cut(void **state)
{
    (void)state;
    gb_fail(GGML_STATUS_FAILED, "%*s", 5000, "x");
    assert_int_equal(strlen(gb_last_failure()), GB_REASON_SIZE - 1);
}

static void
a_reason_does_not_act_on_a_terminal(void **state)
{
    (void)state;
    gb_fail(GGML_STATUS_FAILED, "key '%s'", "\x1b]0;title\x07\n");
    assert_string_equal(gb_last_failure(), "key '\\x1b]0;title\\x07\\n'");
}

static void *
fail_there(void *data)
{
    char *seen = data;

    strcpy(seen, gb_last_failure());
    gb_fail(GGML_STATUS_FAILED, "there");
    strcat(seen, gb_last_failure());
    return NULL;
}

static void
each_thread_has_its_own_failure(void **state)
{
    char seen[2 * GB_REASON_SIZE] = "";
    pthread_t thread;

    (void)state;
    gb_fail(GGML_STATUS_FAILED, "here");
    assert_int_equal(pthread_create(&thread, NULL, fail_there, seen), 0);
    pthread_join(thread, NULL);
    assert_string_equal(seen, "there");
    assert_string_equal(gb_last_failure(), "here");
}

static enum ggml_status
try_it(enum ggml_status status, bool *went_on)
{
    GB_TRY(status);
    *went_on = true;
    return GGML_STATUS_SUCCESS;
}

static void
try_hands_on_all_but_success(void **state)
{
    bool went_on = false;

    (void)state;
    assert_int_equal(try_it(GGML_STATUS_ABORTED, &went_on),
                     GGML_STATUS_ABORTED);
    assert_false(went_on);
    assert_int_equal(try_it(GGML_STATUS_SUCCESS, &went_on),
                     GGML_STATUS_SUCCESS);
    assert_true(went_on);
}

static void
each_status_has_its_published_text(void **state)
{
    (void)state;
    assert_string_equal(ggml_status_to_string(GGML_STATUS_ALLOC_FAILED),
                        "GGML status: error (failed to allocate memory)");
    assert_string_equal(ggml_status_to_string(GGML_STATUS_FAILED),
                        "GGML status: error (operation failed)");
    assert_string_equal(ggml_status_to_string(GGML_STATUS_SUCCESS),
                        "GGML status: success");
    assert_string_equal(ggml_status_to_string(GGML_STATUS_ABORTED),
                        "GGML status: warning (operation aborted)");
    assert_string_equal(ggml_status_to_string((enum ggml_status)9),
                        "GGML status: unknown");
}

static void
identifiers_are_compared_by_their_bytes(void **state)
{
    ggml_guid a = { 1, 2, 3 }, b = { 1, 2, 3 };

    (void)state;
    assert_true(ggml_guid_matches(&a, &b));
    b[15] = 1;
    assert_false(ggml_guid_matches(&a, &b));
    assert_false(ggml_guid_matches(&a, NULL));
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_failure_is_logged_kept_and_given_back, begin, end),
        cmocka_unit_test_setup_teardown(a_backend_fails_like_the_library, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_reason_may_quote_the_one_before,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_reason_that_is_too_long_is_cut,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_reason_does_not_act_on_a_terminal,
                                        begin, end),
        cmocka_unit_test_setup_teardown(each_thread_has_its_own_failure, begin,
                                        end),
        cmocka_unit_test(try_hands_on_all_but_success),
        cmocka_unit_test(each_status_has_its_published_text),
        cmocka_unit_test_setup_teardown(
            identifiers_are_compared_by_their_bytes, begin, end),
    };

    return cmocka_run_group_tests_name("statuses", tests, NULL, NULL);
}
