/* SPDX-License-Identifier: MIT */
/*
 * trace/trace.h - what ran where and when, as a timeline for people.
 *
 * Where GGMLBACKEND_TRACE names a file, spans of time are written to it as
 * events of the Trace Event Format, which Perfetto and chrome://tracing show:
 * a process for each backend, in it a thread for each of the program's threads
 * that drives the backend.  Spans of one track lie beside or in each other.
 *
 * A track is asked for once, when a computation begins, and is 0 where nothing
 * is written.  Whoever has a track tests that before anything else, so that a
 * place costs one branch:
 *
 *     const int64_t start = gb_trace_start(track);
 *     ...
 *     if (track != 0)
 *         gb_trace_node(track, start, node);
 *
 * All functions may be called from any thread.  A forked child writes nothing.
 */
#ifndef GB_TRACE_TRACE_H
#define GB_TRACE_TRACE_H

#include "ggml.h"

#include <stdint.h>

/*
 * The calling thread's track on the backend called BACKEND.  The file is opened
 * on the first call; one that cannot be written is warned of, once.
 */
int gb_trace_track(const char *backend);

/* Nanoseconds of the timeline's clock. */
int64_t gb_trace_now(void);

/* When a span on TRACK begins: now; 0 without a track. */
static inline int64_t
gb_trace_start(int track)
{
    return track != 0 ? gb_trace_now() : 0;
}

/*
 * Spans from START until now, on a TRACK that is not 0, which may be another
 * thread's while that waits.
 */

/* NODE was computed. */
void gb_trace_node(
    int track, int64_t start, const struct ggml_tensor *node);

/* A graph of N_STEPS operations was computed by N_THREADS threads. */
void gb_trace_graph(int track, int64_t start, int64_t n_steps, int n_threads);

/* The INDEX-th split of a graph was handed to its backend. */
void gb_trace_split(
    int track, int64_t start, int index, int n_nodes, int n_inputs);

/*
 * A scheduler went through a graph, in which N_FALLBACK_COPIES tensors are
 * computed or read away from data that nobody can compute with where it lies.
 */
void gb_trace_compute(
    int track, int64_t start, int n_splits, int n_nodes, int n_fallback_copies);

/* TENSOR was copied between the backends of these names, or the copy queued. */
void gb_trace_copy(
    int track, int64_t start, const struct ggml_tensor *tensor,
    const char *from, const char *to);

/* The backend called BACKEND was waited for; WHY is "event", "queue" … */
void gb_trace_wait(
    int track, int64_t start, const char *why, const char *backend);

/*
 * Bring all spans so far to the file.  Called when a computation has ended,
 * since a process says nothing before it ends.
 */
void gb_trace_flush(void);

#endif
