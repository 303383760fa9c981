/* SPDX-License-Identifier: MIT */
/*
 * tensor/context.h - the arena that tensors and graphs live in.
 */
#ifndef GB_TENSOR_CONTEXT_H
#define GB_TENSOR_CONTEXT_H

#include "ggml.h"

#include "lib/base/attr.h"
#include "lib/base/checked.h"
#include "lib/base/status.h"
#include "lib/tensor/tensor.h"

#include <stdarg.h>

/*
 * What stands before each object of a pool.  The next one begins where this one
 * ends, so that making an object touches no other.
 */
struct ggml_object {
    size_t offs; /* of what follows the header, from the pool's beginning */
    size_t size; /* of what follows the header */
    enum ggml_object_type type;
    char padding[12]; /* 32 bytes, as the interface's programs reckon */
};

/* All that a new tensor needs of its context is in the first line of cache. */
struct ggml_context {
    char *mem_buffer;
    size_t mem_size;
    size_t used; /* bytes up to the last object's end */
    bool owns_buffer;
    bool no_alloc;
    struct gb_tensor_walk leafs; /* that nodes were made of, weights above all */
    struct ggml_tensor failed;
    char reason[GB_REASON_SIZE]; /* the first failure, "" for none */
};

/* Failed nodes, and nothing else, have its address in their extra. */
extern const char gb_failed_mark[];

/*
 * Bytes of the pool that an object of SIZE takes; false when they do not fit.
 */
static inline bool
gb_context_object_size(size_t size, size_t *out)
{
    size_t padded;

    return gb_pad_size(size, GGML_MEM_ALIGN, &padded) &&
           gb_add_size(padded, sizeof(struct ggml_object), out);
}

/*
 * A client that generates makes a graph for each token, in memory that the
 * weights have driven out of all caches since the last one: the objects that
 * come after the one at AT are fetched to be written.
 */
static inline void
gb_context_fetch(const char *at)
{
    enum { AHEAD = 2048, LINE = 64, LINES = 6 }; /* of an object */

    for (int i = 0; i < LINES; i++)
        GB_PREFETCH_TO(at + AHEAD + i * LINE);
}

/* Behind gb_context_alloc: says why there is no room, and gives NULL. */
void *gb_context_no_room(struct ggml_context *ctx, size_t size);

/*
 * SIZE bytes of the pool, aligned to GGML_MEM_ALIGN and not cleared.  NULL when
 * there is no room or CTX is NULL; the reason is logged, and kept if it is the
 * context's first.  They live until ggml_reset or ggml_free.
 */
static inline void *
gb_context_alloc(
    struct ggml_context *ctx, enum ggml_object_type type, size_t size)
{
    struct ggml_object *object;
    size_t taken;

    if (GB_UNLIKELY(ctx == NULL || !gb_context_object_size(size, &taken) ||
                    taken > ctx->mem_size - ctx->used))
        return gb_context_no_room(ctx, size);
    object = (struct ggml_object *)(ctx->mem_buffer + ctx->used);
    gb_context_fetch((const char *)object);
    object->offs = ctx->used + sizeof(*object);
    object->size = taken - sizeof(*object);
    object->type = type;
    ctx->used += taken;
    return object + 1;
}

/*
 * A precondition of a builder is broken, or there is no room.  Logs the reason,
 * keeps it if it is the context's first, and gives the context's failed node,
 * for the builder to return; NULL when CTX is NULL.
 */
GB_PRINTF(2, 3)
struct ggml_tensor *gb_context_failed(
    struct ggml_context *ctx, const char *fmt, ...);

/*
 * The failed node of CTX, after gb_context_alloc failed; NULL when CTX is NULL.
 */
struct ggml_tensor *gb_context_failed_node(struct ggml_context *ctx);

/*
 * The failed node of CTX, for a builder that was given the failed node SRC:
 * without a word, since the reason was logged before.  CTX takes SRC's reason
 * if it has none of its own.  A SRC of NULL is a failure of its own.
 */
struct ggml_tensor *gb_context_pass_failed(
    struct ggml_context *ctx, const struct ggml_tensor *src);

/* Is it the failed node of some context?  True for NULL too. */
static inline bool
gb_tensor_is_failed(const struct ggml_tensor *tensor)
{
    return tensor == NULL || tensor->extra == (const void *)gb_failed_mark;
}

/* The same of what one of our builders made in a context: never NULL. */
static inline bool
gb_node_has_failed(const struct ggml_tensor *node)
{
    return node->extra == (const void *)gb_failed_mark;
}

/*
 * The first reason of the context whose failed node TENSOR is; a general
 * sentence for NULL, "" for a tensor that has not failed.  It lives as long as
 * the context.
 */
const char *gb_tensor_failure(const struct ggml_tensor *tensor);

#endif
