/* SPDX-License-Identifier: MIT */
/*
 * tests/base/log.c - the client's sink and the default one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/base/log.h"
#include "lib/base/status.h"

#include "ggml-impl.h"

#include "tests/util/child.h"
#include "tests/util/fault.h"
#include "tests/util/sink.h"

#include <stdlib.h>
#include <string.h>

static struct gb_child child;
static struct gb_sink sink;

static void
a_clients_sink_gets_every_level(void **state)
{
    (void)state;
    gb_sink_begin(&sink);
    gb_log(GGML_LOG_LEVEL_DEBUG, "a %d", 1);
    gb_log(GGML_LOG_LEVEL_ERROR, "b");
    GGML_LOG_INFO("c ");
    GGML_LOG_CONT("goes on\n");
    assert_int_equal(sink.level, GGML_LOG_LEVEL_CONT);
    gb_log_print("asked\n");
    assert_int_equal(sink.level, GGML_LOG_LEVEL_INFO);
    GGML_LOG("plain\n");
    assert_int_equal(sink.level, GGML_LOG_LEVEL_NONE);
    gb_sink_end();
    assert_int_equal(sink.n, 6);
    assert_string_equal(sink.text, "a 1\nb\nc goes on\nasked\nplain\n");
}

static void
log_everything(void)
{
    gb_log(GGML_LOG_LEVEL_DEBUG, "debug");
    GGML_LOG_CONT("debug more\n");
    gb_log(GGML_LOG_LEVEL_INFO, "info");
    gb_log(GGML_LOG_LEVEL_WARN, "warn");
    GGML_LOG_CONT("warn more\n");
    gb_log_print("asked\n");
    gb_log(GGML_LOG_LEVEL_ERROR, "error");
}

static void
log_at_none(void)
{
    setenv("GGMLBACKEND_LOG", "none", 1);
    log_everything();
}

static void
log_at_error(void)
{
    setenv("GGMLBACKEND_LOG", "error", 1);
    log_everything();
}

static void
log_at_default(void)
{
    unsetenv("GGMLBACKEND_LOG");
    log_everything();
}

static void
log_at_info(void)
{
    setenv("GGMLBACKEND_LOG", "info", 1);
    log_everything();
}

static void
log_at_debug(void)
{
    setenv("GGMLBACKEND_LOG", "debug", 1);
    log_everything();
}

static void
log_at_nonsense(void)
{
    setenv("GGMLBACKEND_LOG", "loud", 1);
    log_everything();
}

static void
the_default_sink_writes_from_its_level_on(void **state)
{
    static const struct {
        void (*run)(void);
        const char *text;
    } levels[] = {
        { log_at_none, "asked\n" },
        { log_at_error, "asked\nerror\n" },
        { log_at_default, "warn\nwarn more\nasked\nerror\n" },
        { log_at_info, "info\nwarn\nwarn more\nasked\nerror\n" },
        { log_at_debug, "debug\ndebug more\ninfo\nwarn\nwarn more\nasked\n"
                        "error\n" },
        { log_at_nonsense,
          "GGMLBACKEND_LOG: 'loud' is none of debug, info, warn, error and "
          "none, using warn\nwarn\nwarn more\nasked\nerror\n" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        gb_child_run(levels[i].run, &child);
        assert_true(child.is_done);
        assert_string_equal(child.errors, levels[i].text);
    }
}

static void
set_none_again(void)
{
    gb_sink_begin(&sink);
    ggml_log_set(NULL, NULL);
    gb_log(GGML_LOG_LEVEL_ERROR, "back");
}

static void
no_sink_brings_the_default_back(void **state)
{
    (void)state;
    gb_child_run(set_none_again, &child);
    assert_string_equal(child.errors, "back\n");
}

static void
use_the_headers_sink(void)
{
    ggml_log_set(ggml_log_callback_default, NULL);
    gb_log(GGML_LOG_LEVEL_DEBUG, "all levels");
}

static void
the_headers_sink_writes_all_levels(void **state)
{
    (void)state;
    gb_child_run(use_the_headers_sink, &child);
    assert_string_equal(child.errors, "all levels\n");
}

static void
a_message_of_any_length_arrives(void **state)
{
    (void)state;
    for (int n = 1000; n <= 1050; n++) {
        gb_sink_begin(&sink);
        gb_log(GGML_LOG_LEVEL_INFO, "%*d", n, 5);
        gb_sink_end();
        assert_int_equal(sink.n, 1);
        assert_int_equal(strlen(sink.text), n + 1);
        assert_string_equal(sink.text + n - 1, "5\n");
    }
}

static void
log_long_message(void *data)
{
    (void)data;
    gb_sink_begin(&sink);
    gb_log(GGML_LOG_LEVEL_INFO, "begin%5000d", 5);
    gb_sink_end();
    assert_int_equal(sink.n, 1);
    assert_memory_equal(sink.text, "begin", 5);
    assert_int_equal(sink.text[strlen(sink.text) - 1], '\n');
    assert_true(strlen(sink.text) >= (gb_fault_happened() ? 1000 : 5006));
}

static void
without_memory_a_long_message_is_cut(void **state)
{
    (void)state;
    assert_int_equal(gb_fault_each(log_long_message, NULL), 1);
}

static void
nothing_in_a_message_acts_on_a_terminal(void **state)
{
    (void)state;
    gb_sink_begin(&sink);
    gb_log(GGML_LOG_LEVEL_INFO, "tensor %s: cut", "\x1b[2J\nfake: line\xc2\x9b");
    GGML_LOG_INFO("own\nlines\tstay%s\n", "\x07");
    gb_log_print("asked\n%s\n", "\r");
    gb_sink_end();
    assert_int_equal(sink.n, 3);
    assert_string_equal(sink.text,
                        "tensor \\x1b[2J\\nfake: line\\xc2\\x9b: cut\n"
                        "own\nlines\tstay\\x07\nasked\n\\r\n");
}

static void
log_a_control_character(void *data)
{
    (void)data;
    gb_sink_begin(&sink);
    gb_log(GGML_LOG_LEVEL_INFO, "a%s", "\x1b");
    gb_sink_end();
    assert_string_equal(sink.text, gb_fault_happened() ? "a?\n" : "a\\x1b\n");
}

static void
nor_does_it_without_memory(void **state)
{
    (void)state;
    assert_int_equal(gb_fault_each(log_a_control_character, NULL), 1);
}

/* A sink that logs itself, once, and takes itself away. */
static void
chatter(enum ggml_log_level level, const char *text, void *user_data)
{
    (void)level;
    (void)text;
    ++*(int *)user_data;
    gb_sink_begin(&sink);
    gb_log(GGML_LOG_LEVEL_INFO, "from within");
}

static void
a_sink_may_log_and_set_another(void **state)
{
    int n = 0;

    (void)state;
    ggml_log_set(chatter, &n);
    gb_log(GGML_LOG_LEVEL_INFO, "one");
    gb_sink_end();
    assert_int_equal(n, 1);
    assert_string_equal(sink.text, "from within\n");
}

/* A sink that fails itself whenever it is told something. */
static void
fail_again(enum ggml_log_level level, const char *text, void *user_data)
{
    (void)level;
    (void)text;
    ++*(int *)user_data;
    gb_fail(GGML_STATUS_FAILED, "from within");
}

static void
a_sink_that_always_speaks_is_not_told_for_ever(void **state)
{
    int n = 0;

    (void)state;
    ggml_log_set(fail_again, &n);
    for (int round = 1; round <= 3; round++) {
        gb_fail(GGML_STATUS_FAILED, "the first");
        assert_int_equal(n, 8 * round);
        /* What failed meanwhile is not why the call did. */
        assert_string_equal(gb_last_failure(), "the first");
    }
    ggml_log_set(NULL, NULL);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clients_sink_gets_every_level),
        cmocka_unit_test(the_default_sink_writes_from_its_level_on),
        cmocka_unit_test(no_sink_brings_the_default_back),
        cmocka_unit_test(the_headers_sink_writes_all_levels),
        cmocka_unit_test(a_message_of_any_length_arrives),
        cmocka_unit_test(without_memory_a_long_message_is_cut),
        cmocka_unit_test(nothing_in_a_message_acts_on_a_terminal),
        cmocka_unit_test(nor_does_it_without_memory),
        cmocka_unit_test(a_sink_may_log_and_set_another),
        cmocka_unit_test(a_sink_that_always_speaks_is_not_told_for_ever),
    };

    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
