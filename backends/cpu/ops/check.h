/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/check.h - whether a node can be computed, whatever stands in it.
 *
 * Builders make good nodes, but clients may change them afterwards, or take
 * them from elsewhere.  So each node is checked when a plan is made, and when a
 * client asks whether the backend supports it:
 *
 *   1. the sources that its operation needs are there;
 *   2. it and they are sound: a type with values, a shape whose bytes can be
 *      counted, strides at which elements can be, all bytes within the buffer;
 *   3. types, shapes and parameters are what its operation needs: the can_run
 *      of its row (op.h).
 *
 * Code that computes relies on this and checks nothing again, but values that
 * are known only then, such as row numbers.  Pointers are believed: a pointer
 * that is not NULL points to what its type says.
 */
#ifndef GB_CPU_OPS_CHECK_H
#define GB_CPU_OPS_CHECK_H

#include "backends/cpu/ops/op.h"

#include "lib/base/checked.h"

#include "ggml.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most elements of a tensor: 2^58, so that an int64_t can count the bytes
 * of elements of eight bytes, with room for sums of a few such numbers. */
#define GB_CPU_MAX_ELEMENTS (INT64_C(1) << 58)

/* The address range of a buffer.  Without a buffer it is all addresses but 0,
 * because nothing is known of a client's own memory. */
struct gb_cpu_range {
    const struct ggml_backend_buffer *buffer;
    uintptr_t begin;
    size_t size;
};

/* The buffers that tensors of a graph are in. */
struct gb_cpu_memory {
    /* Two that were met, a third one replacing the older: a graph's tensors are
     * in few buffers, and asking one for its address calls its backend. */
    struct gb_cpu_range range[2];
    int newest; /* index of the one that was met later */
    /* Are tensors in memory that the CPU does not reach sound too?  So for a
     * result that will be elsewhere when it is computed. */
    bool may_be_moved;
    bool is_complete; /* every tensor that has elements has an address */
};

void gb_cpu_memory_init(struct gb_cpu_memory *memory, bool may_be_moved);

#define GB_CPU_KNOWN_TENSORS 32

/* What is known of a graph's tensors while its nodes are checked one after
 * another.  Nothing may change them meanwhile. */
struct gb_cpu_known {
    struct gb_cpu_memory memory;
    /* A direct-mapped cache of tensors that are sound, indexed by address: most
     * sources are earlier nodes, and others are used more than once. */
    const struct ggml_tensor *sound[GB_CPU_KNOWN_TENSORS];
};

void gb_cpu_known_init(struct gb_cpu_known *known);

/*
 * *bytes = the bytes from T's first one to its last one, 0 for an empty tensor.
 * False if its type has no values, a dimension is negative, there are more than
 * GB_CPU_MAX_ELEMENTS elements, a row does not consist of whole blocks, a
 * stride is not a multiple of the size of an element or block, or the bytes are
 * more than 2^62.
 */
bool gb_cpu_extent(const struct ggml_tensor *t, size_t *bytes);

/*
 * Is T sound?  It has an extent (gb_cpu_extent).  If it has an address yet,
 * that is aligned for its type, and all its bytes are within its buffer, in
 * memory that the CPU reaches.  A view of a quantised tensor begins with a
 * block.
 */
bool gb_cpu_is_sound(
    const struct ggml_tensor *t, struct gb_cpu_memory *memory);

/*
 * True if each element of T, which is sound, has bytes of its own.  Threads would race
 * for shared bytes, and a result with strides of 0 could take any time.  Sources that
 * are only read may share: strides of 0 repeat their values.
 */
bool gb_cpu_has_places(const struct ggml_tensor *t);

/* Can NODE of a graph be computed by OP, the row of its operation?  Logs
 * nothing. */
bool gb_cpu_can_compute(
    const struct ggml_tensor *node, const struct gb_cpu_op *op,
    struct gb_cpu_known *known);

/* The same for a node without its graph.  Its sources must be in memory that
 * the CPU reaches, or have no address yet; the node itself may be anywhere. */
bool gb_cpu_can_compute_alone(
    const struct ggml_tensor *node, const struct gb_cpu_op *op);

/* Log why NODE, which was refused above or has no row, cannot be computed.
 * Gives GGML_STATUS_FAILED. */
enum ggml_status gb_cpu_fail_node(const struct ggml_tensor *node);

/* ---- what can_run functions ask, of sound tensors ---- */

/* Are dimensions FIRST to 3 of A and B the same? */
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

/* Has T the shape [N0, N1, N2, N3]? */
static inline bool
gb_cpu_has_shape(const struct ggml_tensor *t, int64_t n0, int64_t n1,
                 int64_t n2, int64_t n3)
{
    return t->ne[0] == n0 && t->ne[1] == n1 && t->ne[2] == n2 &&
           t->ne[3] == n3;
}

/* Can A matrices be shared by B, each by the same number: B a multiple of A, or
 * both 0? */
static inline bool
gb_cpu_divides(int64_t a, int64_t b)
{
    return a == b || (a > 0 && (a == 1 || b % a == 0));
}

/* Is each dimension of T below 2^30?  Products with a parameter, which has 31
 * bits, then fit an int64_t. */
static inline bool
gb_cpu_is_countable(const struct ggml_tensor *t)
{
    return (t->ne[0] | t->ne[1] | t->ne[2] | t->ne[3]) >> 30 == 0;
}

#endif
