/* SPDX-License-Identifier: MIT */
/*
 * graph/backward.c - the gradients of a loss, by walking back from it.
 *
 * Reverse accumulation: each node hands the gradient of the loss by itself to
 * its sources, by the rules in grad-*.c (A. Griewank, A. Walther: Evaluating
 * Derivatives, 3.2).
 */
#include "config.h"

#include "lib/graph/grad.h"

#include "lib/base/mem.h"
#include "lib/base/status.h"
#include "lib/graph/graph.h"
#include "lib/op/op.h"
#include "lib/tensor/context.h"

/* Bits of src[]: whose values a result is made from. */
enum { FIRST = 1 << 0, SECOND = 1 << 1, ANY = (1 << GGML_MAX_SRC) - 1 };

/* What the table of operations says of a derivative, as a row. */
#define ROW_OF_NONE(word)   { NULL, 0 }
#define ROW_OF_FIRST(word)  { gb_grad_of_##word, FIRST }
#define ROW_OF_SECOND(word) { gb_grad_of_##word, SECOND }
#define ROW_OF_ANY(word)    { gb_grad_of_##word, ANY }

static const struct derivative {
    gb_grad_rule *rule;
    int sources;
} derivatives[GGML_OP_COUNT] = {
#define GB_OP(op, word, sources, kind, in_place, written, derivative, \
              text) \
    [GGML_OP_##op] = ROW_OF_##derivative(word),
#include "lib/op/ops.def"
#undef GB_OP
};

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
    const size_t slot = gb_grad_slot(grad, node);
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
        grad->wanted[gb_grad_slot(grad, node)] = true;
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

/* The first node whose operation is none, as a client may have written; NULL if
 * there is no such node. */
static const struct ggml_tensor *
first_without_operation(const struct ggml_cgraph *graph)
{
    for (int i = 0; i < graph->n_nodes; i++)
        if ((unsigned)graph->nodes[i]->op >= GGML_OP_COUNT)
            return graph->nodes[i];
    return NULL;
}

/* Is there something to differentiate, by something, and room for it? */
static bool
check(struct gb_grad *grad, const struct ggml_context *ctx_static)
{
    const struct ggml_cgraph *graph = grad->graph;
    const struct ggml_tensor *node;
    const char *what = NULL;

    if (gb_graph_is_failed(graph))
        return false;
    if (gb_graph_check_lists(graph) != GGML_STATUS_SUCCESS) {
        gb_graph_set_failed(grad->graph);
        return false;
    }
    node = first_without_operation(graph);
    if (node != NULL) {
        gb_grad_fail(grad, "build_backward_expand: '%.*s' is of operation %d, "
                     "which is none", (int)sizeof(node->name), node->name,
                     (int)node->op);
        return false;
    }
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
