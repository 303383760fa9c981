/* SPDX-License-Identifier: MIT */
/*
 * fuse/seen.h - what a graph looked like when it was planned, to tell whether
 * it looks so again.
 *
 * A language model's graph is the same for each token but for the views of the
 * KV cache that it writes to, which move on.  A graph counts as the same only
 * where its tensors are the same objects, as they are where a client builds it
 * in the same memory again.
 */
#ifndef GB_FUSE_SEEN_H
#define GB_FUSE_SEEN_H

#include "ggml-impl.h"

struct gb_fuse_look;

/* All zero: nothing was seen. */
struct gb_fuse_seen {
    struct ggml_tensor **tensors; /* nodes in order, then what else they use */
    struct gb_fuse_look *looks;   /* at each of them */
    int n_nodes, n_looks;         /* 0: nothing */
    /* Nodes that are look I or have it as a source: those from first_user[I]
     * to before first_user[I + 1]. */
    int *users, *first_user;
    int *moved; /* looks that did, after comparing */
    int n_moved;
};

enum gb_fuse_change {
    GB_FUSE_SAME,
    GB_FUSE_MOVED, /* some views did, within what they are views of */
    GB_FUSE_OTHER,
};

/* Look at CGRAPH; without memory for it nothing is seen. */
void gb_fuse_seen_take(
    struct gb_fuse_seen *seen, const struct ggml_cgraph *cgraph);

/* What is new in CGRAPH: views that moved are remembered where they are now; of
 * another graph nothing is. */
enum gb_fuse_change gb_fuse_seen_compare(
    struct gb_fuse_seen *seen, const struct ggml_cgraph *cgraph);

void gb_fuse_seen_clear(struct gb_fuse_seen *seen);

#endif
