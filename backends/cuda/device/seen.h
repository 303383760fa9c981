/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/seen.h - what a graph looked like when it was planned, to tell
 * whether it looks so again.
 *
 * A language model's graph is the same for each token but for the views of the
 * KV cache that it writes to, which move on.  A graph counts as the same only
 * where its tensors are the same objects, as they are where a client builds it
 * in the same memory again.
 */
#ifndef GB_CUDA_DEVICE_SEEN_H
#define GB_CUDA_DEVICE_SEEN_H

#include "ggml-impl.h"

struct gb_cuda_look;

/* All zero: nothing was seen. */
struct gb_cuda_seen {
    struct ggml_tensor **tensors; /* nodes in order, then what else they use */
    struct gb_cuda_look *looks;   /* at each of them */
    int n_nodes, n_looks;         /* 0: nothing */
    /* Nodes that are look I or have it as a source: those from first_user[I]
     * to before first_user[I + 1]. */
    int *users, *first_user;
    int *moved; /* looks that did, after comparing */
    int n_moved;
};

enum gb_cuda_change {
    GB_CUDA_SAME,
    GB_CUDA_MOVED, /* some views did, within what they are views of */
    GB_CUDA_OTHER,
};

/* Look at CGRAPH; without memory for it nothing is seen. */
void gb_cuda_seen_take(
    struct gb_cuda_seen *seen, const struct ggml_cgraph *cgraph);

/* What is new in CGRAPH, which is looked at for the next time. */
enum gb_cuda_change gb_cuda_seen_compare(
    struct gb_cuda_seen *seen, const struct ggml_cgraph *cgraph);

void gb_cuda_seen_clear(struct gb_cuda_seen *seen);

#endif
