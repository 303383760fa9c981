/* SPDX-License-Identifier: MIT */
/*
 * tensor/context.h - the arena that tensors and graphs live in.
 */
#ifndef GB_TENSOR_CONTEXT_H
#define GB_TENSOR_CONTEXT_H

#include "ggml.h"

#include "lib/base/attr.h"

#include <stdarg.h>

/*
 * SIZE bytes of the pool, aligned to GGML_MEM_ALIGN and not cleared.  NULL when
 * there is no room or CTX is NULL; the reason is logged, and kept if it is the
 * context's first.  They live until ggml_reset or ggml_free.
 */
void *gb_context_alloc(
    struct ggml_context *ctx, enum ggml_object_type type, size_t size);

/*
 * Bytes of the pool that an object of SIZE takes; false when they do not fit.
 */
bool gb_context_object_size(size_t size, size_t *out);

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
bool gb_tensor_is_failed(const struct ggml_tensor *tensor);

/*
 * The first reason of the context whose failed node TENSOR is; a general
 * sentence for NULL, "" for a tensor that has not failed.  It lives as long as
 * the context.
 */
const char *gb_tensor_failure(const struct ggml_tensor *tensor);

#endif
