/* SPDX-License-Identifier: MIT */
/*
 * op/build.h - what all builders of nodes are made from.
 *
 * A builder looks at its sources (GB_NEED_SOURCES) and at what they must fulfil
 * (GB_NEED), makes the node with gb_op_new or gb_op_like, and sets parameters
 * and a name.  Nothing is made before all checks have passed; what is wrong
 * comes back as a failed node, which all functions here take and hand on.
 */
#ifndef GB_OP_BUILD_H
#define GB_OP_BUILD_H

#include "lib/base/attr.h"
#include "lib/base/checked.h"
#include "lib/op/op.h"
#include "lib/tensor/context.h"
#include "lib/tensor/shape.h"

#include "ggml.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* In a builder: without COND the caller is wrong, and the node has failed. */
#define GB_NEED(ctx, cond, ...)                         \
    do {                                                \
        if (GB_UNLIKELY(!(cond)))                       \
            return gb_context_failed(ctx, __VA_ARGS__); \
    } while (0)

/*
 * In a builder that messages call NAME: there is a context, and the tensors
 * that follow are there and have not failed.  One that may be missing is given
 * as GB_OR(tensor, another).
 */
#define GB_NEED_SOURCES(ctx, name, ...)                                  \
    do {                                                                 \
        struct ggml_tensor *const sources_[] = { __VA_ARGS__ };          \
        const size_t n_ = sizeof(sources_) / sizeof(sources_[0]);        \
        if (GB_UNLIKELY((ctx) == NULL || !gb_op_are_good(sources_, n_))) \
            return gb_op_no_sources(ctx, name, sources_, n_);            \
    } while (0)

#define GB_OR(tensor, instead) ((tensor) != NULL ? (tensor) : (instead))

/* The sources of a node, in the order of src[]. */
#define GB_SRC(...) \
    ((struct ggml_tensor *const[GGML_MAX_SRC]){ __VA_ARGS__ })

/* A shape as messages write it. */
#define GB_SHAPE(tensor) gb_op_shape((tensor)->ne).text

struct gb_op_text {
    char text[96];
};

/* Where a node's result lies. */
enum gb_op_place {
    GB_OP_NEW,    /* in a tensor of its own */
    GB_OP_INPLACE /* in the first source, of which the node is a view */
};

/* "[64, 3, 1, 1]" */
struct gb_op_text gb_op_shape(const int64_t ne[GGML_MAX_DIMS]);

/* The product of the sizes, -1 when it does not fit or one is negative. */
int64_t gb_op_elements(const int64_t ne[GGML_MAX_DIMS]);

/* Behind GB_NEED_SOURCES.  Are the N tensors there, and none has failed? */
static inline bool
gb_op_are_good(struct ggml_tensor *const *tensors, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (gb_tensor_is_failed(tensors[i]))
            return false;
    return true;
}

/*
 * Behind GB_NEED_SOURCES, when there is no context or a source of the N is not
 * good: what the builder returns, which is CTX's failed node, with a message
 * unless the reason is a source that has failed before.
 */
struct ggml_tensor *gb_op_no_sources(
    struct ggml_context *ctx, const char *name,
    struct ggml_tensor *const *src, size_t n);

/*
 * A node with a result of its own in CTX, which is there.  Sizes below 0, which
 * gb_dim_… give for what does not fit, and sizes that TYPE cannot have, give a
 * failed node.
 */
struct ggml_tensor *gb_op_new(
    struct ggml_context *ctx, enum ggml_op op, enum ggml_type type,
    const int64_t ne[GGML_MAX_DIMS],
    struct ggml_tensor *const src[GGML_MAX_SRC]);

/* A node whose result has the type and the shape of src[0]. */
struct ggml_tensor *gb_op_like(
    struct ggml_context *ctx, enum ggml_op op, enum gb_op_place place,
    struct ggml_tensor *const src[GGML_MAX_SRC]);

/* Make the new tensor NODE, which has no sources yet, a node of OP. */
struct ggml_tensor *gb_op_make(
    struct ggml_tensor *node, enum ggml_op op,
    struct ggml_tensor *const src[GGML_MAX_SRC]);

/* Name NODE "<name of a> (<what>)"; WHAT is a literal.  Gives NODE. */
#define GB_NAME_AFTER(node, a, what) \
    gb_op_name_after(node, a, " (" what ")", sizeof(" (" what ")") - 1)
struct ggml_tensor *gb_op_name_after(
    struct ggml_tensor *node, const struct ggml_tensor *a, const char *suffix,
    size_t size);

/* SIZE bytes of the parameters from the first, or word I. */
static inline void
gb_op_set_bytes(struct ggml_tensor *node, const void *bytes, size_t size)
{
    if (!gb_node_has_failed(node))
        memcpy(node->op_params, bytes, size);
}

static inline void
gb_op_set_i32(struct ggml_tensor *node, int i, int32_t value)
{
    if (!gb_node_has_failed(node))
        node->op_params[i] = value;
}

static inline void
gb_op_set_f32(struct ggml_tensor *node, int i, float value)
{
    if (!gb_node_has_failed(node))
        memcpy(&node->op_params[i], &value, sizeof(value));
}

/* A client's wish, as word I of the parameters; NODE should be one of OP. */
void gb_op_set_prec(
    struct ggml_tensor *node, enum ggml_op op, int i, enum ggml_prec prec);

/* Sizes of results: -1 when it does not fit or one of the two is negative. */
int64_t gb_dim_mul(int64_t a, int64_t b);
int64_t gb_dim_add(int64_t a, int64_t b);

/* How many parts of PART cover WHOLE; neither is negative, PART not 0. */
static inline int64_t
gb_dim_parts(int64_t whole, int64_t part)
{
    return whole / part + (whole % part != 0);
}

/* Is N a multiple of D?  Of 0 only 0 is.  Most need no division to know. */
static inline bool
gb_dim_divides(int64_t d, int64_t n)
{
    if (d == 1 || d == n)
        return true;
    return d == 0 ? n == 0 : n % d == 0;
}

/* Is each matrix of A there for the same number of B's matrices? */
static inline bool
gb_op_stack_divides(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    return gb_dim_divides(a->ne[2], b->ne[2]) &&
           gb_dim_divides(a->ne[3], b->ne[3]);
}

#endif
