/* SPDX-License-Identifier: MIT */
/*
 * tests/base/env.c - environment variables, each case in a process of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/base/env.h"

#include "ggmlbackend.h"

#include "tests/util/child.h"
#include "tests/util/fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gb_child child;

/* A child says what it found, in one line. */
static void
say(void)
{
    fprintf(stderr, "%s %d %d", gb_env_string(GB_ENV_CPU_LEVEL),
            gb_env_bool(GB_ENV_STRICT), gb_env_int(GB_ENV_N_THREADS));
}

static void
say_unset(void)
{
    unsetenv("GGMLBACKEND_CPU_LEVEL");
    unsetenv("GGMLBACKEND_STRICT");
    unsetenv("GGMLBACKEND_N_THREADS");
    say();
}

static void
say_set(void)
{
    setenv("GGMLBACKEND_CPU_LEVEL", "generic", 1);
    setenv("GGMLBACKEND_STRICT", "1", 1);
    setenv("GGMLBACKEND_N_THREADS", "7", 1);
    say();
}

static void
say_before_and_after(void)
{
    say_set();
    setenv("GGMLBACKEND_CPU_LEVEL", "other", 1);
    unsetenv("GGMLBACKEND_N_THREADS");
    say();
}

static void
the_value_is_the_environments_else_the_default(void **state)
{
    (void)state;
    gb_child_run(say_unset, &child);
    assert_string_equal(child.errors, " 0 0");
    gb_child_run(say_set, &child);
    assert_string_equal(child.errors, "generic 1 7");
}

static void
the_environment_is_read_once(void **state)
{
    (void)state;
    gb_child_run(say_before_and_after, &child);
    assert_string_equal(child.errors, "generic 1 7generic 1 7");
}

static void
ask_for_nonsense(void)
{
    setenv("GGMLBACKEND_N_THREADS", "many", 1);
    fprintf(stderr, "%d\n", gb_env_int(GB_ENV_N_THREADS));
    fprintf(stderr, "%d\n", gb_env_int(GB_ENV_N_THREADS));
}

static void
a_number_that_is_none_is_warned_of_once(void **state)
{
    (void)state;
    gb_child_run(ask_for_nonsense, &child);
    assert_string_equal(
        child.errors,
        "GGMLBACKEND_N_THREADS: 'many' is no number, using 0\n0\n0\n");
}

/* ---- every variable with nonsense ---- */

static const char *name, *value;

static void
set_and_read(void)
{
    setenv(name, value, 1);
    ggmlbackend_env_value("GGMLBACKEND_TRACE");
    ggmlbackend_env_value(name);
}

/* Reading NAME as VALUE says WANTED. */
static void
check_said(const char *wanted)
{
    gb_child_run(set_and_read, &child);
    if (!child.is_done || strcmp(child.errors, wanted) != 0)
        fail_msg("%s='%s': '%s', not '%s'", name, value, child.errors, wanted);
}

/* Each of VALUES, which ends with NULL, IS what another one is used for. */
static void
check_refused(const char *const *values, const char *is, const char *instead)
{
    for (; *values != NULL; values++) {
        char wanted[256];

        value = *values;
        snprintf(wanted, sizeof(wanted), "%s: '%s' is %s, using %s\n", name,
                 value, is, instead);
        check_said(wanted);
    }
}

static void
nonsense_is_warned_of_for_each_row_of_the_table(void **state)
{
    static const char *const not_flags[] = {
        " ", "maybe", "2", "-1", "+1", "01", "0x1", "1 ", "nan", NULL
    };
    static const char *const not_numbers[] = {
        " ", "many", "-1", "+1", " 1", "1 ", "1x", "0x1", "1.5", "1e3", "nan",
        "inf", "-", "2147483648", "99999999999999999999", NULL
    };
    static const char *const not_levels[] = {
        " ", "loud", "WARN", "warn ", "warning", "3", "-1", NULL
    };
    /* This process must not read its own environment before its children. */
    static const struct {
        const char *name, *type;
    } rows[] = {
#define GB_ENV(id, name, type, default_value, help) { name, #type },
#include "lib/base/env.def"
#undef GB_ENV
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        name = rows[i].name;
        value = "";
        check_said("");
        if (strcmp(rows[i].type, "BOOL") == 0)
            check_refused(not_flags, "neither 0 nor 1", "1");
        if (strcmp(rows[i].type, "INT") == 0)
            check_refused(not_numbers, "no number", "0");
        if (strcmp(name, "GGMLBACKEND_LOG") == 0)
            check_refused(not_levels,
                          "none of debug, info, warn, error and none", "warn");
    }
}

static const char *number;

static void
read_number(void)
{
    setenv("GGMLBACKEND_N_THREADS", number, 1);
    setenv("GGMLBACKEND_LOG", "none", 1);
    fprintf(stderr, "%d", gb_env_int(GB_ENV_N_THREADS));
}

static void
numbers_out_of_range_are_none(void **state)
{
    static const char *const numbers[] = { "", " ", "12x", "4294967296",
                                           "99999999999999999999" };

    (void)state;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        number = numbers[i];
        gb_child_run(read_number, &child);
        assert_string_equal(child.errors, "0");
    }
}

static void
off(void)
{
    setenv("GGMLBACKEND_STRICT", "", 1);
    fprintf(stderr, "%d", gb_env_bool(GB_ENV_STRICT));
}

static void
off_too(void)
{
    setenv("GGMLBACKEND_STRICT", "0", 1);
    fprintf(stderr, "%d", gb_env_bool(GB_ENV_STRICT));
}

static void
nothing_and_zero_are_false(void **state)
{
    (void)state;
    gb_child_run(off, &child);
    assert_string_equal(child.errors, "0");
    gb_child_run(off_too, &child);
    assert_string_equal(child.errors, "0");
}

static void
say_by_name(void)
{
    setenv("GGMLBACKEND_GPU_MEMORY", "2G", 1);
    unsetenv("GGMLBACKEND_GPU_WAIT");
    setenv("GGMLBACKEND_UNHEARD_OF", "1", 1);
    setenv("GGMLBACKEND_LOG", "none", 1);
    fprintf(stderr, "%s %d %d %d",
            ggmlbackend_env_value("GGMLBACKEND_GPU_MEMORY"),
            ggmlbackend_env_value("GGMLBACKEND_GPU_WAIT") == NULL,
            ggmlbackend_env_value("GGMLBACKEND_UNHEARD_OF") == NULL,
            ggmlbackend_env_value(NULL) == NULL);
}

static void
a_value_is_had_by_its_name_but_only_one_of_the_table(void **state)
{
    (void)state;
    gb_child_run(say_by_name, &child);
    assert_string_equal(child.errors, "2G 1 1 1");
}

static void
read_without_memory(void *data)
{
    (void)data;
    fprintf(stderr, "%s.", gb_env_string(GB_ENV_CPU_LEVEL));
}

static void
set_and_read_without_memory(void)
{
    unsetenv("GGMLBACKEND_LOG");
    unsetenv("GGMLBACKEND_STRICT");
    setenv("GGMLBACKEND_CPU_LEVEL", "generic", 1);
    gb_fault_each(read_without_memory, NULL);
}

static void
a_value_without_memory_is_unset_and_said_to_be(void **state)
{
    (void)state;
    gb_child_run(set_and_read_without_memory, &child);
    assert_true(child.is_done);
    assert_string_equal(child.errors,
                        "environment: no memory, GGMLBACKEND_CPU_LEVEL "
                        "counts as unset\n..");
}

static void
each_row_of_the_table_is_whole(void **state)
{
    struct ggmlbackend_env_entry entry;

    (void)state;
    assert_int_equal(ggmlbackend_env_count(), GB_ENV_COUNT);
    for (size_t i = 0; i < ggmlbackend_env_count(); i++) {
        assert_true(ggmlbackend_env_get(i, &entry));
        assert_int_equal(strncmp(entry.name, "GGML", 4), 0);
        assert_non_null(strstr("bool int string path", entry.type));
        assert_non_null(entry.default_value);
        assert_int_equal(entry.help[strlen(entry.help) - 1], '.');
    }
    assert_false(ggmlbackend_env_get(ggmlbackend_env_count(), &entry));
}

static void
tell_strict(void)
{
    struct ggmlbackend_env_entry entry;

    setenv("GGMLBACKEND_STRICT", "1", 1);
    unsetenv("GGMLBACKEND_CPU_LEVEL");
    ggmlbackend_env_get(GB_ENV_STRICT, &entry);
    fprintf(stderr, "%s %s", entry.name, entry.value);
    ggmlbackend_env_get(GB_ENV_CPU_LEVEL, &entry);
    fprintf(stderr, " %s", entry.value == NULL ? "unset" : entry.value);
}

static void
the_table_tells_what_is_in_force(void **state)
{
    (void)state;
    gb_child_run(tell_strict, &child);
    assert_string_equal(child.errors, "GGMLBACKEND_STRICT 1 unset");
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        /* The first ones run in children, before this process reads its own. */
        cmocka_unit_test(the_value_is_the_environments_else_the_default),
        cmocka_unit_test(the_environment_is_read_once),
        cmocka_unit_test(a_number_that_is_none_is_warned_of_once),
        cmocka_unit_test(nonsense_is_warned_of_for_each_row_of_the_table),
        cmocka_unit_test(numbers_out_of_range_are_none),
        cmocka_unit_test(nothing_and_zero_are_false),
        cmocka_unit_test(a_value_is_had_by_its_name_but_only_one_of_the_table),
        cmocka_unit_test(a_value_without_memory_is_unset_and_said_to_be),
        cmocka_unit_test(the_table_tells_what_is_in_force),
        cmocka_unit_test(each_row_of_the_table_is_whole),
    };

    return cmocka_run_group_tests_name("environment", tests, NULL, NULL);
}
