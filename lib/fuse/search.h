/* SPDX-License-Identifier: MIT */
/*
 * fuse/search.h - the parts of the search for groups: find.c tries candidates,
 * take.c gathers the nodes of one, safe.c says what memory has to do with it.
 */
#ifndef GB_FUSE_SEARCH_H
#define GB_FUSE_SEARCH_H

#include "lib/fuse/memory.h"
#include "lib/fuse/patterns.h"

/* Nodes behind the first one in which others of a group are looked for. */
enum { GB_FUSE_WINDOW = 24 };

/* What a search works on; its group is the candidate. */
struct gb_fuse_search {
    struct gb_fuse *fuse;
    const struct ggml_cgraph *cgraph;
    struct gb_fuse_group group;
};

/* What member MEMBER of the candidate does to memory. */
static inline const struct gb_fuse_use *
gb_fuse_use_at(const struct gb_fuse_search *s, int member)
{
    return &s->fuse->uses[s->group.at[member]];
}

/* Does node I compute something, and is in no group yet? */
static inline bool
gb_fuse_is_free(const struct gb_fuse_search *s, int i)
{
    return s->fuse->uses[i].works && s->fuse->group_of[i] < 0;
}

/* Is T what OF is, or a view of that? */
static inline bool
gb_fuse_is_of(const struct ggml_tensor *t, const struct ggml_tensor *of)
{
    return t != NULL && (t == of || (t->view_src == of &&
                                     !gb_fuse_computes(t->op)));
}

/* The member of the same part that stands before MEMBER; -1: it is the first
 * one. */
static inline int
gb_fuse_inner_of(const struct gb_fuse_search *s, int member)
{
    int m = member - 1;

    while (m >= 0 && s->group.part[m] != s->group.part[member])
        m--;
    return m;
}

/* The end of the nodes in which others of a group are looked for, of which the
 * first one is FIRST. */
static inline int
gb_fuse_window_end(const struct gb_fuse_search *s, int first)
{
    const int end = first + GB_FUSE_WINDOW;

    return end < s->cgraph->n_nodes ? end : s->cgraph->n_nodes;
}

/* ---- take.c: the nodes of a candidate, from node FIRST on ---- */

void gb_fuse_begin_group(
    struct gb_fuse_search *s, enum gb_fuse_pattern pattern);
bool gb_fuse_take_chain(struct gb_fuse_search *s,
                        const struct gb_fuse_chain *chain, int first);
bool gb_fuse_take_subgraph(struct gb_fuse_search *s,
                           const struct gb_fuse_subgraph *subgraph, int first);

/* A product element by element, and a sum of its slices. */
bool gb_fuse_take_slices(struct gb_fuse_search *s, int first);

/* Is node I a product, with the right side of those that the candidate has?  Add
 * it. */
bool gb_fuse_is_beside(const struct gb_fuse_search *s, int i);
void gb_fuse_add_product(struct gb_fuse_search *s, int i);

/* Does a part of stores begin with node I: by itself, or as a chain that was
 * found?  Add it. */
bool gb_fuse_begins_store(const struct gb_fuse_search *s, int i);
void gb_fuse_add_store(struct gb_fuse_search *s, int i);

/* ---- safe.c ---- */

/* May the nodes move to the place of the last one, or of the first one? */
bool gb_fuse_may_move_back(const struct gb_fuse_search *s);
bool gb_fuse_may_move_forward(const struct gb_fuse_search *s);

/* Has no part to do with what another one reads or writes? */
bool gb_fuse_are_apart(const struct gb_fuse_search *s);

/* Does each member find what earlier ones made as that was made? */
bool gb_fuse_are_kept(const struct gb_fuse_search *s);

/* Whose result has to be written? */
void gb_fuse_find_written(struct gb_fuse_search *s);

/* May one kernel do it, that writes those? */
bool gb_fuse_may_be_one(const struct gb_fuse_search *s);

#endif
