/* SPDX-License-Identifier: MIT */
/*
 * alloc/lifetime.h - who reads which tensor of a graph, and how often.
 */
#ifndef GB_ALLOC_LIFETIME_H
#define GB_ALLOC_LIFETIME_H

#include "ggml-impl.h"

#include "lib/graph/index.h"

enum gb_place_state {
    GB_PLACE_NONE,     /* not reached yet; none are left in a whole plan */
    GB_PLACE_EXTERNAL, /* a view, or it had data when it was planned */
    GB_PLACE_HELD,     /* to the end of the graph, once the plan is whole */
    GB_PLACE_LEFT,     /* given back, or taken over by a node in place */
};

/* Where a tensor lies; plan.c finds it, and it is none before. */
struct gb_place {
    size_t offset;
    int32_t chunk;
    int32_t block;      /* of the free list, -1 for a tensor without bytes */
    int32_t taken_from; /* number of whose place it took over, -1 for none */
};

/*
 * What one tensor has to do with the rest of its graph.  There are as many of
 * these as tensors, and large graphs are in no cache: bytes count.
 */
struct gb_life {
    size_t bytes;       /* of its data; with a place, what it needs there */
    int32_t root;       /* number of what it is a view of, -1 for none */
    int32_t first_node; /* position of the node it came with, -1: a leaf */
    int32_t n_reads;    /* nodes' sources that are this tensor */
    int32_t n_views;    /* views of it that may still be read */
    struct gb_place place;
    uint8_t op;
    uint8_t alike;      /* bit S: a node, and its S-th link has its layout; a
                           view that is all of its root */
    uint8_t state;      /* enum gb_place_state */
    bool is_input : 1;
    bool is_output : 1;
    bool is_view : 1;
    bool is_counted : 1; /* it is one of its root's n_views */
    bool has_data : 1;
};

/*
 * The tensors of one graph, numbered so that each comes after what it is made
 * of: the leafs first, then with each node its sources and it.  A view's root
 * comes right before the view if nothing brought it in earlier.
 *
 * All zero is without memory; one thread at a time.
 */
struct gb_lifetimes {
    struct gb_index index;
    struct gb_life *lives; /* by number */
    size_t max_lives;
    int n_leafs, n_nodes;  /* of the graph */

    /*
     * Numbers: those of the leafs; then for each node those of its sources,
     * without the NULLs between, and its own.
     */
    int32_t *links;
    size_t n_links, max_links;
    uint8_t *n_sources; /* of each node */
    size_t max_nodes;
};

/* How many of its sources a node is compared with. */
#define GB_LIFE_ALIKE 2

/* Type, counts and strides alike?  Asked for every node: no branch a number. */
static inline bool
gb_life_same_layout(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    uint64_t differ = (uint64_t)(a->type != b->type);

    for (int i = 0; i < GGML_MAX_DIMS; i++)
        differ |= (uint64_t)(a->ne[i] ^ b->ne[i]) | (a->nb[i] ^ b->nb[i]);
    return differ == 0;
}

/* Is T no view, or all of what it is a view of? */
static inline bool
gb_life_is_whole(const struct ggml_tensor *t)
{
    return t->view_src == NULL ||
           (t->view_offs == 0 && ggml_nbytes(t) == ggml_nbytes(t->view_src));
}

/* Take in GRAPH, instead of any before.  False when there is no memory. */
bool gb_lifetimes_build(
    struct gb_lifetimes *lifetimes, const struct ggml_cgraph *graph);

/* Give the memory back; all is zero then. */
void gb_lifetimes_clear(struct gb_lifetimes *lifetimes);

#endif
