/* SPDX-License-Identifier: MIT */
/*
 * alloc/check.c - do two living tensors overlap?
 *
 * Written without the allocator's own lifetimes, so that a mistake in those is
 * seen.
 */
#include "config.h"

#include "lib/alloc/check.h"

#include "ggml-backend.h"
#include "ggml-impl.h"

#include "lib/base/mem.h"
#include "lib/base/status.h"
#include "lib/graph/index.h"

/* From when to when the bytes of a tensor must stay as they are. */
struct span {
    int first;    /* position of the node that writes them, -1: there before */
    int last;     /* of the last node that uses them, INT32_MAX: to the end */
    bool is_read; /* the tensor, or view, is a source of some node */
};

struct check {
    const struct ggml_cgraph *graph;
    struct gb_index index; /* all tensors, views and what they look at */
    struct span *spans;    /* by number; that of a view is its owner's */
    int32_t *living;       /* numbers of owners */
    int32_t n_living;
};

static struct ggml_tensor *
owner_of(struct ggml_tensor *tensor)
{
    while (tensor->view_src != NULL)
        tensor = tensor->view_src;
    return tensor;
}

static bool
number(struct check *c, struct ggml_tensor *tensor)
{
    return gb_index_add(&c->index, owner_of(tensor)) >= 0 &&
           gb_index_add(&c->index, tensor) >= 0;
}

static bool
number_all(struct check *c)
{
    const struct ggml_cgraph *graph = c->graph;
    bool ok = gb_index_reset(&c->index, (int64_t)graph->n_leafs +
                                            graph->n_nodes);

    for (int i = 0; ok && i < graph->n_leafs; i++)
        ok = number(c, graph->leafs[i]);
    for (int i = 0; ok && i < graph->n_nodes; i++) {
        for (int s = 0; ok && s < GGML_MAX_SRC; s++)
            if (graph->nodes[i]->src[s] != NULL)
                ok = number(c, graph->nodes[i]->src[s]);
        ok = ok && number(c, graph->nodes[i]);
    }
    return ok;
}

static struct span *
span_of(const struct check *c, const struct ggml_tensor *tensor)
{
    return &c->spans[gb_index_find(&c->index, tensor)];
}

/* The node at POSITION uses the tensor's bytes. */
static void
use(const struct check *c, struct ggml_tensor *tensor, int position)
{
    struct span *span = span_of(c, owner_of(tensor));

    if (span->last < position)
        span->last = position;
}

static void
find_uses(const struct check *c)
{
    const struct ggml_cgraph *graph = c->graph;

    for (int32_t n = 0; n < c->index.n_tensors; n++)
        c->spans[n] = (struct span){ .first = -1, .last = -1 };
    for (int i = 0; i < graph->n_nodes; i++) {
        struct ggml_tensor *node = graph->nodes[i];

        if (node->view_src == NULL)
            span_of(c, node)->first = i;
        use(c, node, i);
        for (int s = 0; s < GGML_MAX_SRC; s++) {
            if (node->src[s] == NULL)
                continue;
            use(c, node->src[s], i);
            span_of(c, node->src[s])->is_read = true;
        }
    }
}

/*
 * Outputs stay to the end, and so does what nobody reads: it may be the result.
 * A view with operation NONE that nobody reads is only there to use its source.
 */
static void
find_results(const struct check *c)
{
    for (int32_t n = 0; n < c->index.n_tensors; n++) {
        struct ggml_tensor *tensor = c->index.tensors[n];
        const bool is_output = (tensor->flags & GGML_TENSOR_FLAG_OUTPUT) != 0;
        const bool is_marker =
            tensor->view_src != NULL && tensor->op == GGML_OP_NONE;

        if (is_output || (!c->spans[n].is_read && !is_marker))
            use(c, tensor, INT32_MAX);
    }
}

/* An owner that nobody reads itself may be read through views. */
static void
find_reads_of_owners(const struct check *c)
{
    for (int32_t n = 0; n < c->index.n_tensors; n++)
        if (c->index.tensors[n]->view_src != NULL)
            span_of(c, owner_of(c->index.tensors[n]))->is_read = true;
}

static bool
overlap(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    const uintptr_t a0 = (uintptr_t)a->data, b0 = (uintptr_t)b->data;

    return a->buffer == b->buffer && a0 < b0 + ggml_nbytes(b) &&
           b0 < a0 + ggml_nbytes(a);
}

/* Does the node work in place of OLD, which it is the last to read? */
static bool
is_in_place(const struct check *c, const struct ggml_tensor *node, int position,
            const struct ggml_tensor *old)
{
    bool is_alike = false;

    for (int s = 0; s < GGML_MAX_SRC; s++) {
        const struct ggml_tensor *src = node->src[s];

        is_alike = is_alike ||
                   (src != NULL && (src == old || src->view_src == old) &&
                    src->data == node->data && src->type == node->type &&
                    ggml_are_same_shape(node, src) &&
                    ggml_are_same_stride(node, src));
    }
    return is_alike && span_of(c, old)->last == position &&
           node->data == old->data && ggml_nbytes(node) == ggml_nbytes(old);
}

/* The tensor NUMBER lives from POSITION on; does it leave the others alone? */
static bool
enter(struct check *c, int32_t number, int position)
{
    const struct ggml_tensor *tensor = c->index.tensors[number];

    if (tensor->buffer == NULL || tensor->data == NULL ||
        ggml_backend_buffer_get_usage(tensor->buffer) !=
            GGML_BACKEND_BUFFER_USAGE_COMPUTE)
        return true;
    for (int32_t i = 0; i < c->n_living; i++) {
        const struct ggml_tensor *old = c->index.tensors[c->living[i]];

        if (overlap(tensor, old) && !is_in_place(c, tensor, position, old)) {
            gb_fail(GGML_STATUS_FAILED,
                    "graph allocator: %s at node %d overlaps %s", tensor->name,
                    position, old->name);
            return false;
        }
    }
    c->living[c->n_living++] = number;
    return true;
}

/* Those that nobody needs after POSITION are gone. */
static void
leave(struct check *c, int position)
{
    int32_t n = 0;

    for (int32_t i = 0; i < c->n_living; i++)
        if (c->spans[c->living[i]].last > position)
            c->living[n++] = c->living[i];
    c->n_living = n;
}

static bool
replay(struct check *c)
{
    for (int32_t n = 0; n < c->index.n_tensors; n++)
        if (c->index.tensors[n]->view_src == NULL && c->spans[n].first < 0 &&
            !enter(c, n, -1))
            return false;
    for (int i = 0; i < c->graph->n_nodes; i++) {
        struct ggml_tensor *node = c->graph->nodes[i];

        if (node->view_src == NULL &&
            !enter(c, gb_index_find(&c->index, node), i))
            return false;
        leave(c, i);
    }
    return true;
}

enum ggml_status
gb_alloc_check(const struct ggml_cgraph *graph)
{
    struct check c = { .graph = graph };
    enum ggml_status status = GGML_STATUS_ALLOC_FAILED;

    if (number_all(&c)) {
        const size_t n = (size_t)c.index.n_tensors;

        c.spans = gb_mem_alloc(n * sizeof(*c.spans));
        c.living = gb_mem_alloc(n * sizeof(*c.living));
    }
    if (c.spans != NULL && c.living != NULL) {
        find_uses(&c);
        find_reads_of_owners(&c);
        find_results(&c);
        status = replay(&c) ? GGML_STATUS_SUCCESS : GGML_STATUS_FAILED;
    } else {
        gb_fail(status, "graph allocator: no memory to check the places");
    }
    gb_index_clear(&c.index);
    gb_mem_free(c.spans);
    gb_mem_free(c.living);
    return status;
}
