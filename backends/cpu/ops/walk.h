/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/walk.h - a tensor's elements in index order, run by run.
 *
 * Dimensions that lie one behind the other in memory are joined first, so a
 * contiguous tensor is one run, whatever its shape.
 *
 * A run is what has one stride between neighbours, dimension 0 of the joined
 * shape.  Two tensors of the same number of elements are walked side by side,
 * by the shorter of what is left in the two runs each time; their strides may
 * differ (COUNT_EQUAL), or even their shapes (copies).
 *
 * Use   walk = begin(t, first); until enough: n = min(left(walk), wanted);
 *       elements at[0] to at[0] + n - 1 of line(walk); advance(walk, n).
 */
#ifndef GB_CPU_OPS_WALK_H
#define GB_CPU_OPS_WALK_H

#include "backends/cpu/ops/line.h"

#include "ggml.h"

#include <stdint.h>

/* A tensor's shape after joining: the same elements in the same index order, in
 * the fewest dimensions; the others are 1.  Strides are in bytes, nb[0] of a
 * quantised type from block to block. */
struct gb_cpu_shape {
    int64_t ne[4];
    size_t nb[4];
};

/* A position in a tensor: see the head of this file. */
struct gb_cpu_walk {
    struct gb_cpu_shape shape;
    enum ggml_type type;
    char *data;
    int64_t at[4]; /* indices of the next element */
};

/* T's shape with all dimensions joined that can be. */
struct gb_cpu_shape gb_cpu_joined(const struct ggml_tensor *t);

/* Stand before element FIRST of T, in index order. */
struct gb_cpu_walk gb_cpu_walk_begin(
    const struct ggml_tensor *t, int64_t first);

/* Elements from here to the end of the run. */
static inline int64_t
gb_cpu_walk_left(const struct gb_cpu_walk *walk)
{
    return walk->shape.ne[0] - walk->at[0];
}

/* The run that the next element is in; that element is the run's
 * walk->at[0]. */
struct gb_cpu_line gb_cpu_walk_line(const struct gb_cpu_walk *walk);

/* Go on by N elements, no more than are left in the run. */
void gb_cpu_walk_advance(struct gb_cpu_walk *walk, int64_t n);

#endif
