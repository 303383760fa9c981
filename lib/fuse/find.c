/* SPDX-License-Identifier: MIT */
/*
 * fuse/find.c - find the groups of a graph.
 *
 * From each node that begins a chain the next node that reads it is looked for,
 * and so on; then subgraphs, in which a node reads several others, and from each
 * product element by element sums of slices of it; then, from each rotation or
 * copy, others that have nothing to do with it; then subgraphs whose nodes may
 * move forward alone; then, from each product that is left, others with its right
 * side.  Spans of memory decide whether the nodes may
 * move to where the group is computed, and whether one kernel may do what they
 * did in turns.
 */
#include "lib/fuse/search.h"

#include <stdlib.h>

/* Let the last group be the one of INDEX, whose nodes are another's now. */
static void
drop(struct gb_fuse *fuse, int index)
{
    const struct gb_fuse_group *last = &fuse->groups[--fuse->n_groups];

    fuse->groups[index] = *last;
    for (int m = 0; index < fuse->n_groups && m < last->n_nodes; m++)
        fuse->group_of[last->at[m]] = index;
}

/* Chains that became a part of it are groups no more. */
static void
keep(struct gb_fuse_search *s)
{
    struct gb_fuse *fuse = s->fuse;

    for (int m = 0; m < s->group.n_nodes; m++) {
        const int i = s->group.at[m];

        if (fuse->group_of[i] >= 0 && gb_fuse_inner_of(s, m) < 0)
            drop(fuse, fuse->group_of[i]);
    }
    for (int m = 0; m < s->group.n_nodes; m++)
        fuse->group_of[s->group.at[m]] = fuse->n_groups;
    fuse->groups[fuse->n_groups++] = s->group;
}

static bool
is_chain(struct gb_fuse_search *s, const struct gb_fuse_chain *chain, int first)
{
    if (!gb_fuse_take_chain(s, chain, first) || !gb_fuse_may_move_back(s))
        return false;
    gb_fuse_find_written(s);
    return gb_fuse_may_be_one(s);
}

static void
find_chain(struct gb_fuse_search *s, int first, gb_fuse_accepts_fn accepts,
           void *data)
{
    for (int i = 0; i < gb_fuse_n_chains; i++) {
        if (is_chain(s, &gb_fuse_chains[i], first) &&
            accepts(data, &s->group)) {
            keep(s);
            return;
        }
    }
}

/* May what reads earlier members by views be one kernel? */
static bool
may_be_subgraph(struct gb_fuse_search *s)
{
    if (!gb_fuse_are_kept(s) ||
        !(s->group.is_early ? gb_fuse_may_move_forward(s)
                            : gb_fuse_may_move_back(s)))
        return false;
    gb_fuse_find_written(s);
    return gb_fuse_may_be_one(s);
}

static void
find_subgraph(struct gb_fuse_search *s, int first, bool is_early,
              gb_fuse_accepts_fn accepts, void *data)
{
    for (int i = 0; i < gb_fuse_n_subgraphs; i++) {
        if (!gb_fuse_take_subgraph(s, &gb_fuse_subgraphs[i], first))
            continue;
        s->group.is_early = is_early;
        if (may_be_subgraph(s) && accepts(data, &s->group)) {
            keep(s);
            return;
        }
    }
}

/* With one less, where all do not go together. */
static void
find_slices(struct gb_fuse_search *s, int first, gb_fuse_accepts_fn accepts,
            void *data)
{
    if (!gb_fuse_take_slices(s, first))
        return;
    for (; s->group.n_nodes > 1; s->group.n_nodes--) {
        if (may_be_subgraph(s) && accepts(data, &s->group)) {
            keep(s);
            return;
        }
    }
}

static bool
are_stores(struct gb_fuse_search *s)
{
    if (!gb_fuse_are_apart(s) || !gb_fuse_may_move_back(s))
        return false;
    gb_fuse_find_written(s);
    return gb_fuse_may_be_one(s);
}

/* What does not go together with those before it is left out. */
static void
find_stores(struct gb_fuse_search *s, int first, gb_fuse_accepts_fn accepts,
            void *data)
{
    if (!gb_fuse_begins_store(s, first))
        return;
    gb_fuse_begin_group(s, GB_FUSE_STORES);
    gb_fuse_add_store(s, first);
    for (int i = first + 1; i < gb_fuse_window_end(s, first) &&
                            s->group.n_parts < GB_FUSE_MAX_PARTS; i++) {
        const struct gb_fuse_group without = s->group;

        if (!gb_fuse_begins_store(s, i))
            continue;
        gb_fuse_add_store(s, i);
        if (!are_stores(s) || !accepts(data, &s->group))
            s->group = without;
    }
    if (s->group.n_parts > 1)
        keep(s);
}

static bool
are_products(struct gb_fuse_search *s)
{
    gb_fuse_find_written(s);
    return gb_fuse_may_move_forward(s) && gb_fuse_may_be_one(s);
}

/* The same: products of weights of another type have another kernel, and may be
 * a group of their own. */
static void
find_products(struct gb_fuse_search *s, int first, gb_fuse_accepts_fn accepts,
              void *data)
{
    gb_fuse_begin_group(s, GB_FUSE_PRODUCTS);
    if (!gb_fuse_is_beside(s, first))
        return;
    s->group.is_early = true;
    gb_fuse_add_product(s, first);
    for (int i = first + 1; i < gb_fuse_window_end(s, first) &&
                            s->group.n_parts < GB_FUSE_MAX_PARTS; i++) {
        const struct gb_fuse_group without = s->group;

        if (!gb_fuse_is_beside(s, i))
            continue;
        gb_fuse_add_product(s, i);
        if (!are_products(s) || !accepts(data, &s->group))
            s->group = without;
    }
    if (s->group.n_parts > 1)
        keep(s);
}

void
gb_fuse_clear(struct gb_fuse *fuse)
{
    free(fuse->uses);
    free(fuse->groups);
    free(fuse->group_of);
    *fuse = (struct gb_fuse){ .n_groups = 0 };
}

/* Lists for N nodes. */
static bool
make_room(struct gb_fuse *fuse, int n)
{
    if (n <= fuse->room)
        return true;
    gb_fuse_clear(fuse);
    fuse->uses = calloc((size_t)n, sizeof(*fuse->uses));
    fuse->groups = calloc((size_t)n, sizeof(*fuse->groups));
    fuse->group_of = calloc((size_t)n, sizeof(*fuse->group_of));
    if (fuse->uses == NULL || fuse->groups == NULL || fuse->group_of == NULL) {
        gb_fuse_clear(fuse);
        return false;
    }
    fuse->room = n;
    return true;
}

bool
gb_fuse_find(struct gb_fuse *fuse, const struct ggml_cgraph *cgraph,
             gb_fuse_accepts_fn accepts, void *data)
{
    struct gb_fuse_search s = { .fuse = fuse, .cgraph = cgraph };

    fuse->n_groups = 0;
    if (!make_room(fuse, cgraph->n_nodes))
        return false;
    for (int i = 0; i < cgraph->n_nodes; i++) {
        fuse->uses[i] = gb_fuse_use_of(cgraph->nodes[i]);
        fuse->group_of[i] = -1;
    }
    for (int i = 0; i < cgraph->n_nodes; i++) {
        if (gb_fuse_is_free(&s, i))
            find_chain(&s, i, accepts, data);
    }
    for (int i = 0; i < cgraph->n_nodes; i++) {
        if (gb_fuse_is_free(&s, i))
            find_subgraph(&s, i, false, accepts, data);
        if (gb_fuse_is_free(&s, i))
            find_slices(&s, i, accepts, data);
    }
    for (int i = 0; i < cgraph->n_nodes; i++)
        find_stores(&s, i, accepts, data);
    /* What moves forward is looked for last: it sees by the groups that are
     * there which nodes are computed behind their places. */
    for (int i = 0; i < cgraph->n_nodes; i++) {
        if (gb_fuse_is_free(&s, i))
            find_subgraph(&s, i, true, accepts, data);
    }
    for (int i = 0; i < cgraph->n_nodes; i++) {
        if (gb_fuse_is_free(&s, i))
            find_products(&s, i, accepts, data);
    }
    return true;
}
