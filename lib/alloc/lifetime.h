/* SPDX-License-Identifier: MIT */
/*
 * alloc/lifetime.h - who reads which tensor of a graph, and how often.
 */
#ifndef GB_ALLOC_LIFETIME_H
#define GB_ALLOC_LIFETIME_H

#include "ggml-impl.h"

#include "lib/graph/index.h"

/* What one tensor has to do with the rest of its graph. */
struct gb_life {
    int32_t root;       /* number of what it is a view of, -1 for none */
    int32_t first_node; /* position of the node it came with, -1: a leaf */
    int32_t n_reads;    /* nodes' sources that are this tensor */
    int32_t n_views;    /* views of it that may still be read */
    uint8_t op;
    bool is_input;
    bool is_output;
    bool is_view;
    bool is_counted; /* it is one of its root's n_views */
    bool has_data;
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
    int32_t max_lives;
    int n_leafs, n_nodes;  /* of the graph */

    /*
     * Numbers: those of the leafs; then for each node those of its sources,
     * without the NULLs between, and its own.  node_ends says where a node's
     * end.
     */
    int32_t *links;
    size_t n_links, max_links;
    size_t *node_ends;
    size_t max_nodes;
};

/* Take in GRAPH, instead of any before.  False when there is no memory. */
bool gb_lifetimes_build(
    struct gb_lifetimes *lifetimes, const struct ggml_cgraph *graph);

/* Give the memory back; all is zero then. */
void gb_lifetimes_clear(struct gb_lifetimes *lifetimes);

/* Where the links of the node at position NODE begin. */
static inline size_t
gb_lifetimes_begin(const struct gb_lifetimes *lifetimes, int node)
{
    return node > 0 ? lifetimes->node_ends[node - 1]
                    : (size_t)lifetimes->n_leafs;
}

#endif
