/* SPDX-License-Identifier: MIT */
/*
 * tests/trace/events.c - timelines written by a child, read back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/trace/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Half of the last digit that a time has, in microseconds. */
#define TIME_STEP 0.0005

char events_file[PATH_SIZE];

int
events_begin(void **state)
{
    static int n;

    (void)state;
    snprintf(events_file, sizeof(events_file), "trace-%ld-%d.json",
             (long)getpid(), n++);
    return 0;
}

int
events_end(void **state)
{
    (void)state;
    unlink(events_file);
    return 0;
}

void
events_run(const char *path, void (*run)(void), struct gb_child *out)
{
    setenv("GGMLBACKEND_TRACE", path, 1);
    gb_child_run(run, out);
    unsetenv("GGMLBACKEND_TRACE");
}

json_t *
events_load(const char *path)
{
    json_error_t error;
    json_t *events = json_load_file(path, 0, &error);

    if (!json_is_array(events))
        fail_msg("%s, line %d: %s", path, error.line, error.text);
    unlink(path);
    return events;
}

static const char *
member(const json_t *event, const char *name)
{
    const char *text = json_string_value(json_object_get(event, name));

    return text != NULL ? text : "";
}

const char *
event_text(const json_t *event, const char *name)
{
    return member(json_object_get(event, "args"), name);
}

json_int_t
event_number(const json_t *event, const char *name)
{
    const json_t *number =
        json_object_get(json_object_get(event, "args"), name);

    return json_is_integer(number) ? json_integer_value(number) : -1;
}

static bool
has_category(const json_t *event, const char *category)
{
    return category == NULL || strcmp(member(event, "cat"), category) == 0;
}

size_t
events_count(const json_t *events, const char *category)
{
    size_t n = 0;

    for (size_t i = 0; i < json_array_size(events); i++)
        n += has_category(json_array_get(events, i), category);
    return n;
}

const json_t *
events_get(const json_t *events, const char *category, size_t index)
{
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);

        if (has_category(event, category) && index-- == 0)
            return event;
    }
    fail_msg("there are fewer events: %s", category);
    return NULL;
}

static json_int_t
integer(const json_t *event, const char *name)
{
    const json_t *number = json_object_get(event, name);

    assert_true(json_is_integer(number));
    return json_integer_value(number);
}

const char *
event_process(const json_t *events, const json_t *event)
{
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *name = json_array_get(events, i);

        if (strcmp(member(name, "ph"), "M") == 0 &&
            strcmp(member(name, "name"), "process_name") == 0 &&
            integer(name, "pid") == integer(event, "pid"))
            return event_text(name, "name");
    }
    fail_msg("a process has no name");
    return NULL;
}

static double
time_of(const json_t *event, const char *name)
{
    const json_t *number = json_object_get(event, name);

    assert_true(json_is_real(number));
    assert_true(json_real_value(number) >= 0);
    return json_real_value(number);
}

static double
start_of(const json_t *event)
{
    return time_of(event, "ts");
}

static double
end_of(const json_t *event)
{
    return time_of(event, "ts") + time_of(event, "dur");
}

static bool
are_on_one_track(const json_t *a, const json_t *b)
{
    return integer(a, "pid") == integer(b, "pid") &&
           integer(a, "tid") == integer(b, "tid");
}

bool
event_is_within(const json_t *inner, const json_t *outer)
{
    return are_on_one_track(inner, outer) &&
           start_of(inner) > start_of(outer) - TIME_STEP &&
           end_of(inner) < end_of(outer) + TIME_STEP;
}

static bool
are_beside(const json_t *a, const json_t *b)
{
    return !are_on_one_track(a, b) || start_of(a) > end_of(b) - TIME_STEP ||
           start_of(b) > end_of(a) - TIME_STEP;
}

void
events_assert_nested(const json_t *events)
{
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *a = json_array_get(events, i);

        if (strcmp(member(a, "ph"), "X") != 0)
            continue;
        for (size_t j = 0; j < i; j++) {
            const json_t *b = json_array_get(events, j);

            if (strcmp(member(b, "ph"), "X") == 0 && !are_beside(a, b) &&
                !event_is_within(a, b) && !event_is_within(b, a))
                fail_msg("%s and %s cross at %f", member(a, "name"),
                         member(b, "name"), start_of(a));
        }
    }
}
