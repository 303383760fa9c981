/* SPDX-License-Identifier: MIT */
/*
 * cpu/pool/pool.h - a pool of threads that do one job together.
 *
 * The caller is thread 0 of a job, and the pool's workers join it when they get
 * a processor.  A job never needs them: it may be done before one has come.  So
 * a worker that is late, or gone because the process was forked, costs nothing.
 * How the work is divided is the job's own affair (plan/run.c).
 */
#ifndef GB_CPU_POOL_POOL_H
#define GB_CPU_POOL_POOL_H

#include "backends/cpu/pool/event.h"

#include "ggml-cpu.h"

/*
 * A pool of params->n_threads threads, the caller counted in; paused if params
 * say so.  More workers than N_CPUS - 1 are not started, since they would only
 * take turns.  NULL without memory; fewer threads than asked are a warning.
 */
struct ggml_threadpool *gb_cpu_pool_new(
    const struct ggml_threadpool_params *params, int n_cpus);

/* What each thread of a job runs; ITH is 0 for the caller. */
typedef void (*gb_cpu_work_fn)(void *data, int ith);

/*
 * Have the pool for a job, which may begin later or never: nobody frees it, or
 * has it too.  False when somebody else has it.
 */
bool gb_cpu_pool_take(struct ggml_threadpool *pool);

/*
 * Let up to N_THREADS - 1 workers join: each calls WORK(DATA, its number).  The
 * caller goes on at once, does its own share, and ends the job when nothing is
 * left to do.
 */
void gb_cpu_pool_begin(struct ggml_threadpool *pool, int n_threads,
                       gb_cpu_work_fn work, void *data);

/* Nobody joins any more, if anybody could; return when those who did have left,
 * with the pool given back. */
void gb_cpu_pool_end(struct ggml_threadpool *pool);

/* For the threads of a job: tell the others that something has become true, and
 * wait until it has (see event.h). */
void gb_cpu_pool_signal(struct ggml_threadpool *pool);
void gb_cpu_pool_wait(struct ggml_threadpool *pool, gb_cpu_ready_fn ready,
                      const void *data);

#endif
