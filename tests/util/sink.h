/* SPDX-License-Identifier: MIT */
/*
 * tests/util/sink.h - a log sink that remembers.
 */
#ifndef GB_TESTS_UTIL_SINK_H
#define GB_TESTS_UTIL_SINK_H

#include "ggml.h"

struct gb_sink {
    int n;                     /* messages */
    enum ggml_log_level level; /* of the last */
    char text[65536];          /* all of them, terminated; cut if longer */
};

/* Send the log there from now on, empty at first; one thread at a time. */
void gb_sink_begin(struct gb_sink *sink);

/* Back to the default sink. */
void gb_sink_end(void);

/* A log function for what nobody looks at; any number of threads. */
void gb_sink_ignore(
    enum ggml_log_level level, const char *text, void *user_data);

#endif
