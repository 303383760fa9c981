/* SPDX-License-Identifier: MIT */
/*
 * graph/backward.c - the gradients of a loss, by walking back from it.
 *
 * Reverse accumulation: each node hands the gradient of the loss by itself to
 * its sources, by the rules in grad-*.c; what several nodes hand to one source
 * is added up (A. Griewank, A. Walther: Evaluating Derivatives, 3.2).
 */
#include "config.h"

#include "lib/graph/grad.h"

#include "ggml-impl.h"

#include "lib/base/mem.h"
#include "lib/base/status.h"
#include "lib/graph/graph.h"
#include "lib/op/op.h"
#include "lib/tensor/context.h"

#include <stdio.h>
#include <string.h>

/* Bits of src[]: whose values a result is made from. */
enum { FIRST = 1 << 0, SECOND = 1 << 1, ANY = (1 << GGML_MAX_SRC) - 1 };

static const struct derivative {
    gb_grad_rule *rule;
    int sources;
} derivatives[GGML_OP_COUNT] = {
#define GB_GRAD(op, rule, source) \
    [GGML_OP_##op] = { gb_grad_of_##rule, source },
#include "lib/graph/grad.def"
#undef GB_GRAD
};

/* -- What rules are made from -------------------------------------------- */

/* The slot of TENSOR, which is in the graph. */
static size_t
slot_of(const struct gb_grad *grad, const struct ggml_tensor *tensor)
{
    return ggml_hash_find(&grad->graph->visited_hash_set, tensor);
}

bool
gb_grad_wants(const struct gb_grad *grad, const struct ggml_tensor *tensor)
{
    const struct ggml_hash_set *set = &grad->graph->visited_hash_set;

    return tensor != NULL && ggml_hash_contains(set, tensor) &&
           grad->wanted[slot_of(grad, tensor)];
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
    grad->graph->grads[slot_of(grad, tensor)] = gradient;
}

/* What is added up in an accumulator may be overwritten, nothing else. */
static bool
is_accumulated(const struct gb_grad *grad, const struct ggml_tensor *tensor)
{
    return grad->graph->grad_accs[slot_of(grad, tensor)] != NULL;
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
    struct ggml_tensor *sum = grad->graph->grads[slot_of(grad, tensor)];

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
    sum = grad->graph->grads[slot_of(grad, tensor)];
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
    sum = grad->graph->grads[slot_of(grad, tensor)];
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

/* -- What wants a gradient ----------------------------------------------- */

/* Is NODE a function whose derivative is 0 wherever there is one? */
static bool
is_flat(const struct ggml_tensor *node)
{
    enum ggml_unary_op f;

    if (node->op != GGML_OP_UNARY)
        return false;
    f = ggml_get_unary_op(node);
    return f == GGML_UNARY_OP_SGN || f == GGML_UNARY_OP_STEP;
}

/*
 * Does NODE change with a source that wants a gradient?  Of an operation
 * without a rule nobody knows from which, so each counts: it is then refused by
 * name.  Indices and positions need no word here: integers want nothing.
 */
static bool
has_wanting_source(const struct gb_grad *grad, const struct ggml_tensor *node)
{
    const struct derivative *d = &derivatives[node->op];
    const int sources = d->rule != NULL ? d->sources : ANY;

    if (is_flat(node))
        return false;
    for (int i = 0; i < GGML_MAX_SRC; i++)
        if ((sources >> i & 1) != 0 && gb_grad_wants(grad, node->src[i]))
            return true;
    return false;
}

/*
 * Does NODE write into its source, so that the old value is lost?  (A copy
 * writes into its destination, of which nothing is needed.)
 */
static bool
overwrites(const struct ggml_tensor *node)
{
    return node->view_src != NULL && node->op != GGML_OP_CPY &&
           gb_op_has_work(node->op);
}

static void
add_accumulator(struct gb_grad *grad, struct ggml_context *ctx_static,
                struct ggml_tensor *node)
{
    const size_t slot = slot_of(grad, node);
    struct ggml_tensor *acc = ggml_dup_tensor(ctx_static, node);

    if (gb_node_has_failed(acc)) {
        ggml_build_forward_expand(grad->graph, acc);
        return;
    }
    ggml_format_name(acc, "grad acc for %s", node->name);
    grad->graph->grad_accs[slot] = acc;
    grad->graph->grads[slot] = acc;
}

/* NODE wants a gradient: can it have one, and where is it added up? */
static void
prepare(struct gb_grad *grad, struct ggml_context *ctx_static,
        struct ggml_tensor *node, bool accumulate)
{
    const bool is_loss = (node->flags & GGML_TENSOR_FLAG_LOSS) != 0;
    const bool is_param = (node->flags & GGML_TENSOR_FLAG_PARAM) != 0;

    if (node->type != GGML_TYPE_F32 && node->type != GGML_TYPE_F16)
        gb_grad_fail(grad,
                     "build_backward_expand: '%s' has type %s, and not f32 or "
                     "f16",
                     node->name, ggml_type_name(node->type));
    else if (is_loss &&
             (node->type != GGML_TYPE_F32 || !ggml_is_scalar(node)))
        gb_grad_fail(grad,
                     "build_backward_expand: the loss '%s' is no single f32 "
                     "value",
                     node->name);
    else if (overwrites(node))
        gb_grad_fail(grad,
                     "build_backward_expand: '%s' writes in place what its "
                     "derivative needs",
                     node->name);
    else if (is_loss || (is_param && accumulate))
        add_accumulator(grad, ctx_static, node);
}

/* -- The walk ------------------------------------------------------------ */

static void
mark_all(struct gb_grad *grad, struct ggml_context *ctx_static, int n_nodes,
         bool accumulate)
{
    const int marks = GGML_TENSOR_FLAG_PARAM | GGML_TENSOR_FLAG_LOSS;

    for (int i = 0; i < n_nodes && !gb_graph_is_failed(grad->graph); i++) {
        struct ggml_tensor *node = grad->graph->nodes[i];

        if (node->type == GGML_TYPE_I32 ||
            ((node->flags & marks) == 0 && !has_wanting_source(grad, node)))
            continue;
        grad->wanted[slot_of(grad, node)] = true;
        prepare(grad, ctx_static, node, accumulate);
    }
}

static void
hand_on(struct gb_grad *grad, struct ggml_tensor *node)
{
    struct ggml_tensor *g = ggml_graph_get_grad(grad->graph, node);

    if (g == NULL || !has_wanting_source(grad, node))
        return;
    if (derivatives[node->op].rule == NULL)
        gb_grad_fail(grad, "build_backward_expand: '%s': %s has no derivative",
                     node->name, ggml_op_name(node->op));
    else
        derivatives[node->op].rule(grad, node, g);
}

/* How many of the N nodes have FLAG? */
static int
count_flag(const struct ggml_cgraph *graph, int n, enum ggml_tensor_flag flag)
{
    int count = 0;

    for (int i = 0; i < n; i++)
        count += (graph->nodes[i]->flags & (int32_t)flag) != 0;
    return count;
}

/* Is there something to differentiate, by something, and room for it? */
static bool
check(struct gb_grad *grad, const struct ggml_context *ctx_static)
{
    const struct ggml_cgraph *graph = grad->graph;
    const char *what = NULL;

    if (gb_graph_is_failed(graph))
        return false;
    if (ctx_static == NULL || grad->ctx == NULL)
        what = "there is no context";
    else if (graph->grads == NULL)
        what = "the graph has no places for gradients";
    else if (graph->n_nodes == 0)
        what = "the graph has no nodes";
    else if (count_flag(graph, graph->n_nodes, GGML_TENSOR_FLAG_PARAM) == 0)
        what = "the graph has no parameter (ggml_set_param)";
    else if (count_flag(graph, graph->n_nodes, GGML_TENSOR_FLAG_LOSS) == 0)
        what = "the graph has no loss (ggml_set_loss)";
    if (what != NULL)
        gb_grad_fail(grad, "build_backward_expand: %s", what);
    return what == NULL;
}

void
ggml_build_backward_expand(struct ggml_context *ctx_static,
                           struct ggml_context *ctx_compute,
                           struct ggml_cgraph *graph, bool accumulate)
{
    struct gb_grad grad = { ctx_compute, graph, NULL };
    int n_nodes;

    GB_NEED_VOID(graph != NULL, "build_backward_expand: the graph is NULL");
    if (!check(&grad, ctx_static))
        return;
    grad.wanted = gb_mem_zalloc(graph->visited_hash_set.size,
                                sizeof(*grad.wanted));
    if (grad.wanted == NULL) {
        gb_grad_fail(&grad, "build_backward_expand: no memory for %zu marks",
                     graph->visited_hash_set.size);
        return;
    }
    gb_graph_forget_gradients(graph);
    n_nodes = graph->n_nodes;
    mark_all(&grad, ctx_static, n_nodes, accumulate);
    for (int i = n_nodes - 1; i >= 0 && !gb_graph_is_failed(graph); i--)
        hand_on(&grad, graph->nodes[i]);
    gb_mem_free(grad.wanted);
}
