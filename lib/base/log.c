/* SPDX-License-Identifier: MIT */
/*
 * base/log.c - levels, the client's sink, and the default one on stderr.
 */
#include "config.h"

#include "lib/base/log.h"

#include "ggmlbackend.h"

#include "lib/base/env.h"
#include "lib/base/lock.h"
#include "lib/base/mem.h"
#include "lib/base/quote.h"

#include <stdio.h>
#include <string.h>

/* Messages up to this size need no memory. */
#define SHORT_MESSAGE 1024

/*
 * Sinks that are called for what the sink itself makes the library say.  One
 * that does so each time would never end; from here on it is told no more.
 */
#define MAX_NESTED 8

struct sink {
    ggml_log_callback write; /* NULL for the default */
    void *user_data;
};

static struct sink client_sink; /* under GB_LOCK_SINK */

/* Was the last message of this thread written?  Continuations follow it. */
static _Thread_local bool last_was_shown;

/* Calls of the client's sink that this thread is in. */
static _Thread_local int n_nested;

void
ggml_log_set(ggml_log_callback log_callback, void *user_data)
{
    gb_lock(GB_LOCK_SINK);
    client_sink.write = log_callback;
    client_sink.user_data = user_data;
    gb_unlock(GB_LOCK_SINK);
}

/* The sink is called without the lock: it may log, or set another sink. */
static struct sink
current_sink(void)
{
    struct sink sink;

    gb_lock(GB_LOCK_SINK);
    sink = client_sink;
    gb_unlock(GB_LOCK_SINK);
    return sink;
}

static const struct {
    const char *name;
    int level;
} levels[] = {
    { "debug", GGML_LOG_LEVEL_DEBUG }, { "info", GGML_LOG_LEVEL_INFO },
    { "warn", GGML_LOG_LEVEL_WARN },   { "error", GGML_LOG_LEVEL_ERROR },
    { "none", GGML_LOG_LEVEL_CONT },
};

/* The level NAME; above ERROR for none at all, -1 where it is no level. */
static int
level_of(const char *name)
{
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
        if (strcmp(name, levels[i].name) == 0)
            return levels[i].level;
    return -1;
}

bool
gb_log_is_level(const char *name)
{
    return level_of(name) >= 0;
}

/* The lowest level to show. */
static int
lowest_shown(void)
{
    const int level = level_of(gb_env_string(GB_ENV_LOG));

    return level >= 0 ? level : GGML_LOG_LEVEL_WARN;
}

/* Text without a level counts as INFO, the level of what is only said. */
static bool
is_shown(enum ggml_log_level level)
{
    if (level == GGML_LOG_LEVEL_CONT)
        return last_was_shown;
    if (level == GGML_LOG_LEVEL_NONE)
        level = GGML_LOG_LEVEL_INFO;
    last_was_shown = (int)level >= lowest_shown();
    return last_was_shown;
}

static void
write_to_stderr(const char *text)
{
    fputs(text, stderr);
    fflush(stderr);
}

static void
write_to_client(
    const struct sink *sink, enum ggml_log_level level, const char *text)
{
    if (n_nested >= MAX_NESTED)
        return;
    n_nested++;
    sink->write(level, text, sink->user_data);
    n_nested--;
}

/* IS_ASKED: the default sink shows it whatever its level. */
static void
send_text(enum ggml_log_level level, bool is_asked, const char *text)
{
    const struct sink sink = current_sink();

    if (sink.write != NULL)
        write_to_client(&sink, level, text);
    else if (is_asked || is_shown(level))
        write_to_stderr(text);
}

/*
 * Names from files and modules are in many messages, so each is made fit for a
 * terminal here, whatever sink it goes to.  Those that end their own lines,
 * other than the library's, may have more of them.
 */
static void
send_fit(enum ggml_log_level level, bool is_asked, const char *end, char *text)
{
    const char *keep = end[0] != '\0' ? "" : "\n\t";
    char *quoted = NULL;

    if (!gb_quote_is_plain(text, keep)) {
        const size_t room = strlen(text) * 4 + 1;

        quoted = gb_mem_alloc(room + strlen(end));
        if (quoted != NULL) {
            gb_quote(text, keep, quoted, room);
            text = quoted;
        } else {
            gb_quote_blank(text, keep);
        }
    }
    memcpy(text + strlen(text), end, strlen(end) + 1);
    send_text(level, is_asked, text);
    gb_mem_free(quoted);
}

/* What is too long for the stack and finds no memory is cut. */
static void
send_formatted(enum ggml_log_level level, bool is_asked, const char *end,
               const char *fmt, va_list args)
{
    const size_t end_size = strlen(end) + 1;
    char short_text[SHORT_MESSAGE];
    char *long_text = NULL, *text = short_text;
    size_t room = sizeof(short_text) - end_size;
    va_list again;
    int length;

    va_copy(again, args);
    length = vsnprintf(short_text, room, fmt, args);
    if (length < 0) {
        short_text[0] = '\0';
    } else if ((size_t)length >= room) {
        long_text = gb_mem_alloc((size_t)length + 1 + end_size);
        if (long_text != NULL) {
            text = long_text;
            vsnprintf(text, (size_t)length + 1, fmt, again);
        }
    }
    va_end(again);
    send_fit(level, is_asked, end, text);
    gb_mem_free(long_text);
}

void
gb_log_va(enum ggml_log_level level, const char *fmt, va_list args)
{
    send_formatted(level, false, "\n", fmt, args);
}

void
gb_log(enum ggml_log_level level, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    gb_log_va(level, fmt, args);
    va_end(args);
}

void
gb_log_print(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    send_formatted(GGML_LOG_LEVEL_INFO, true, "", fmt, args);
    va_end(args);
}

void
ggmlbackend_log(enum ggml_log_level level, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    send_formatted(level, false, "", fmt, args);
    va_end(args);
}
