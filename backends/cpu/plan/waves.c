/* SPDX-License-Identifier: MIT */
/*
 * cpu/plan/waves.c - list scheduling: the earliest wave that a phase may join.
 *
 * For a new phase the list is searched from its end for the last phase that it
 * has a hazard with: read after write, write after read or write after write,
 * by the addresses of tensors, and the memory that the threads of a step share.
 * If that one has the same rows, tile for tile, the new phase is chained behind
 * it; else it joins the first wave after that one's, or begins one.
 *
 * The search ends after MAX_PASSED phases, so that a graph of n nodes takes
 * time proportional to n.
 */
#include "config.h"

#include "backends/cpu/plan/waves.h"

#include "lib/op/op.h"

#include <string.h>

/* Phases that one may be moved ahead of. */
#define MAX_PASSED 24

bool
gb_cpu_overlaps(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    const char *const at_a = a->data;
    const char *const at_b = b->data;

    if (at_a == NULL || at_b == NULL)
        return true;
    /* Only the lower one can reach into the other. */
    return at_a < at_b ? at_b < at_a + ggml_nbytes(a)
                       : at_a < at_b + ggml_nbytes(b);
}

/* The tensor whose rows are PHASE's tiles, divided as gb_cpu_tile_rows does, or
 * NULL where tiles are something else. */
static const struct ggml_tensor *
rows_of(const struct gb_cpu_phase *phase)
{
    const struct gb_cpu_op *op = gb_cpu_op_find(phase->node);

    if (phase->tile == op->run)
        return op->by_rows ? phase->node : NULL;
    if (phase->tile == op->prepare && op->prepares_rows != NULL)
        return op->prepares_rows(phase->node);
    return NULL;
}

/* What keeps two phases from being done at the same time. */
enum hazard {
    HAZARD_NONE,
    HAZARD_ROWS, /* they meet in tensors that have the same rows */
    HAZARD_ANY,
};

/* A and B overlap in memory.  If they are the same elements and tiles are rows
 * of a tensor of ROWS' shape, a tile meets the same tile of the other alone. */
static enum hazard
meeting(const struct ggml_tensor *a, const struct ggml_tensor *b,
        const struct ggml_tensor *rows)
{
    if (a->data == b->data && a->data != NULL && a->type == b->type &&
        ggml_are_same_shape(a, rows) && ggml_are_same_shape(b, rows) &&
        ggml_are_same_stride(a, b))
        return HAZARD_ROWS;
    return HAZARD_ANY;
}

/* Hazards between NODE, which is written, and what PHASE reads. */
static enum hazard
hazard_of_reads(const struct ggml_tensor *node,
                const struct gb_cpu_phase *phase)
{
    enum hazard hazard = HAZARD_NONE;

    for (int i = 0; i < GGML_MAX_SRC; i++) {
        const struct ggml_tensor *src = phase->node->src[i];

        if (src == NULL || !gb_cpu_overlaps(node, src))
            continue;
        if (meeting(node, src, node) == HAZARD_ANY)
            return HAZARD_ANY;
        hazard = HAZARD_ROWS;
    }
    return hazard;
}

/* Is it the node that PHASE writes, not memory that threads share? */
static bool
writes_node(const struct gb_cpu_phase *phase, const struct gb_cpu_op *op)
{
    return phase->tile != op->prepare || op->is_prepared == NULL;
}

/* Does PHASE but read what was prepared in shared memory? */
static bool
reads_shared(const struct gb_cpu_phase *phase, const struct gb_cpu_op *op)
{
    return phase->tile == op->run && op->is_prepared != NULL;
}

/* Do both use the same shared memory, and one of them writes there? */
static bool
meet_in_shared(const struct gb_cpu_phase *a, const struct gb_cpu_op *op_a,
               const struct gb_cpu_phase *b, const struct gb_cpu_op *op_b)
{
    return a->has_shared && b->has_shared && a->is_kept == b->is_kept &&
           !(reads_shared(a, op_a) && reads_shared(b, op_b));
}

/* The worst hazard between two phases, whichever comes before the other. */
static enum hazard
hazard_between(const struct gb_cpu_phase *a, const struct gb_cpu_phase *b)
{
    const struct gb_cpu_op *op_a = gb_cpu_op_find(a->node);
    const struct gb_cpu_op *op_b = gb_cpu_op_find(b->node);
    enum hazard hazard = HAZARD_NONE;

    /* A step's phases are in order, whatever they write; and what writes more
     * than its node waits for all. */
    if (a->node == b->node || gb_op_written_sources[a->node->op] != 0 ||
        gb_op_written_sources[b->node->op] != 0 || meet_in_shared(a, op_a, b, op_b))
        return HAZARD_ANY;
    if (writes_node(a, op_a))
        hazard = hazard_of_reads(a->node, b);
    if (hazard != HAZARD_ANY && writes_node(b, op_b)) {
        const enum hazard other = hazard_of_reads(b->node, a);

        hazard = other > hazard ? other : hazard;
        if (writes_node(a, op_a) && gb_cpu_overlaps(a->node, b->node)) {
            const enum hazard both = meeting(a->node, b->node, a->node);

            hazard = both > hazard ? both : hazard;
        }
    }
    return hazard;
}

/* The first phase of the wave that phase I is in, and the one behind its
 * last. */
static int64_t
wave_begin(const struct gb_cpu_phase *phases, int64_t i)
{
    return phases[i].n_more < 0 ? i + phases[i].n_more : i;
}

static int64_t
wave_end(const struct gb_cpu_phase *phases, int64_t i)
{
    const int64_t begin = wave_begin(phases, i);

    return begin + phases[begin].n_more + 1;
}

/* Put PHASE at PLACE, behind another one of a wave. */
static void
insert(struct gb_cpu_phase *phases, int64_t n, int64_t place,
       const struct gb_cpu_phase *phase)
{
    const int64_t begin = wave_begin(phases, place - 1);

    memmove(phases + place + 1, phases + place,
            (size_t)(n - place) * sizeof(*phases));
    phases[place] = *phase;
    phases[begin].n_more++;
    for (int64_t i = begin + 1; i <= begin + phases[begin].n_more; i++)
        phases[i].n_more = (int32_t)(begin - i);
}

/*
 * May PHASE be done tile by tile behind phase LAST, the last one that it has to
 * wait for?  Its tiles must be the same rows, what it shares with others of the
 * chain their rows, and with others of the wave nothing.
 */
static bool
can_follow(const struct gb_cpu_phase *phases, int64_t n, int64_t last,
           const struct gb_cpu_phase *phase)
{
    const struct ggml_tensor *rows = rows_of(phase);
    const struct ggml_tensor *before = rows_of(&phases[last]);
    bool is_chain = true; /* as far as I */

    if (rows == NULL || before == NULL ||
        phases[last].tile != gb_cpu_op_find(phases[last].node)->run ||
        phases[last].n_tiles != phase->n_tiles ||
        !ggml_are_same_shape(rows, before) ||
        (last + 1 < n && phases[last + 1].is_chained))
        return false;
    for (int64_t i = last; i >= wave_begin(phases, last); i--) {
        const enum hazard hazard = hazard_between(&phases[i], phase);

        if (hazard > (is_chain ? HAZARD_ROWS : HAZARD_NONE))
            return false;
        is_chain = is_chain && phases[i].is_chained;
    }
    return true;
}

/* BEHIND is the number of phases that the new one has to follow.  It is chained
 * to the last of those, or inserted into the first wave behind it that has more
 * than one tile, or appended. */
void
gb_cpu_wave_add(struct gb_cpu_phase *phases, int64_t n,
                struct gb_cpu_phase phase)
{
    const int64_t fewest = n > MAX_PASSED ? n - MAX_PASSED : 0;
    int64_t behind = n;

    while (behind > fewest &&
           hazard_between(&phases[behind - 1], &phase) == HAZARD_NONE)
        behind--;
    if (behind > fewest && can_follow(phases, n, behind - 1, &phase)) {
        phase.is_chained = true;
        insert(phases, n, behind, &phase);
        return;
    }
    if (behind > 0)
        behind = wave_end(phases, behind - 1);
    for (; behind < n; behind = wave_end(phases, behind)) {
        if (phases[behind].n_tiles > 1) {
            insert(phases, n, wave_end(phases, behind), &phase);
            return;
        }
    }
    phases[n] = phase;
}
