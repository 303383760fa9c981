/* SPDX-License-Identifier: MIT */
/*
 * graph/grad.c - what the rules of derivatives are made from.
 *
 * What several nodes hand to one source is added up: each tensor that has a
 * gradient already gets a sum for it.
 */
#include "config.h"

#include "lib/graph/grad.h"

#include "lib/base/status.h"
#include "lib/graph/graph.h"
#include "lib/tensor/context.h"

#include <stdarg.h>
#include <stdio.h>

bool
gb_grad_wants(const struct gb_grad *grad, const struct ggml_tensor *tensor)
{
    const struct ggml_hash_set *set = &grad->graph->visited_hash_set;

    return tensor != NULL && ggml_hash_contains(set, tensor) &&
           grad->wanted[gb_grad_slot(grad, tensor)];
}

void
gb_grad_fail(struct gb_grad *grad, const char *fmt, ...)
{
    char reason[GB_REASON_SIZE];
    va_list args;

    va_start(args, fmt);
    vsnprintf(reason, sizeof(reason), fmt, args);
    va_end(args);
    /* A failed node in the graph keeps the reason. */
    if (grad->ctx == NULL)
        gb_precondition("%s", reason);
    else
        ggml_build_forward_expand(grad->graph,
                                  gb_context_failed(grad->ctx, "%s", reason));
    gb_graph_set_failed(grad->graph);
}

/* Let TENSOR have GRADIENT, which is computed behind all that is there. */
static void
keep(struct gb_grad *grad, struct ggml_tensor *tensor,
     struct ggml_tensor *gradient)
{
    if (!gb_node_has_failed(gradient)) {
        if (!ggml_are_same_shape(gradient, tensor)) {
            gb_grad_fail(grad,
                         "build_backward_expand: a gradient of '%s' has "
                         "another shape",
                         tensor->name);
            return;
        }
        ggml_format_name(gradient, "grad for %s", tensor->name);
    }
    ggml_build_forward_expand(grad->graph, gradient);
    grad->graph->grads[gb_grad_slot(grad, tensor)] = gradient;
}

/* What is added up in an accumulator may be overwritten, nothing else. */
static bool
is_accumulated(const struct gb_grad *grad, const struct ggml_tensor *tensor)
{
    return grad->graph->grad_accs[gb_grad_slot(grad, tensor)] != NULL;
}

typedef struct ggml_tensor *join_fn(
    struct ggml_context *ctx, struct ggml_tensor *sum,
    struct ggml_tensor *term);

/* Join TERM to the gradient of TENSOR; false when there is none yet. */
static bool
join(struct gb_grad *grad, struct ggml_tensor *tensor,
     struct ggml_tensor *term, join_fn *plain, join_fn *in_place)
{
    join_fn *const build = is_accumulated(grad, tensor) ? in_place : plain;
    struct ggml_tensor *sum = grad->graph->grads[gb_grad_slot(grad, tensor)];

    if (sum != NULL)
        keep(grad, tensor, build(grad->ctx, sum, term));
    return sum != NULL;
}

void
gb_grad_add(struct gb_grad *grad, struct ggml_tensor *tensor,
            struct ggml_tensor *term)
{
    if (gb_grad_wants(grad, tensor) &&
        !join(grad, tensor, term, ggml_add, ggml_add_inplace))
        keep(grad, tensor, term);
}

void
gb_grad_sub(struct gb_grad *grad, struct ggml_tensor *tensor,
            struct ggml_tensor *term)
{
    if (gb_grad_wants(grad, tensor) &&
        !join(grad, tensor, term, ggml_sub, ggml_sub_inplace))
        keep(grad, tensor, ggml_neg(grad->ctx, gb_grad_cont(grad, term)));
}

void
gb_grad_add_to_all(struct gb_grad *grad, struct ggml_tensor *tensor,
                   struct ggml_tensor *term)
{
    const struct ggml_tensor *sum;

    if (!gb_grad_wants(grad, tensor))
        return;
    sum = grad->graph->grads[gb_grad_slot(grad, tensor)];
    if (sum != NULL && ggml_is_contiguous(sum))
        join(grad, tensor, term, ggml_add1, ggml_add1_inplace);
    else
        gb_grad_add(grad, tensor, ggml_repeat(grad->ctx, term, tensor));
}

/*
 * Zeros of TENSOR's shape.  (The tensor times 0 would do for numbers, but not
 * for infinity.)
 */
static struct ggml_tensor *
zeros_like(const struct gb_grad *grad, struct ggml_tensor *tensor)
{
    return ggml_repeat(grad->ctx, ggml_arange(grad->ctx, 0.0f, 1.0f, 1.0f),
                       tensor);
}

void
gb_grad_add_to_part(struct gb_grad *grad, struct ggml_tensor *tensor,
                    struct ggml_tensor *term, size_t nb1, size_t nb2,
                    size_t nb3, size_t offset)
{
    struct ggml_tensor *sum;

    if (!gb_grad_wants(grad, tensor))
        return;
    sum = grad->graph->grads[gb_grad_slot(grad, tensor)];
    if (sum == NULL)
        sum = zeros_like(grad, tensor);
    if (is_accumulated(grad, tensor))
        sum = ggml_acc_inplace(grad->ctx, sum, term, nb1, nb2, nb3, offset);
    else
        sum = ggml_acc(grad->ctx, gb_grad_cont(grad, sum), term, nb1, nb2, nb3,
                       offset);
    keep(grad, tensor, sum);
}

struct ggml_tensor *
gb_grad_cont(const struct gb_grad *grad, struct ggml_tensor *t)
{
    return gb_node_has_failed(t) || ggml_is_contiguous(t)
               ? t
               : ggml_cont(grad->ctx, t);
}

struct ggml_tensor *
gb_grad_reshape(const struct gb_grad *grad, struct ggml_tensor *t,
                struct ggml_tensor *like)
{
    if (gb_node_has_failed(t) || ggml_are_same_shape(t, like))
        return t;
    return ggml_reshape(grad->ctx, gb_grad_cont(grad, t), like);
}

struct ggml_tensor *
gb_grad_fold(const struct gb_grad *grad, struct ggml_tensor *t,
             struct ggml_tensor *like)
{
    if (gb_node_has_failed(t) || ggml_are_same_shape(t, like))
        return t;
    return ggml_repeat_back(grad->ctx, t, like);
}
