/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/check.h - whether a node can be computed, whatever stands in it.
 *
 * Builders make good nodes, but clients may change them afterwards, or take
 * them from elsewhere.  So each node is looked at again when a plan is made,
 * and when it is asked whether it can be computed: its sources are there; it
 * and they are sound tensors, in the memory that they are said to lie in; and
 * what its operation needs of types, shapes and parameters is so, which is
 * that row's can_run.  Nothing behind that checks any more.
 *
 * Pointers are believed: what they point to, if they are not NULL, is there.
 */
#ifndef GB_CPU_OPS_CHECK_H
#define GB_CPU_OPS_CHECK_H

#include "backends/cpu/ops/op.h"

#include "lib/base/checked.h"

#include "ggml.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Elements that a tensor has at most, so that a few times as many, in bytes,
 * can be counted. */
#define GB_CPU_MAX_ELEMENTS (INT64_C(1) << 58)

/* Where a buffer lies; no buffer is all memory but address 0. */
struct gb_cpu_range {
    const struct ggml_backend_buffer *buffer;
    uintptr_t begin;
    size_t size;
};

/* The memory that tensors lie in. */
struct gb_cpu_memory {
    /* The buffers that were asked last: tensors lie in few. */
    struct gb_cpu_range range[2];
    int newest;
    /* Tensors in memory that the CPU does not reach are good: they will lie
     * elsewhere when they are used. */
    bool may_be_moved;
    bool is_complete; /* every tensor that has elements has an address */
};

void gb_cpu_memory_init(struct gb_cpu_memory *memory, bool may_be_moved);

#define GB_CPU_KNOWN_TENSORS 32

/* What is known of a graph's tensors, which do not change meanwhile. */
struct gb_cpu_known {
    struct gb_cpu_memory memory;
    /* Some that are sound, by address: most sources are nodes, and the others
     * are used again. */
    const struct ggml_tensor *sound[GB_CPU_KNOWN_TENSORS];
};

void gb_cpu_known_init(struct gb_cpu_known *known);

/*
 * From T's first byte to the one behind the last, 0 for an empty tensor.  False
 * when its type has no values, its shape is none or too large, a row does not
 * consist of whole blocks, or it steps to where no element, or no block, can
 * be.
 */
bool gb_cpu_extent(const struct ggml_tensor *t, size_t *bytes);

/*
 * Is T sound: has it an extent, and lies it, if it has an address yet, where
 * elements of its type can be, within its buffer, which is memory that can be
 * reached from here?  A view of blocks begins with one.
 */
bool gb_cpu_is_sound(
    const struct ggml_tensor *t, struct gb_cpu_memory *memory);

/* Has each element of T, which is sound, a place of its own, as far as their
 * number says?  Without that, a result of few bytes could take for ever. */
bool gb_cpu_has_places(const struct ggml_tensor *t);

/* Can NODE of a graph be computed by OP, the row of its operation?  Logs
 * nothing. */
bool gb_cpu_can_compute(
    const struct ggml_tensor *node, const struct gb_cpu_op *op,
    struct gb_cpu_known *known);

/* The same for a node of which nothing else is known.  Its sources lie in memory
 * that the CPU reaches, or nowhere yet; it may lie anywhere. */
bool gb_cpu_can_compute_alone(
    const struct ggml_tensor *node, const struct gb_cpu_op *op);

/* Why it cannot, or that there is no row: for a node of which that was
 * answered.  Gives GGML_STATUS_FAILED. */
enum ggml_status gb_cpu_fail_node(const struct ggml_tensor *node);

/* ---- what rows ask, of sound tensors ---- */

/* Dimensions FIRST to 3 of A and B are the same. */
static inline bool
gb_cpu_same_from(const struct ggml_tensor *a, const struct ggml_tensor *b,
                 int first)
{
    int64_t differences = 0;

#pragma GCC unroll 4
    for (int d = first; d < GGML_MAX_DIMS; d++)
        differences |= a->ne[d] ^ b->ne[d];
    return differences == 0;
}

/* T has the shape N0, N1, N2, N3. */
static inline bool
gb_cpu_has_shape(const struct ggml_tensor *t, int64_t n0, int64_t n1,
                 int64_t n2, int64_t n3)
{
    return t->ne[0] == n0 && t->ne[1] == n1 && t->ne[2] == n2 &&
           t->ne[3] == n3;
}

/* Each matrix of A is there for the same number of B's: of 0 only 0 are. */
static inline bool
gb_cpu_divides(int64_t a, int64_t b)
{
    return a == b || (a > 0 && (a == 1 || b % a == 0));
}

/* No dimension of T is larger than positions in images are counted here: their
 * products with parameters then fit. */
static inline bool
gb_cpu_is_countable(const struct ggml_tensor *t)
{
    return (t->ne[0] | t->ne[1] | t->ne[2] | t->ne[3]) >> 30 == 0;
}

#endif
