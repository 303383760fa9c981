/* SPDX-License-Identifier: MIT */
/*
 * graph/grad.h - what the rules of derivatives are made from.
 *
 * A rule is given a node y and the gradient g of the loss by y, and adds the
 * chain rule's terms to the gradients of those of y's sources that want one.
 * Terms are nodes like others: what a builder refuses comes back as a failed
 * node, with which the graph fails, so rules need not look.
 */
#ifndef GB_GRAPH_GRAD_H
#define GB_GRAPH_GRAD_H

#include "ggml-impl.h"

#include "lib/base/attr.h"

#include <stdbool.h>

/* A walk back through a graph. */
struct gb_grad {
    struct ggml_context *ctx;  /* where new nodes are made */
    struct ggml_cgraph *graph; /* where they go */
    bool *wanted;              /* by slot of the graph's set */
};

typedef void gb_grad_rule(
    struct gb_grad *grad, struct ggml_tensor *y, struct ggml_tensor *g);

/* The slot of TENSOR, which is in the graph. */
static inline size_t
gb_grad_slot(const struct gb_grad *grad, const struct ggml_tensor *tensor)
{
    return ggml_hash_find(&grad->graph->visited_hash_set, tensor);
}

/* Does TENSOR, which may be NULL, want a gradient? */
bool gb_grad_wants(
    const struct gb_grad *grad, const struct ggml_tensor *tensor);

/*
 * Add TERM, which has the shape of TENSOR, to the gradient of TENSOR, or take
 * it away.  For tensors that want one; others take nothing.
 */
void gb_grad_add(
    struct gb_grad *grad, struct ggml_tensor *tensor,
    struct ggml_tensor *term);
void gb_grad_sub(
    struct gb_grad *grad, struct ggml_tensor *tensor,
    struct ggml_tensor *term);

/* As gb_grad_add for a TERM of one element, which counts for each of TENSOR. */
void gb_grad_add_to_all(
    struct gb_grad *grad, struct ggml_tensor *tensor,
    struct ggml_tensor *term);

/*
 * As gb_grad_add for a part of TENSOR: TERM's shape with these strides, from a
 * byte of the gradient on.
 */
void gb_grad_add_to_part(
    struct gb_grad *grad, struct ggml_tensor *tensor,
    struct ggml_tensor *term, size_t nb1, size_t nb2, size_t nb3,
    size_t offset);

/* The graph has failed, for this reason. */
GB_PRINTF(2, 3)
void gb_grad_fail(struct gb_grad *grad, const char *fmt, ...);

/* T with its elements one behind another: itself, or a copy. */
struct ggml_tensor *gb_grad_cont(
    const struct gb_grad *grad, struct ggml_tensor *t);

/* T with the shape of LIKE: itself, or its elements in their order. */
struct ggml_tensor *gb_grad_reshape(
    const struct gb_grad *grad, struct ggml_tensor *t,
    struct ggml_tensor *like);

/* T summed up over what repeated LIKE: itself for one shape. */
struct ggml_tensor *gb_grad_fold(
    const struct gb_grad *grad, struct ggml_tensor *t,
    struct ggml_tensor *like);

/* The rules of operations that have a derivative: gb_grad_of_add, … */
#define GB_RULE_NONE(word)
#define GB_RULE_ANY(word) gb_grad_rule gb_grad_of_##word;
#define GB_RULE_FIRST GB_RULE_ANY
#define GB_RULE_SECOND GB_RULE_ANY
#define GB_OP(op, word, sources, kind, in_place, written, derivative, \
              text) \
    GB_RULE_##derivative(word)
#include "lib/op/ops.def"
#undef GB_OP
#undef GB_RULE_NONE
#undef GB_RULE_ANY
#undef GB_RULE_FIRST
#undef GB_RULE_SECOND

#endif
