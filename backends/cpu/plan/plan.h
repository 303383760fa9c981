/* SPDX-License-Identifier: MIT */
/*
 * cpu/plan/plan.h - from a graph to work for threads.
 *
 * Each node that computes something is a step; a step has up to three phases,
 * and a phase has tiles.  Phases that need not wait for each other are a wave
 * (see waves.h).  The list of phases and the work memory are provided by the
 * caller, so that nothing is allocated while a graph is computed.  One pass over
 * the nodes fills the list, phases from its begin on and tilings from its end
 * down, and measures both.  The work memory is
 *
 *     memory that the threads of a step share | scratch of each thread
 *
 * The shared memory has two parts, the second one for rows that keep what they
 * have prepared there (see ops/op.h).
 */
#ifndef GB_CPU_PLAN_PLAN_H
#define GB_CPU_PLAN_PLAN_H

#include "backends/cpu/ops/op.h"

#include "ggml-cpu.h"

/* The parts of the work memory begin at multiples of this: a cache line, so
 * that threads do not share one by accident. */
#define GB_CPU_WORK_ALIGN 64

struct gb_cpu_phase {
    struct ggml_tensor *node;
    gb_cpu_tile_fn tile;
    const void *tiling; /* of its step, in the list too; or NULL */
    int64_t n_tiles;
    bool is_last; /* of its step: here the abort callback is asked */
    bool has_shared; /* its step uses shared memory */
    bool is_kept;    /* that is the second part */
    /* Its tiles are done each behind the same tile of the phase before it. */
    bool is_chained;
    /* Phases behind it in the wave that it begins; in others of a wave minus
     * those before it. */
    int32_t n_more;
};

/* What a graph needs. */
struct gb_cpu_size {
    int64_t n_phases;  /* at most */
    size_t tilings;    /* bytes */
    int n_threads;     /* no more than a phase has tiles */
    size_t shared[2];  /* bytes, multiples of GB_CPU_WORK_ALIGN */
    size_t scratch;    /* bytes for each thread, likewise */
    size_t list;       /* bytes of the list, aligned for pointers, or 0 */
    size_t work;       /* bytes of the work memory, at any address, or 0 */
};

/* The steps of a graph. */
struct gb_cpu_plan {
    const struct gb_cpu_kernels *kernels; /* that it is for */
    const struct gb_cpu_phase *phases;
    int64_t n_phases;
    char *shared[2];
    char *scratch;
    size_t scratch_size; /* of one thread */
    int n_threads;       /* that find something to do */
    bool has_memory;     /* all its tensors had when it was made */
};

/* Bytes that are enough for the list of any graph with so many nodes; SIZE_MAX
 * where that does not fit. */
size_t gb_cpu_plan_list_limit(const struct ggml_cgraph *graph);

/*
 * Plan GRAPH for N_THREADS in LIST, which has LIST_SIZE bytes, and say what it
 * takes: where size->list is more than that, *plan is empty, and a second call
 * with so much fills it.  It is good as long as LIST and GRAPH live, and can be
 * computed when it has its work memory, if it needs any.
 *
 * Fails when the graph has failed, when a node cannot be computed here, or when
 * the sizes do not fit.
 */
enum ggml_status gb_cpu_plan_build(
    const struct ggml_cgraph *graph, int n_threads, void *list,
    size_t list_size, struct gb_cpu_size *size, struct gb_cpu_plan *plan);

/* Give the plan its work memory: size->work bytes, which live as long. */
void gb_cpu_plan_set_work(
    struct gb_cpu_plan *plan, const struct gb_cpu_size *size, void *work);

/* Fails when a tensor that the plan works on has no memory. */
enum ggml_status gb_cpu_plan_check_memory(const struct gb_cpu_plan *plan);

/*
 * Whether to stop; asked by the calling thread after each step.  The client's
 * variables are read for each question, so that a callback may take itself
 * away, or put another one in its place.
 */
struct gb_cpu_abort {
    const ggml_abort_callback *ask; /* where NULL means never */
    void *const *data;
};

/*
 * Compute; fails as gb_cpu_plan_check_memory does, and as tiles do.  POOL may
 * be NULL for the calling thread alone; if it is busy with another graph, the
 * calling thread works alone too.  Results are the same.  A callback that comes
 * only while the graph is computed is not asked.
 */
enum ggml_status gb_cpu_plan_run(
    const struct gb_cpu_plan *plan, struct ggml_threadpool *pool,
    struct gb_cpu_abort abort);

#endif
