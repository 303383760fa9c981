/* SPDX-License-Identifier: MIT */
/*
 * fuse/fuse.h - groups of nodes that a backend computes by one kernel.
 *
 * A group is computed where its last node stands, the others later than they
 * stand in the graph; or, one of products, and a choice of experts that others
 * read before it is whole, where its first node stands, the others earlier.  So
 * nothing between them may have to do with the memory that they read and write;
 * this is decided by the addresses of the tensors' memory.
 *
 * Products and stores are gathered from nodes that do not read each other: the
 * kernel does such parts in any order, and at the same time.
 *
 * The result of an inner node is left unwritten only if nobody can miss it: a
 * later node of the same graph writes all of its memory before another node
 * reads any of it.  A backend sees a slice of the client's
 * graph: what is not written again may be read in the next one.
 *
 * Public headers and the table of operations alone are used, and nothing is exported: each GPU backend
 * links its own copy.
 */
#ifndef GB_FUSE_FUSE_H
#define GB_FUSE_FUSE_H

#include "ggml-impl.h"

enum gb_fuse_pattern {
    GB_FUSE_ADD_NORM,   /* ADD, NORM or RMS_NORM, MUL by weights */
    GB_FUSE_GATE,       /* UNARY, MUL */
    GB_FUSE_GET_NORM,   /* GET_ROWS, NORM or RMS_NORM, MUL by weights, perhaps
                           ADD */
    GB_FUSE_NORM,       /* NORM or RMS_NORM, MUL by weights, perhaps ADD */
    GB_FUSE_PRODUCT,    /* MUL_MAT, ADD, perhaps another ADD */
    GB_FUSE_PRODUCTS,   /* MUL_MATs with one right side; none reads another */
    GB_FUSE_ROPE_STORE, /* ROPE, CPY */
    GB_FUSE_ROUTE,      /* SOFT_MAX, ARGSORT, GET_ROWS by the order of what is
                           sorted, perhaps SUM_ROWS and DIV by that */
    GB_FUSE_SLICES,     /* MUL, ADDs of views of it, one after the other */
    GB_FUSE_SOFT_MAX,   /* perhaps SCALE, perhaps DIAG_MASK_INF or ADD of a
                           mask, SOFT_MAX; two of them at least */
    GB_FUSE_STORES,     /* ROPEs, CPYs, and such pairs; none reads another */
    GB_FUSE_PATTERN_COUNT
};

enum {
    GB_FUSE_MAX_PARTS = 3, /* that have nothing to do with each other */
    GB_FUSE_MAX_NODES = 8,
};

struct gb_fuse_group {
    enum gb_fuse_pattern pattern;
    int n_nodes;
    int at[GB_FUSE_MAX_NODES]; /* places in the graph, the first one first */
    const struct ggml_tensor *nodes[GB_FUSE_MAX_NODES];
    int n_parts;
    int part[GB_FUSE_MAX_NODES]; /* that each node belongs to: products and
                                    stores have several, others just 0 */
    bool is_early; /* computed where the first node stands */
    unsigned written; /* bit I: the result of node I has to be written */
};

/* Node I of GROUP, counted from 0; its result has to be written? */
static inline bool
gb_fuse_is_written(const struct gb_fuse_group *group, int i)
{
    return (group->written >> i & 1) != 0;
}

struct gb_fuse_use;

/* All zero: nothing was found.  The arrays grow and are kept. */
struct gb_fuse {
    struct gb_fuse_use *uses; /* what each node does to memory */
    struct gb_fuse_group *groups;
    int *group_of; /* by node: the index of its group, -1 for none */
    int n_groups;
    int room; /* nodes that the arrays are for */
};

/* Can the backend compute GROUP by one kernel? */
typedef bool (*gb_fuse_accepts_fn)(
    void *data, const struct gb_fuse_group *group);

/*
 * Find the groups of CGRAPH, whose tensors have memory; ACCEPTS is asked for
 * each candidate, the longest first, with DATA.  Of stores and of products a
 * candidate has one more than what was accepted.  False: there is no memory for
 * the lists, and no group.
 */
bool gb_fuse_find(struct gb_fuse *fuse, const struct ggml_cgraph *cgraph,
                  gb_fuse_accepts_fn accepts, void *data);

/* The group of node I of the graph that was searched; NULL: it has none. */
static inline const struct gb_fuse_group *
gb_fuse_group_of(const struct gb_fuse *fuse, int i)
{
    return fuse->n_groups == 0 || fuse->group_of[i] < 0
               ? NULL
               : &fuse->groups[fuse->group_of[i]];
}

/* The node of GROUP where all of it is computed. */
static inline int
gb_fuse_place_of(const struct gb_fuse_group *group)
{
    return group->at[group->is_early ? 0 : group->n_nodes - 1];
}

/* Is that node I? */
static inline bool
gb_fuse_is_place(const struct gb_fuse_group *group, int i)
{
    return gb_fuse_place_of(group) == i;
}

void gb_fuse_clear(struct gb_fuse *fuse);

#endif
