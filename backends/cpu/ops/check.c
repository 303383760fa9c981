/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/check.c - whether a node can be computed, whatever stands in it.
 *
 * Every node of every graph passes here each time a plan is made, so most
 * tensors must cost little.  There are two paths: is_plainly_sound answers yes
 * for small contiguous F32 tensors in a known buffer, with a few comparisons
 * and no call; is_sound_at_all answers for any tensor.  The first may say no to
 * a sound tensor, never yes to an unsound one.
 */
#include "config.h"

#include "backends/cpu/ops/check.h"

#include "backends/cpu/repack/repack.h"

#include "ggml-backend-impl.h"

#include "lib/base/attr.h"
#include "lib/base/checked.h"
#include "lib/base/status.h"
#include "lib/node/apart.h"
#include "lib/type/type.h"

#include <string.h>

/* The most bytes from a tensor's first to its last one: sums of a few such
 * numbers fit a size_t. */
#define MAX_EXTENT (SIZE_MAX / 4)

/* Is a dimension, or all of several that are or-ed, below 2^14?  The product of
 * four is below 2^56 then, and its bytes as F32 below 2^58: no overflow.  With
 * sizes of 32 bits: below 2^7, 2^28 and 2^30. */
#define IS_SMALL(n) ((uint64_t)(n) >> (SIZE_MAX > UINT32_MAX ? 14 : 7) == 0)

void
gb_cpu_memory_init(struct gb_cpu_memory *memory, bool may_be_moved)
{
    /* Without a buffer: any address but 0. */
    const struct gb_cpu_range all = { NULL, 1, SIZE_MAX - 1 };

    memory->range[0] = all;
    memory->range[1] = all;
    memory->newest = 0;
    memory->may_be_moved = may_be_moved;
    memory->is_complete = true;
}

void
gb_cpu_known_init(struct gb_cpu_known *known)
{
    gb_cpu_memory_init(&known->memory, false);
    memset(known->sound, 0, sizeof(known->sound));
}

/*
 * Add N strides of STEP bytes along one dimension to *bytes, the extent so far.
 * NEXT is the extent of the dimensions before, which is the stride of a dense
 * tensor.  True if each stride ends where an element, or a block, can begin and
 * the extent stays within MAX_EXTENT.
 *
 * For a single element (N = 0) the stride means nothing.  But loops add it to
 * an address after the last element: it must not be so large that the sum wraps
 * around.
 */
static bool
add_steps(const struct gb_type *type, int64_t n, size_t step, size_t next,
          size_t *bytes)
{
    size_t more;

    if (n == 0)
        return step <= MAX_EXTENT;
    return (step == next || step % type->bytes == 0) &&
           (uint64_t)n <= SIZE_MAX &&
           gb_mul_size((size_t)n, step, &more) &&
           gb_add_size(*bytes, more, bytes) && *bytes <= MAX_EXTENT;
}

bool
gb_cpu_extent(const struct ggml_tensor *t, size_t *bytes)
{
    const struct gb_type *type = gb_type_get(t->type);
    int64_t elements = 1;
    int64_t blocks = t->ne[0];
    bool is_empty = false;
    size_t sum = type->bytes;

    if (type->block == 0)
        return false;
    for (int d = 0; d < GGML_MAX_DIMS; d++) {
        is_empty = is_empty || t->ne[d] == 0;
        if (t->ne[d] != 0 && !gb_mul_count(elements, t->ne[d], &elements))
            return false;
    }
    if (elements > GB_CPU_MAX_ELEMENTS)
        return false;
    if (type->block > 1) {
        if (blocks % type->block != 0)
            return false;
        blocks /= type->block;
    }
    *bytes = 0;
    if (is_empty)
        return true;
    if (!add_steps(type, blocks - 1, t->nb[0], type->bytes, &sum))
        return false;
    for (int d = 1; d < GGML_MAX_DIMS; d++) {
        if (!add_steps(type, t->ne[d] - 1, t->nb[d], sum, &sum))
            return false;
    }
    *bytes = sum;
    return true;
}

/* The addresses of BUFFER's bytes.  If the CPU does not reach them: none, so
 * that nothing is within, or all if tensors MAY_BE_MOVED. */
static struct gb_cpu_range
range_of(ggml_backend_buffer_t buffer, bool may_be_moved)
{
    struct gb_cpu_range range = { buffer, 1, SIZE_MAX - 1 };

    if (buffer == NULL)
        return range;
    if (buffer->size > 0 && buffer->iface.get_base != NULL &&
        ggml_backend_buffer_is_host(buffer)) {
        range.begin = (uintptr_t)buffer->iface.get_base(buffer);
        range.size = buffer->size;
    } else if (!may_be_moved) {
        range.begin = UINTPTR_MAX;
        range.size = 0;
    }
    return range;
}

/* T's buffer; a view that has none of its own is in that of its source. */
static ggml_backend_buffer_t
buffer_of(const struct ggml_tensor *t)
{
    return t->buffer == NULL && t->view_src != NULL ? t->view_src->buffer
                                                    : t->buffer;
}

/* Are T's BYTES all within RANGE?  NULL is within none: the range without a
 * buffer begins at 1.  An address below the range makes a huge offset. */
static inline bool
is_within(const struct ggml_tensor *t, size_t bytes,
          const struct gb_cpu_range *range)
{
    const size_t offset = (uintptr_t)t->data - range->begin;

    return offset <= range->size && bytes <= range->size - offset;
}

/* The alignment of addresses of TYPE: that of its elements; for blocks that of
 * the widest number in them, which has four bytes in q8_K and two in other
 * types. */
static size_t
alignment_of(enum ggml_type type)
{
    if (gb_type_get(type)->block == 1)
        return gb_type_get(type)->bytes;
    return type == GGML_TYPE_Q8_K ? sizeof(float) : sizeof(uint16_t);
}

/* Is T's address aligned, on a block of the tensor that it is a view of, and
 * are its BYTES within its buffer?  The range of a buffer that is not one of
 * the two known ones replaces that of the older one. */
static bool
is_well_placed(const struct ggml_tensor *t, size_t bytes,
               struct gb_cpu_memory *memory)
{
    const struct gb_type *type = gb_type_get(t->type);
    const ggml_backend_buffer_t buffer = buffer_of(t);
    int at = 0;

    if ((uintptr_t)t->data % alignment_of(t->type) != 0)
        return false;
    if (type->block > 1 && t->view_src != NULL &&
        t->view_src->type == t->type && t->view_offs % type->bytes != 0)
        return false;
    if (memory->range[0].buffer != buffer) {
        at = 1;
        if (memory->range[1].buffer != buffer) {
            at = memory->newest = !memory->newest;
            memory->range[at] = range_of(buffer, memory->may_be_moved);
        }
    }
    return is_within(t, bytes, &memory->range[at]);
}

/* gb_cpu_is_sound for any tensor.  Not inlined, so that the short path keeps
 * its few registers. */
GB_NOINLINE static bool
is_sound_at_all(const struct ggml_tensor *t, struct gb_cpu_memory *memory)
{
    size_t bytes;

    if (!gb_cpu_extent(t, &bytes))
        return false;
    if (bytes == 0)
        return true;
    if (t->data == NULL) {
        memory->is_complete = false;
        return memory->may_be_moved || buffer_of(t) == NULL ||
               ggml_backend_buffer_is_host(buffer_of(t));
    }
    return is_well_placed(t, bytes, memory);
}

/*
 * The short path: is T F32, contiguous and small, with an aligned address in
 * one of the two known buffers or, if it IS_ALONE, without address and buffer?
 * Such a tensor is sound and has its places.  False means nothing: ask
 * is_sound_at_all.
 */
static inline bool
is_plainly_sound(const struct ggml_tensor *t,
                 const struct gb_cpu_memory *memory, bool is_alone)
{
    const ggml_backend_buffer_t buffer = buffer_of(t);
    const struct gb_cpu_range *range = memory->range;

    if (buffer != range->buffer)
        range++;
    return t->type == GGML_TYPE_F32 && t->nb[0] == sizeof(float) &&
           IS_SMALL(t->ne[0] | t->ne[1] | t->ne[2] | t->ne[3]) &&
           t->nb[1] == sizeof(float) * (size_t)t->ne[0] &&
           t->nb[2] == t->nb[1] * (size_t)t->ne[1] &&
           t->nb[3] == t->nb[2] * (size_t)t->ne[2] &&
           ((is_alone && t->data == NULL && buffer == NULL) ||
            (buffer == range->buffer &&
             (uintptr_t)t->data % sizeof(float) == 0 &&
             is_within(t, t->nb[3] * (size_t)t->ne[3], range)));
}

bool
gb_cpu_is_sound(const struct ggml_tensor *t, struct gb_cpu_memory *memory)
{
    return is_plainly_sound(t, memory, false) || is_sound_at_all(t, memory);
}

bool
gb_cpu_has_places(const struct ggml_tensor *t)
{
    size_t bytes;

    return gb_cpu_extent(t, &bytes) && (bytes == 0 || gb_node_is_apart(t));
}

/* Is NODE good as a result: sound, and with bytes of its own for each element? */
static bool
has_good_place(const struct ggml_tensor *node, struct gb_cpu_memory *memory)
{
    return is_sound_at_all(node, memory) && gb_cpu_has_places(node);
}

/* The entry of the cache that T may be in.  Tensors are 16 bytes or more apart,
 * so the lowest four bits of the address say nothing. */
static inline const struct ggml_tensor **
slot_of(const struct ggml_tensor *t, struct gb_cpu_known *known)
{
    return &known->sound[(uintptr_t)t / 16 % GB_CPU_KNOWN_TENSORS];
}

/* Is source SRC sound?  Known at once for most: those checked before, as node
 * or as source. */
static inline bool
is_known_or_good(const struct ggml_tensor *src, struct gb_cpu_known *known)
{
    if (*slot_of(src, known) == src)
        return true;
    if (!gb_cpu_is_sound(src, &known->memory))
        return false;
    *slot_of(src, known) = src;
    return true;
}

/* Is source SRC of a node without its graph sound?  Most of these have no
 * address yet, or are weights in a buffer; its range is put in range[1], since
 * range[0] is that without a buffer. */
static inline bool
is_good_alone(const struct ggml_tensor *src, struct gb_cpu_memory *memory)
{
    const ggml_backend_buffer_t buffer = buffer_of(src);

    if (buffer != NULL && buffer != memory->range[1].buffer)
        memory->range[1] = range_of(buffer, memory->may_be_moved);
    return is_plainly_sound(src, memory, true) || is_sound_at_all(src, memory);
}

/* Is source 0 of NODE weights that are repacked, and NODE a product, which alone
 * can read them?  If it IS_ALONE they may be in a buffer without memory, by
 * which clients ask.  No view of them is: what it shows would lie elsewhere. */
GB_NOINLINE static bool
are_repacked_weights(const struct ggml_tensor *node, bool is_alone)
{
    const struct ggml_tensor *src = node->src[0];
    struct gb_cpu_range range;
    size_t bytes;

    if ((node->op != GGML_OP_MUL_MAT && node->op != GGML_OP_MUL_MAT_ID) ||
        !gb_cpu_in_repack_buffer(src) || !gb_cpu_extent(src, &bytes) ||
        !gb_cpu_can_repack(src))
        return false;
    if (src->data == NULL || src->buffer->size == 0)
        return is_alone && src->data == NULL;
    range = (struct gb_cpu_range){
        .begin = (uintptr_t)src->buffer->iface.get_base(src->buffer),
        .size = src->buffer->size,
    };
    return (uintptr_t)src->data % alignment_of(src->type) == 0 &&
           is_within(src, bytes, &range);
}

/* Is source I good: sound, or missing where the operation can do without it?
 * KNOWN is NULL for a node without its graph. */
static inline bool
is_source_good(const struct ggml_tensor *node, int i,
               const struct gb_cpu_op *op, struct gb_cpu_known *known,
               struct gb_cpu_memory *memory)
{
    const struct ggml_tensor *src = node->src[i];

    if (src == NULL)
        return i >= op->n_src;
    if (known != NULL ? is_known_or_good(src, known)
                      : is_good_alone(src, memory))
        return true;
    return i == 0 && are_repacked_weights(node, known == NULL);
}

/* Are all sources good? */
static inline bool
are_sources_good(const struct ggml_tensor *node, const struct gb_cpu_op *op,
                 struct gb_cpu_known *known, struct gb_cpu_memory *memory)
{
    uintptr_t more = 0;

    if (!is_source_good(node, 0, op, known, memory) ||
        !is_source_good(node, 1, op, known, memory))
        return false;
    /* Few nodes have a third source: all others are tested for NULL at once. */
#pragma GCC unroll 8
    for (int i = 2; i < GGML_MAX_SRC; i++)
        more |= (uintptr_t)node->src[i];
    if (more == 0)
        return op->n_src <= 2;
    for (int i = 2; i < GGML_MAX_SRC; i++)
        if (!is_source_good(node, i, op, known, memory))
            return false;
    return true;
}

bool
gb_cpu_can_compute(const struct ggml_tensor *node, const struct gb_cpu_op *op,
                   struct gb_cpu_known *known)
{
    if (!is_plainly_sound(node, &known->memory, false) &&
        !has_good_place(node, &known->memory))
        return false;
    *slot_of(node, known) = node;
    return are_sources_good(node, op, known, &known->memory) &&
           op->can_run(node);
}

bool
gb_cpu_can_compute_alone(
    const struct ggml_tensor *node, const struct gb_cpu_op *op)
{
    struct gb_cpu_memory memory;

    gb_cpu_memory_init(&memory, false);
    /* The result may be in another device's memory: the scheduler asks before
     * it decides where nodes are computed. */
    if (!is_plainly_sound(node, &memory, true)) {
        struct gb_cpu_memory any;

        gb_cpu_memory_init(&any, true);
        if (!has_good_place(node, &any))
            return false;
    }
    return are_sources_good(node, op, NULL, &memory) && op->can_run(node);
}

/* ---- why a node cannot be computed ---- */

/* For "%.*s": a name that may have no terminating 0. */
#define NAME(t) (int)sizeof((t)->name), (t)->name

/* The name of T's type for a message, "-" without T. */
static const char *
type_of(const struct ggml_tensor *t)
{
    const char *name = t == NULL ? "-" : gb_type_get(t->type)->name;

    return name != NULL ? name : "no type";
}

/* The name of NODE's operation for a message: of GGML_OP_UNARY the function, if
 * the number of that is one. */
static const char *
word_of(const struct ggml_tensor *node)
{
    const bool is_unary = node->op == GGML_OP_UNARY &&
                          (uint32_t)node->op_params[0] < GGML_UNARY_OP_COUNT;

    return is_unary ? ggml_op_desc(node) : ggml_op_name(node->op);
}

/* What is unsound about T as the predicate of a message, NULL if nothing is. */
static const char *
fault_of(const struct ggml_tensor *t)
{
    struct gb_cpu_memory memory;
    size_t bytes;

    gb_cpu_memory_init(&memory, false);
    if (gb_type_get(t->type)->block == 0)
        return "has a type without values";
    if (!gb_cpu_extent(t, &bytes))
        return "has no possible shape and strides";
    if (!gb_cpu_is_sound(t, &memory))
        return "does not lie where its elements can, or outside its buffer";
    return NULL;
}

enum ggml_status
gb_cpu_fail_node(const struct ggml_tensor *node)
{
    const struct gb_cpu_op *op = gb_cpu_op_find(node);
    const char *fault;

    if ((unsigned)node->op >= GGML_OP_COUNT)
        return gb_fail(GGML_STATUS_FAILED, "cpu: \"%.*s\" is of operation %d, "
                       "which is none", NAME(node), (int)node->op);
    fault = fault_of(node);
    if (fault == NULL && !gb_cpu_has_places(node))
        fault = "has elements that share bytes";
    if (fault != NULL)
        return gb_fail(GGML_STATUS_FAILED, "cpu: %s \"%.*s\" %s",
                       word_of(node), NAME(node), fault);
    for (int i = 0; op != NULL && i < GGML_MAX_SRC; i++) {
        if (node->src[i] != NULL)
            fault = i == 0 && are_repacked_weights(node, false)
                        ? NULL
                        : fault_of(node->src[i]);
        else if (i < op->n_src)
            fault = "is not there";
        if (fault != NULL)
            return gb_fail(GGML_STATUS_FAILED, "cpu: source %d of %s \"%.*s\" "
                           "%s", i, word_of(node), NAME(node), fault);
    }
    return gb_fail(GGML_STATUS_FAILED,
                   "cpu: %s \"%.*s\" cannot be computed (%s from %s, %s)",
                   word_of(node), NAME(node), type_of(node),
                   type_of(node->src[0]), type_of(node->src[1]));
}
