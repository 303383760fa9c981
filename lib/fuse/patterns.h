/* SPDX-License-Identifier: MIT */
/*
 * fuse/patterns.h - what groups of nodes look like.
 */
#ifndef GB_FUSE_PATTERNS_H
#define GB_FUSE_PATTERNS_H

#include "lib/fuse/fuse.h"

enum { GB_FUSE_MAX_CHOICES = 2, GB_FUSE_MAX_STEPS = 4 };

/* A node of a chain; each but the first reads the one before it. */
struct gb_fuse_step {
    /* One of them; GGML_OP_NONE stands behind the last. */
    enum ggml_op ops[GB_FUSE_MAX_CHOICES];
};

struct gb_fuse_chain {
    enum gb_fuse_pattern pattern;
    int n_steps;
    struct gb_fuse_step steps[GB_FUSE_MAX_STEPS];
};

/* Of two that begin alike, the longer one comes first. */
extern const struct gb_fuse_chain gb_fuse_chains[];
extern const int gb_fuse_n_chains;

/* A node of a subgraph: its sources are results of earlier nodes of it, or views
 * of all or a part of them. */
struct gb_fuse_inner_node {
    enum ggml_op op;
    int reads[2]; /* the node that each source is of; -1: of none */
};

struct gb_fuse_subgraph {
    enum gb_fuse_pattern pattern;
    int n_nodes;
    struct gb_fuse_inner_node nodes[GB_FUSE_MAX_NODES];
};

extern const struct gb_fuse_subgraph gb_fuse_subgraphs[];
extern const int gb_fuse_n_subgraphs;

/*
 * Does each element of the result of OP need the elements of its own row and
 * place in sources alone?  Then the result may take their memory, as a kernel
 * reads a row before it writes to it.
 */
bool gb_fuse_is_by_row(enum ggml_op op);

/* May a node of OP by itself be a part of GB_FUSE_STORES, or a group of
 * PATTERN? */
bool gb_fuse_is_store(enum ggml_op op);
bool gb_fuse_is_store_chain(enum gb_fuse_pattern pattern);

#endif
