/* SPDX-License-Identifier: MIT */
/*
 * cpu/plan/steps.c - from a graph's nodes to a list of phases, and the memory
 * that they need.
 *
 * One pass over the nodes: each is checked, becomes a step of up to three
 * phases (prepare a source, run, finish), is put among the phases before it by
 * waves.c, and raises the sizes of scratch and shared memory.  A source that an
 * earlier node has prepared, and nobody has written over since, is not prepared
 * again.  Without room for the list everything is only counted, so that the
 * caller can provide it.
 */
#include "config.h"

#include "backends/cpu/ops/check.h"
#include "backends/cpu/plan/plan.h"
#include "backends/cpu/plan/waves.h"

#include "lib/base/attr.h"
#include "lib/base/checked.h"
#include "lib/base/status.h"
#include "lib/graph/graph.h"
#include "lib/op/op.h"

#include <string.h>

/* Views compute nothing, nor do nodes without elements. */
static bool
has_work(const struct ggml_tensor *node)
{
    return gb_op_has_work(node->op) && node->ne[0] != 0 && node->ne[1] != 0 &&
           node->ne[2] != 0 && node->ne[3] != 0;
}

/* Nodes of long graphs are not in the first caches: prefetch distance in
 * nodes. */
#define AHEAD 4

static inline void
fetch(const struct ggml_tensor *node)
{
    if (node == NULL)
        return;
    GB_PREFETCH(&node->op);
    GB_PREFETCH(&node->src[0]);
    GB_PREFETCH(&node->data);
}

/* Are the counts possible?  A slice of a graph (ggml_graph_view) has nodes but
 * no room of its own. */
static bool
has_counts(const struct ggml_cgraph *graph)
{
    return graph->n_nodes >= 0 &&
           (graph->n_nodes == 0 || graph->nodes != NULL) &&
           (graph->n_nodes <= graph->size ||
            graph->visited_hash_set.size == 0);
}

static enum ggml_status
check_graph(const struct ggml_cgraph *graph)
{
    GB_NEED_OR(GGML_STATUS_FAILED, graph != NULL, "cpu: no graph");
    if (gb_graph_is_failed(graph))
        return gb_fail(GGML_STATUS_FAILED, "cpu: the graph has failed: %s",
                       gb_graph_failure(graph));
    if (!has_counts(graph))
        return gb_fail(GGML_STATUS_FAILED,
                       "cpu: a graph of %d nodes, with room for %d",
                       graph->n_nodes, graph->size);
    return GGML_STATUS_SUCCESS;
}

/* Tilings have 64-bit numbers, and sizes that need not be multiples of them. */
#define TILING_ALIGN ((size_t)8)

/* Member by member: a struct that is made on the stack is read before it has
 * arrived there, which costs a fifth of a small node's time. */
static GB_ALWAYS_INLINE void
set_phase(struct gb_cpu_phase *out, struct ggml_tensor *node,
          const struct gb_cpu_op *op, const void *tiling, bool has_shared,
          gb_cpu_tile_fn tile, int64_t n_tiles)
{
    out->node = node;
    out->tile = tile;
    out->tiling = tiling;
    out->n_tiles = n_tiles;
    out->is_last = false;
    out->has_shared = has_shared;
    out->is_kept = op->keeps_shared;
    out->is_chained = false;
    out->n_more = 0;
}

/* Write a step's phases, one to three of them, to OUT and return how many: to
 * prepare a source, when that has PREPARE_TILES, to run, to finish. */
static GB_ALWAYS_INLINE int
phases_of(struct ggml_tensor *node, const struct gb_cpu_op *op,
          const void *tiling, bool has_shared, int64_t tiles,
          int64_t prepare_tiles, struct gb_cpu_phase out[3])
{
    int n = 0;

    if (prepare_tiles > 0)
        set_phase(&out[n++], node, op, tiling, has_shared, op->prepare,
                  prepare_tiles);
    set_phase(&out[n++], node, op, tiling, has_shared, op->run, tiles);
    if (op->finish != NULL)
        set_phase(&out[n++], node, op, tiling, has_shared, op->finish, 1);
    out[n - 1].is_last = true;
    return n;
}

/* Raise *MOST to SIZE, rounded up. */
static GB_ALWAYS_INLINE enum ggml_status
raise_to(size_t *most, size_t size, const struct ggml_tensor *node)
{
    size_t padded;

    if (size <= *most)
        return GGML_STATUS_SUCCESS;
    if (!gb_pad_size(size, GB_CPU_WORK_ALIGN, &padded))
        return gb_fail(GGML_STATUS_FAILED, "cpu: %s needs too much memory",
                       ggml_op_desc(node));
    *most = padded;
    return GGML_STATUS_SUCCESS;
}

/* An operand of an operation may be NULL or empty; else it has data. */
static bool
operand_has_memory(const struct ggml_tensor *src)
{
    return src == NULL || src->data != NULL || ggml_is_empty(src);
}

/* What was prepared last in a part of the shared memory. */
struct prepared {
    struct ggml_tensor *node; /* NULL: nothing that could be used again */
    int as;
};

/* State of the pass over the nodes; phases and tilings that have no room are only
 * counted. */
struct builder {
    const struct gb_cpu_kernels *kernels;
    struct gb_cpu_phase *phases;
    char *tilings; /* the first of them, up to the end of the list; NULL when
                      the list is full */
    int64_t n_phases;
    int64_t max_tiles; /* of a phase */
    struct prepared prepared[2];
    int n_threads;
    struct gb_cpu_known *known;
    struct gb_cpu_size *size;
};

/* Is there room for three more phases and a tiling of SIZE bytes? */
static bool
has_room(const struct builder *builder, size_t size)
{
    const size_t phases =
        (size_t)(builder->n_phases + 3) * sizeof(*builder->phases);

    return (uintptr_t)builder->phases + phases + size <=
           (uintptr_t)builder->tilings;
}

/* Tiles in which NODE's source is prepared; 0 when it has been, for an earlier
 * node. */
static GB_ALWAYS_INLINE int64_t
prepare_tiles(struct builder *builder, struct ggml_tensor *node,
              const struct gb_cpu_op *op, const struct gb_cpu_needs *needs)
{
    struct prepared *prepared = &builder->prepared[op->keeps_shared];

    if (needs->prepare_tiles == 0 && needs->shared == 0)
        return 0;
    if (prepared->node != NULL && op->is_prepared != NULL &&
        gb_cpu_op_find(prepared->node) == op &&
        prepared->as == needs->prepared_as &&
        op->is_prepared(node, prepared->node)) {
        /* Addresses may change before the graph is computed, and a plan that
         * is made then may need the phase. */
        builder->size->n_phases += needs->prepare_tiles > 0;
        return 0;
    }
    if (needs->shared > 0) {
        prepared->node =
            needs->prepare_tiles > 0 && op->is_prepared != NULL ? node : NULL;
        prepared->as = needs->prepared_as;
    }
    return needs->prepare_tiles;
}

/* TENSOR is written: a source that overlaps with it has to be prepared again. */
static GB_ALWAYS_INLINE void
forget_at(struct builder *builder, const struct ggml_tensor *tensor)
{
#pragma GCC unroll 2
    for (int part = 0; part < 2; part++) {
        const struct ggml_tensor *prepared = builder->prepared[part].node;

        for (int i = 1; prepared != NULL && i <= 2; i++) {
            if (prepared->src[i] != NULL &&
                gb_cpu_overlaps(tensor, prepared->src[i]))
                builder->prepared[part].node = NULL;
        }
    }
}

/* NODE writes SOURCES, as bits, as well as its result. */
static void GB_NOINLINE
forget_sources(struct builder *builder, const struct ggml_tensor *node,
               unsigned sources)
{
    if (sources == GB_OP_WRITES_ANYTHING) {
        builder->prepared[0].node = builder->prepared[1].node = NULL;
        return;
    }
    for (int i = 0; i < GGML_MAX_SRC; i++) {
        if ((sources >> i & 1) != 0 && node->src[i] != NULL)
            forget_at(builder, node->src[i]);
    }
}

/* NODE has a row, so its operation is a known one. */
static GB_ALWAYS_INLINE void
forget_overwritten(struct builder *builder, const struct ggml_tensor *node)
{
    const unsigned char *sources = &gb_op_written_sources[node->op];

    forget_at(builder, node);
    if (GB_UNLIKELY(*sources != 0))
        forget_sources(builder, node, *sources);
}

/* Schedule a step's N phases, which stand behind all others: those of more than
 * one tile move to the wave that they may join. */
static void
place(struct builder *builder, int n)
{
    for (int64_t i = builder->n_phases; i < builder->n_phases + n; i++) {
        if (builder->phases[i].n_tiles > 1)
            gb_cpu_wave_add(builder->phases, i, builder->phases[i]);
    }
}

/* Where the phases of a step go that has a tiling of SIZE bytes: SPARE when the
 * list is full, as it is from then on. */
static GB_ALWAYS_INLINE struct gb_cpu_phase *
phases_for(struct builder *builder, size_t size, struct gb_cpu_phase *spare)
{
    if (GB_LIKELY(has_room(builder, size)))
        return builder->phases + builder->n_phases;
    builder->tilings = NULL;
    return spare;
}

/* Append a step to PHASES, and account for its memory. */
static GB_ALWAYS_INLINE enum ggml_status
append(struct builder *builder, struct ggml_tensor *node,
       const struct gb_cpu_op *op, const void *tiling,
       const struct gb_cpu_needs *needs, struct gb_cpu_phase *phases)
{
    struct gb_cpu_size *size = builder->size;
    const int64_t tiles =
        op->tiles_by_threads && needs->tiles > builder->n_threads
            ? builder->n_threads
            : needs->tiles;
    const int64_t prepare = prepare_tiles(builder, node, op, needs);
    const int64_t most = prepare > tiles ? prepare : tiles;
    const int n = phases_of(node, op, tiling, needs->shared > 0, tiles, prepare,
                            phases);

    if (most > builder->max_tiles)
        builder->max_tiles = most;
    if (most > 1 && builder->n_threads > 1 && builder->tilings != NULL)
        place(builder, n);
    builder->n_phases += n;
    size->n_phases += n;
    forget_overwritten(builder, node);
    GB_TRY(raise_to(&size->scratch, needs->scratch, node));
    return raise_to(&size->shared[op->keeps_shared], needs->shared, node);
}

/* A step of a row that decides. */
static enum ggml_status GB_NOINLINE
add_tiled(struct builder *builder, struct ggml_tensor *node,
          const struct gb_cpu_op *op)
{
    struct gb_cpu_phase spare[3];
    _Alignas(TILING_ALIGN) char spare_tiling[GB_CPU_TILING_MAX];
    const size_t size = GGML_PAD(op->tiling_size, TILING_ALIGN);
    struct gb_cpu_phase *phases =
        phases_for(builder, size, spare);
    void *tiling = spare_tiling;
    struct gb_cpu_needs needs;

    if (builder->tilings != NULL)
        tiling = builder->tilings -= size;
    builder->size->tilings += size;
    op->tile(node, builder->kernels, tiling, &needs);
    return append(builder, node, op, tiling, &needs, phases);
}

/* Check NODE, and append its step. */
static enum ggml_status
add_node(struct builder *builder, struct ggml_tensor *node)
{
    const struct gb_cpu_op *op = gb_cpu_op_find(node);
    struct gb_cpu_phase spare[3];
    struct gb_cpu_needs needs;

    if (op == NULL || !gb_cpu_can_compute(node, op, builder->known))
        return gb_cpu_fail_node(node);
    if (op->tile != NULL)
        return add_tiled(builder, node, op);
    needs = gb_cpu_op_needs(node, op);
    return append(builder, node, op, NULL, &needs,
                  phases_for(builder, 0, spare));
}

/* Bytes of a list of N phases, with room for the last node to be written as if
 * it had three, and of TILINGS bytes, which end at an aligned address. */
static bool
list_size_of(int64_t n_phases, size_t tilings, size_t *out)
{
    return (uint64_t)n_phases < SIZE_MAX - 2 &&
           gb_mul_size((size_t)n_phases + 2, sizeof(struct gb_cpu_phase),
                       out) &&
           gb_add_size(*out, tilings, out) &&
           gb_pad_size(*out, TILING_ALIGN, out);
}

size_t
gb_cpu_plan_list_limit(const struct ggml_cgraph *graph)
{
    const int64_t n_nodes =
        graph != NULL && has_counts(graph) ? graph->n_nodes : 0;
    size_t size;

    return list_size_of(3 * n_nodes, (size_t)n_nodes * GB_CPU_TILING_MAX, &size)
               ? size
               : SIZE_MAX;
}

/* The sums, the work memory's with room to begin at an aligned address. */
static enum ggml_status
add_up(struct gb_cpu_size *size)
{
    size_t scratch, sum;

    /* A graph in which nothing is to be done needs no memory. */
    if (size->n_phases == 0)
        return GGML_STATUS_SUCCESS;
    if (!list_size_of(size->n_phases, size->tilings, &size->list) ||
        !gb_mul_size(size->scratch, (size_t)size->n_threads, &scratch) ||
        !gb_add_size(scratch, size->shared[0], &sum) ||
        !gb_add_size(sum, size->shared[1], &sum) ||
        !gb_add_size(sum, GB_CPU_WORK_ALIGN - 1, &size->work))
        return gb_fail(GGML_STATUS_FAILED, "cpu: %zu bytes of scratch for each "
                       "of %d threads do not fit", size->scratch,
                       size->n_threads);
    if (sum == 0)
        size->work = 0;
    return GGML_STATUS_SUCCESS;
}

void
gb_cpu_plan_set_work(struct gb_cpu_plan *plan, const struct gb_cpu_size *size,
                     void *work)
{
    const size_t past = (uintptr_t)work % GB_CPU_WORK_ALIGN;

    plan->shared[0] = (char *)work + (past > 0 ? GB_CPU_WORK_ALIGN - past : 0);
    plan->shared[1] = plan->shared[0] + size->shared[0];
    plan->scratch = plan->shared[1] + size->shared[1];
    plan->scratch_size = size->scratch;
}

enum ggml_status
gb_cpu_plan_build(const struct ggml_cgraph *graph, int n_threads, void *list,
                  size_t list_size, struct gb_cpu_size *size,
                  struct gb_cpu_plan *plan)
{
    struct gb_cpu_known known;
    struct builder builder = {
        .kernels = gb_cpu_kernels(),
        .phases = list,
        .tilings = list == NULL ? NULL : (char *)list + list_size /
                       TILING_ALIGN * TILING_ALIGN,
        .max_tiles = 1,
        .n_threads = n_threads,
        .known = &known,
        .size = size,
    };

    gb_cpu_known_init(&known);
    memset(size, 0, sizeof(*size));
    memset(plan, 0, sizeof(*plan));
    GB_TRY(check_graph(graph));
    for (int i = 0; i < graph->n_nodes; i++) {
        struct ggml_tensor *node = graph->nodes[i];

        if (graph->n_nodes - i > AHEAD)
            fetch(graph->nodes[i + AHEAD]);
        if (GB_UNLIKELY(node == NULL))
            return gb_fail(GGML_STATUS_FAILED,
                           "cpu: node %d of the graph is not there", i);
        if (has_work(node))
            GB_TRY(add_node(&builder, node));
    }
    size->n_threads = builder.max_tiles < n_threads ? (int)builder.max_tiles
                                                    : n_threads;
    GB_TRY(add_up(size));
    plan->kernels = builder.kernels;
    plan->n_threads = size->n_threads;
    if (size->n_phases == 0 || size->list > list_size)
        return GGML_STATUS_SUCCESS;
    plan->phases = builder.phases;
    plan->n_phases = builder.n_phases;
    plan->has_memory = known.memory.is_complete;
    /* Parts without bytes may have any address. */
    if (size->work == 0)
        gb_cpu_plan_set_work(plan, size, list);
    return GGML_STATUS_SUCCESS;
}

/* Say which tensor of NODE's has no memory. */
static enum ggml_status
fail_without_memory(const struct ggml_tensor *node)
{
    if (node->data == NULL)
        return gb_fail(GGML_STATUS_FAILED, "cpu: %s \"%s\" has no memory",
                       ggml_op_desc(node), node->name);
    for (int i = 0; i < GGML_MAX_SRC; i++) {
        if (!operand_has_memory(node->src[i]))
            return gb_fail(GGML_STATUS_FAILED,
                           "cpu: source %d of %s \"%s\" has no memory", i,
                           ggml_op_desc(node), node->name);
    }
    return GGML_STATUS_SUCCESS;
}

enum ggml_status
gb_cpu_plan_check_memory(const struct gb_cpu_plan *plan)
{
    for (int64_t i = 0; i < plan->n_phases && !plan->has_memory; i++) {
        if (plan->phases[i].is_last)
            GB_TRY(fail_without_memory(plan->phases[i].node));
    }
    return GGML_STATUS_SUCCESS;
}
