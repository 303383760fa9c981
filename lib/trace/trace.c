/* SPDX-License-Identifier: MIT */
/*
 * trace/trace.c - spans of time as events in one file, from any thread.
 *
 * Trace Event Format: complete events ("X") with times in microseconds, and
 * metadata events ("M") that name processes and threads.
 */
#include "config.h"

#include "lib/trace/trace.h"

#include "ggmlbackend.h"

#include "lib/base/attr.h"
#include "lib/base/env.h"
#include "lib/base/lock.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/base/status.h"
#include "lib/trace/file.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum state { UNKNOWN, OFF, ON };

/* Track N is tracks[N - 1]. */
struct track {
    char *backend;
    pthread_t thread;
    int process; /* the first track of the same backend */
    int number;  /* of the thread, from 1 */
};

static atomic_bool is_opened;

static struct {
    _Atomic int state; /* ON is released with what is below */
    _Atomic int error; /* why it is OFF, until that has been said */
    pid_t process;
    int64_t start;

    pthread_mutex_t lock; /* for the rest */
    struct gb_trace_file file;
    struct track *tracks;
    int n_tracks;
    int max_tracks;
} trace = { .lock = PTHREAD_MUTEX_INITIALIZER };

int64_t
gb_trace_now(void)
{
    struct timespec now;

    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        return 0;
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void
open_file(void)
{
    const char *path = gb_env_string(GB_ENV_TRACE);
    int state = OFF, error = 0;

    if (*path != '\0') {
        error = gb_trace_file_open(&trace.file, path);
        if (error == 0) {
            trace.process = getpid();
            trace.start = gb_trace_now();
            state = ON;
        }
    }
    atomic_store_explicit(&trace.error, error, memory_order_relaxed);
    atomic_store_explicit(&trace.state, state, memory_order_release);
}

/* Once, and without the lock: the client's sink may compute something. */
static void
say_error(void)
{
    const int error =
        atomic_exchange_explicit(&trace.error, 0, memory_order_relaxed);

    if (error != 0)
        gb_log(GGML_LOG_LEVEL_WARN, "trace: %s: %s; no more is written to it",
               gb_env_string(GB_ENV_TRACE), strerror(error));
}

/*
 * Take the lock, if there is a file to write to.  A child of this process
 * shares the file but not its end, and may have been born while another thread
 * had the lock, so it is told off before.
 */
static bool
begin(void)
{
    if (getpid() != trace.process)
        return false;
    pthread_mutex_lock(&trace.lock);
    /* Relaxed: changed under the lock alone once it is ON. */
    if (atomic_load_explicit(&trace.state, memory_order_relaxed) == ON)
        return true;
    pthread_mutex_unlock(&trace.lock);
    return false;
}

static void
stop(int error)
{
    atomic_store_explicit(&trace.error, error, memory_order_relaxed);
    gb_trace_file_close(&trace.file);
    for (int i = 0; i < trace.n_tracks; i++)
        gb_mem_free(trace.tracks[i].backend);
    gb_mem_free(trace.tracks);
    trace.tracks = NULL;
    trace.n_tracks = trace.max_tracks = 0;
    atomic_store_explicit(&trace.state, OFF, memory_order_relaxed);
}

static void
end(void)
{
    if (trace.file.error != 0)
        stop(trace.file.error);
    pthread_mutex_unlock(&trace.lock);
    say_error();
}

/* What WHAT says, "process_name" or "thread_name", is NAME. */
static void
put_name(const char *what, int process, int thread, const char *name)
{
    gb_trace_file_begin(&trace.file);
    gb_trace_file_put(&trace.file,
                      "{\"name\":\"%s\",\"ph\":\"M\",\"pid\":%d,\"tid\":%d,"
                      "\"args\":{\"name\":", what, process, thread);
    gb_trace_file_put_string(&trace.file, name);
    gb_trace_file_put(&trace.file, "}}");
}

static int
find_track(const char *backend, pthread_t thread)
{
    for (int i = 0; i < trace.n_tracks; i++) {
        if (pthread_equal(trace.tracks[i].thread, thread) &&
            strcmp(trace.tracks[i].backend, backend) == 0)
            return i + 1;
    }
    return 0;
}

static bool
make_room(void)
{
    const int max_tracks = trace.max_tracks > 0 ? 2 * trace.max_tracks : 16;
    struct track *tracks;

    if (trace.n_tracks < trace.max_tracks)
        return true;
    tracks = gb_mem_realloc(trace.tracks, (size_t)max_tracks, sizeof(*tracks));
    if (tracks == NULL)
        return false;
    trace.tracks = tracks;
    trace.max_tracks = max_tracks;
    return true;
}

/* 0 without memory.  Processes and threads are numbered as they appear. */
static int
add_track(const char *backend, pthread_t thread)
{
    const int track = trace.n_tracks + 1;
    struct track added = { gb_mem_strdup(backend), thread, track, 0 };
    int n_threads = 0;
    char name[32];

    if (added.backend == NULL || !make_room()) {
        gb_mem_free(added.backend);
        return 0;
    }
    for (int i = 0; i < trace.n_tracks; i++) {
        const struct track *other = &trace.tracks[i];

        if (strcmp(other->backend, backend) == 0)
            added.process = other->process;
        if (pthread_equal(other->thread, thread))
            added.number = other->number;
        if (other->number > n_threads)
            n_threads = other->number;
    }
    if (added.number == 0)
        added.number = n_threads + 1;
    trace.tracks[trace.n_tracks++] = added;
    if (added.process == track)
        put_name("process_name", track, track, backend);
    snprintf(name, sizeof(name), "thread %d", added.number);
    put_name("thread_name", added.process, track, name);
    return track;
}

static void
open_once(void)
{
    gb_once(&is_opened, GB_LOCK_TRACE, open_file);
    say_error();
}

int
gb_trace_track(const char *backend)
{
    /* Acquire: with the release in open_file. */
    const int state = atomic_load_explicit(&trace.state, memory_order_acquire);
    int track;

    if (GB_LIKELY(state == OFF))
        return 0;
    if (state == UNKNOWN)
        open_once();
    if (!begin())
        return 0;
    track = find_track(backend, pthread_self());
    if (track == 0)
        track = add_track(backend, pthread_self());
    if (track == 0) {
        gb_trace_file_flush(&trace.file);
        trace.file.error = ENOMEM;
    }
    end();
    return track;
}

/*
 * Begin the event of a span of DURATION, up to where its arguments go; false when
 * there is nothing to write to.
 */
static bool
begin_span_of(int track, int64_t start, int64_t duration, const char *category,
              const char *name)
{
    const int64_t ns = start - trace.start;

    if (!begin())
        return false;
    gb_trace_file_begin(&trace.file);
    gb_trace_file_put(&trace.file, "{\"name\":");
    gb_trace_file_put_string(&trace.file, name);
    gb_trace_file_put(&trace.file,
                      ",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":%d,\"tid\":%d,"
                      "\"ts\":%" PRId64 ".%03d,\"dur\":%" PRId64 ".%03d,"
                      "\"args\":{", category,
                      trace.tracks[track - 1].process, track,
                      ns / 1000, (int)(ns % 1000),
                      duration / 1000, (int)(duration % 1000));
    return true;
}

/* The same for one that ends now. */
static bool
begin_span(int track, int64_t start, const char *category, const char *name)
{
    return begin_span_of(track, start, gb_trace_now() - start, category, name);
}

static void
end_span(void)
{
    gb_trace_file_put(&trace.file, "}}");
    end();
}

static void
put_tensor(const struct ggml_tensor *tensor)
{
    gb_trace_file_put(&trace.file, "\"tensor\":");
    gb_trace_file_put_string(&trace.file, tensor->name);
    gb_trace_file_put(&trace.file,
                      ",\"type\":\"%s\",\"shape\":[%" PRId64 ",%" PRId64
                      ",%" PRId64 ",%" PRId64 "],\"bytes\":%zu",
                      ggml_type_name(tensor->type), tensor->ne[0],
                      tensor->ne[1], tensor->ne[2], tensor->ne[3],
                      ggml_nbytes(tensor));
}

/* What an operation costs depends on its sources. */
static void
put_sources(const struct ggml_tensor *node)
{
    const char *before = "";
    char text[GB_TRACE_MAX_STRING];

    gb_trace_file_put(&trace.file, ",\"sources\":[");
    for (int i = 0; i < GGML_MAX_SRC; i++) {
        const struct ggml_tensor *src = node->src[i];

        if (src == NULL)
            continue;
        snprintf(text, sizeof(text),
                 "%s %s [%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "]",
                 src->name, ggml_type_name(src->type), src->ne[0], src->ne[1],
                 src->ne[2], src->ne[3]);
        gb_trace_file_put(&trace.file, "%s", before);
        gb_trace_file_put_string(&trace.file, text);
        before = ",";
    }
    gb_trace_file_put(&trace.file, "]");
}

void
gb_trace_node(int track, int64_t start, const struct ggml_tensor *node)
{
    const char *op = ggml_op_desc(node);

    if (!begin_span(track, start, "node", op))
        return;
    gb_trace_file_put(&trace.file, "\"op\":\"%s\",", op);
    put_tensor(node);
    put_sources(node);
    end_span();
}

void
gb_trace_graph(int track, int64_t start, int64_t n_steps, int n_threads)
{
    if (!begin_span(track, start, "graph", "graph"))
        return;
    gb_trace_file_put(&trace.file, "\"steps\":%" PRId64 ",\"threads\":%d",
                      n_steps, n_threads);
    end_span();
}

void
gb_trace_split(int track, int64_t start, int index, int n_nodes, int n_inputs)
{
    char name[32];

    snprintf(name, sizeof(name), "split %d", index);
    if (!begin_span(track, start, "split", name))
        return;
    gb_trace_file_put(&trace.file, "\"nodes\":%d,\"inputs\":%d", n_nodes,
                      n_inputs);
    end_span();
}

void
gb_trace_compute(int track, int64_t start, int n_splits, int n_nodes,
                 int n_fallback_copies)
{
    if (!begin_span(track, start, "compute", "compute"))
        return;
    gb_trace_file_put(&trace.file,
                      "\"splits\":%d,\"nodes\":%d,\"fallback_copies\":%d",
                      n_splits, n_nodes, n_fallback_copies);
    end_span();
}

void
gb_trace_copy(int track, int64_t start, const struct ggml_tensor *tensor,
              const char *from, const char *to)
{
    if (!begin_span(track, start, "copy", "copy"))
        return;
    put_tensor(tensor);
    gb_trace_file_put(&trace.file, ",\"from\":");
    gb_trace_file_put_string(&trace.file, from);
    gb_trace_file_put(&trace.file, ",\"to\":");
    gb_trace_file_put_string(&trace.file, to);
    end_span();
}

void
gb_trace_wait(int track, int64_t start, const char *why, const char *backend)
{
    if (!begin_span(track, start, "wait", "wait"))
        return;
    gb_trace_file_put(&trace.file, "\"why\":\"%s\",\"for\":", why);
    gb_trace_file_put_string(&trace.file, backend);
    end_span();
}

void
gb_trace_flush(void)
{
    if (!begin())
        return;
    gb_trace_file_flush(&trace.file);
    end();
}

/* ---- spans of backends, who may be wrong about tracks and times ---- */

int
ggmlbackend_trace_track(const char *backend)
{
    GB_NEED_OR(0, backend != NULL, "trace: no backend's name");
    return gb_trace_track(backend);
}

int64_t
ggmlbackend_trace_now(void)
{
    return gb_trace_now();
}

/* No such track, or before the timeline began?  Nothing is, when none is written. */
static bool
is_wrong(int track, int64_t start, int64_t duration)
{
    bool is_good;

    if (!begin())
        return false;
    is_good = track > 0 && track <= trace.n_tracks && start >= trace.start &&
              duration >= 0;
    end();
    return !is_good;
}

void
ggmlbackend_trace_span(
    int track, const char *name, int64_t start, int64_t duration)
{
    if (track == 0)
        return;
    GB_NEED_VOID(name != NULL, "trace: a span without a name");
    GB_NEED_VOID(!is_wrong(track, start, duration),
                 "trace: span %s: no such track or time", name);
    if (begin_span_of(track, start, duration, "backend", name))
        end_span();
}

void
ggmlbackend_trace_flush(void)
{
    gb_trace_flush();
}
