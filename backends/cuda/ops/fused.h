/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/fused.h - rows of the table of groups of nodes that one kernel
 * computes, with the bits of the nodes' own kernels.
 */
#ifndef GB_CUDA_OPS_FUSED_H
#define GB_CUDA_OPS_FUSED_H

#include "backends/cuda/ops/emit.h"

#include "lib/fuse/members.h"

struct gb_cuda_fused {
    /* Can the kernel compute GROUP, each node of which has a row that can? */
    bool (*supports)(const struct gb_cuda_limits *limits,
                     const struct gb_fuse_group *group);
    /* Bytes of scratch that emit needs; NULL: no more than any of the nodes asks
     * for. */
    size_t (*scratch)(const struct gb_cuda_limits *limits,
                      const struct gb_fuse_group *group);
    /* It has that, and the columns that any of the nodes asks for. */
    void (*emit)(struct gb_cuda_emit *emit, const struct gb_fuse_group *group);
    /*
     * Copies of GROUP moved, or what they copy, and nothing else did: let ARGS,
     * which the one launch has that emit made, be those of now.  False: that
     * takes another launch.  NULL: it always does.
     */
    bool (*move)(void *args, const struct gb_fuse_group *group);
};

/* The row of a pattern. */
const struct gb_cuda_fused *gb_cuda_fused_of(enum gb_fuse_pattern pattern);

extern const struct gb_cuda_fused gb_cuda_fused_gate;
extern const struct gb_cuda_fused gb_cuda_fused_norm;
extern const struct gb_cuda_fused gb_cuda_fused_product;
extern const struct gb_cuda_fused gb_cuda_fused_products;
extern const struct gb_cuda_fused gb_cuda_fused_route;
extern const struct gb_cuda_fused gb_cuda_fused_slices;
extern const struct gb_cuda_fused gb_cuda_fused_soft_max;
extern const struct gb_cuda_fused gb_cuda_fused_stores;

/*
 * Where a kernel packs its result NODE as q8 activations besides, because a
 * product that comes next reads it so: NULL if none does.  It is kept then.
 */
char *gb_cuda_columns_for(
    struct gb_cuda_emit *emit, const struct ggml_tensor *node);

/* The same as halves, for a kernel that makes columns of WIDTH values. */
char *gb_cuda_halves_for(struct gb_cuda_emit *emit,
                         const struct ggml_tensor *node, int64_t width);

/* T as kernels see it that go through the elements of a larger tensor. */
struct gb_cuda_tensor gb_cuda_arg_repeated(const struct ggml_tensor *t);

/* The result of node I as an argument; no data where it need not be written. */
struct gb_cuda_tensor gb_cuda_arg_if_written(
    const struct gb_fuse_group *group, int i);

#endif
