/* SPDX-License-Identifier: MIT */
/*
 * tests/util/sink.c - a log sink that remembers.
 */
#include "tests/util/sink.h"

#include <string.h>

static void
remember(enum ggml_log_level level, const char *text, void *user_data)
{
    struct gb_sink *sink = user_data;
    const size_t used = strlen(sink->text);

    sink->n++;
    sink->level = level;
    strncat(sink->text, text, sizeof(sink->text) - 1 - used);
}

void
gb_sink_begin(struct gb_sink *sink)
{
    sink->n = 0;
    sink->level = GGML_LOG_LEVEL_NONE;
    sink->text[0] = '\0';
    ggml_log_set(remember, sink);
}

void
gb_sink_end(void)
{
    ggml_log_set(NULL, NULL);
}

void
gb_sink_ignore(enum ggml_log_level level, const char *text, void *user_data)
{
    (void)level;
    (void)text;
    (void)user_data;
}
