/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/op.h - what the CPU backend knows of one operation.
 *
 * A step runs in up to three phases: prepare (tiles), run (tiles), finish (one
 * call).  Threads wait for each other between phases.  Tiles are made by shapes
 * alone, never by the number of threads, so results are the same to the bit for
 * any number of threads; two tiles of a phase never write the same byte.
 *
 * What a row decides about a node (which kernels it takes, and the sizes of its
 * tiles) it decides when the plan is made, for the kernels that will run.
 *
 * The life of a node on the CPU:
 *
 *     plan made     can_run; then tile, or tiles, scratch and shared
 *     plan run      prepare(0 .. prepare_tiles - 1)    unless is_prepared
 *                   run(0 .. tiles - 1)
 *                   finish(0)
 *
 * Words  A row is one entry of the table of operations here, and elsewhere the
 *        elements of a tensor along dimension 0.  Scratch is one thread's
 *        alone; its content is not kept from tile to tile.  Shared memory is
 *        the step's; it carries results from one phase to the next.
 */
#ifndef GB_CPU_OPS_OP_H
#define GB_CPU_OPS_OP_H

#include "backends/cpu/kernels/api/kernels.h"

#include "ggml.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a tile's function is given. */
struct gb_cpu_task {
    struct ggml_tensor *node;       /* the node to compute: dst */
    const struct gb_cpu_kernels *k; /* the variant in use */
    const void *tiling;             /* what the row's tile() decided, or NULL */
    void *scratch;                  /* this thread's, 64-byte aligned */
    void *shared;                   /* the step's, 64-byte aligned */
    int64_t n_tiles;                /* of the phase */
    int n_threads;                  /* of the graph; for custom operations */
};

/* Compute tile TILE of task->n_tiles.  Anything but success ends the graph. */
typedef enum ggml_status (*gb_cpu_tile_fn)(
    const struct gb_cpu_task *task, int64_t tile);

/* What a step takes: the answers of the members of struct gb_cpu_op that have
 * these names. */
struct gb_cpu_needs {
    int64_t tiles;
    int64_t prepare_tiles;
    size_t scratch;
    size_t shared;
    int prepared_as; /* nodes that leave different layouts in the shared memory
                        have different numbers */
};

/* The most bytes that a row's tiling takes: a step of a plan has room for so
 * many.  Rows assert at compile time that theirs fits. */
#define GB_CPU_TILING_MAX 112

/* One row of the table.  Members may be NULL but for can_run, run, and tiles or
 * tile. */
struct gb_cpu_op {
    int n_src; /* sources that cannot be missing: the first ones */
    /* Can this node be computed: are types, shapes, strides and parameters what
     * the functions below rely on?  It and its sources, which are there, are
     * sound (see ops/check.h); the sources may be empty.  It is asked before
     * any memory exists: data pointers are not to be looked at. */
    bool (*can_run)(const struct ggml_tensor *node);
    /* Instead of tiles, scratch, shared and prepare_tiles below, for rows that
     * choose among kernels or tile sizes: decide for NODE and kernels K, once a
     * plan.  TILING is the row's own struct of TILING_SIZE bytes, a multiple of
     * 8, which tiles find in their task. */
    void (*tile)(const struct ggml_tensor *node, const struct gb_cpu_kernels *k,
                 void *tiling, struct gb_cpu_needs *needs);
    size_t tiling_size;
    /* Tiles of the run phase. */
    int64_t (*tiles)(const struct ggml_tensor *node);
    /* Bytes of scratch for each thread; NULL for none.  Here and below SIZE_MAX
     * where they do not fit (lib/base/checked.h): there is no plan then. */
    size_t (*scratch)(const struct ggml_tensor *node);
    /* Bytes that all threads share for this step, likewise. */
    size_t (*shared)(const struct ggml_tensor *node);
    /* Phase before run; both or neither. */
    int64_t (*prepare_tiles)(const struct ggml_tensor *node);
    gb_cpu_tile_fn prepare;
    /* Would prepare() leave the same bytes for NODE as it did for BEFORE, an
     * earlier node of the same row with the same prepared_as?  Sources 1 and 2
     * and the shared memory have not changed since.  If so, NODE's prepare
     * phase, which may write nothing but the shared memory, is left out: keys
     * and values use the activations that were packed for queries.  NULL:
     * never. */
    bool (*is_prepared)(
        const struct ggml_tensor *node, const struct ggml_tensor *before);
    /* There are two shared memories: one for rows that say so here, one for all
     * others.  What was prepared in the former outlives the others' steps. */
    bool keeps_shared;
    gb_cpu_tile_fn run;
    /* Phase behind run, one call by one thread; NULL for none. */
    gb_cpu_tile_fn finish;
    /* Takes one tile for each of the graph's threads (custom operations only):
     * tiles() is then an upper bound. */
    bool tiles_by_threads;
    /* Tiles are those of gb_cpu_tile_rows(), and of operands that have the
     * node's shape a tile reads these rows alone. */
    bool by_rows;
    /* The address from which tile TILE of run and the tiles behind it read, in
     * order, and in *bytes how much: where memory is the limit, threads that
     * wait at a barrier prefetch it.  NULL, or an answer of NULL: not worth
     * it. */
    const char *(*reads_at)(const struct ggml_tensor *node, const void *tiling,
                            int64_t tile, size_t *bytes);
    /* The source whose rows prepare's tiles are, those of gb_cpu_tile_rows():
     * tile T then needs these rows alone.  NULL, or an answer of NULL, where
     * tiles are something else. */
    const struct ggml_tensor *(*prepares_rows)(const struct ggml_tensor *node);
};

/* The rows by operation, NULL for an operation that has none. */
extern const struct gb_cpu_op *const gb_cpu_ops[GGML_OP_COUNT];

/* The row for NODE's operation, NULL when there is none. */
static inline const struct gb_cpu_op *
gb_cpu_op_find(const struct ggml_tensor *node)
{
    const unsigned op = (unsigned)node->op;

    return op < GGML_OP_COUNT ? gb_cpu_ops[op] : NULL;
}

/* What NODE takes, of row OP, which decides nothing. */
static inline struct gb_cpu_needs
gb_cpu_op_needs(const struct ggml_tensor *node, const struct gb_cpu_op *op)
{
    return (struct gb_cpu_needs){
        .tiles = op->tiles(node),
        .prepare_tiles = op->prepare != NULL ? op->prepare_tiles(node) : 0,
        .scratch = op->scratch != NULL ? op->scratch(node) : 0,
        .shared = op->shared != NULL ? op->shared(node) : 0,
    };
}

#endif
