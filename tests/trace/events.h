/* SPDX-License-Identifier: MIT */
/*
 * tests/trace/events.h - timelines written by a child, read back.
 */
#ifndef GB_TESTS_TRACE_EVENTS_H
#define GB_TESTS_TRACE_EVENTS_H

#include "tests/util/child.h"

#include <jansson.h>
#include <stdbool.h>

/* Bytes of a path with its terminator. */
#define PATH_SIZE 64

/* For set-up: events_file is the name of a file that is not there; for
 * tear-down: nor is it any more. */
extern char events_file[PATH_SIZE];
int events_begin(void **state);
int events_end(void **state);

/*
 * RUN in a child with GGMLBACKEND_TRACE set to PATH and, if it is not NULL, say
 * what the child wrote to stderr and how it ended.
 */
void events_run(const char *path, void (*run)(void), struct gb_child *out);

/* The file's array, which is removed; fails when it is no JSON. */
json_t *events_load(const char *path);

/* The member NAME of an event's arguments, "" or -1 when it has none. */
const char *event_text(const json_t *event, const char *name);
json_int_t event_number(const json_t *event, const char *name);

/* How many events EVENTS has of CATEGORY; NULL for all. */
size_t events_count(const json_t *events, const char *category);

/* The INDEX-th of CATEGORY. */
const json_t *events_get(
    const json_t *events, const char *category, size_t index);

/* The name of the process that EVENT is in; fails when it has none. */
const char *event_process(const json_t *events, const json_t *event);

/* Does the span INNER lie in the span OUTER, on the same track? */
bool event_is_within(const json_t *inner, const json_t *outer);

/*
 * Fails unless all spans have times, and those of a track lie beside or in each
 * other.
 */
void events_assert_nested(const json_t *events);

#endif
