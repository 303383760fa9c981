/* SPDX-License-Identifier: MIT */
/*
 * sched/split.c - cut a graph where the backend changes.
 *
 * A split is a run of neighbouring nodes of the same backend.  A source that
 * lies where that backend cannot reach it is an input of the split: it is
 * copied before the split runs, once for all later splits on the same backend;
 * and once more for those behind a node that writes to the source's memory, or
 * that may write anything, as a function of the client's does.
 * Such a node is of another backend, which can reach that memory, so it is in
 * no split that reads the copy.  Views compute nothing, so they stay in the
 * split that they fall into.
 */
#include "config.h"

#include "lib/sched/sched.h"

#include "lib/base/array.h"
#include "lib/base/status.h"

static enum ggml_status
no_memory(void)
{
    return gb_fail(GGML_STATUS_ALLOC_FAILED, "sched: no memory for the splits");
}

static enum ggml_status
begin_split(struct ggml_backend_sched *s, int32_t backend, int32_t node)
{
    struct gb_sched_split *splits = gb_array_room(
        s->splits, &s->max_splits, s->n_splits + 1, sizeof(*splits));

    if (splits == NULL)
        return no_memory();
    s->splits = splits;
    s->backends[backend].last = s->n_splits;
    splits[s->n_splits++] = (struct gb_sched_split){
        .backend = backend,
        .begin = node,
        .end = s->graph.n_nodes,
        .inputs_begin = (int32_t)s->n_inputs,
        .inputs_end = (int32_t)s->n_inputs,
    };
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
add_copy(
    struct ggml_backend_sched *s, int32_t tensor, int32_t backend,
    bool is_graph_input, int32_t *copy)
{
    struct gb_sched_copy *copies = gb_array_room(
        s->copies, &s->max_copied, s->n_copied + 1, sizeof(*copies));

    if (copies == NULL)
        return no_memory();
    s->copies = copies;
    *copy = (int32_t)s->n_copied++;
    copies[*copy] = (struct gb_sched_copy){
        .tensor = tensor,
        .backend = backend,
        .next = s->tensors[tensor].copies,
        .n_writes = s->tensors[gb_sched_owner(s, tensor)].n_writes,
        .is_graph_input = is_graph_input,
    };
    s->tensors[tensor].copies = *copy;
    return GGML_STATUS_SUCCESS;
}

/* The copy is filled before the split runs. */
static enum ggml_status
add_input(
    struct ggml_backend_sched *s, struct gb_sched_split *split, int32_t copy)
{
    int32_t *inputs = gb_array_room(s->inputs, &s->max_inputs, s->n_inputs + 1,
                                    sizeof(*inputs));

    if (inputs == NULL)
        return no_memory();
    s->inputs = inputs;
    inputs[s->n_inputs++] = copy;
    split->inputs_end++;
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
add_rewrite(
    struct ggml_backend_sched *s, int32_t node, int32_t slot, int32_t copy)
{
    struct gb_sched_rewrite *rewrites =
        gb_array_room(s->rewrites, &s->max_rewrites, s->n_rewrites + 1,
                      sizeof(*rewrites));

    if (rewrites == NULL)
        return no_memory();
    s->rewrites = rewrites;
    rewrites[s->n_rewrites++] = (struct gb_sched_rewrite){ node, slot, copy };
    return GGML_STATUS_SUCCESS;
}

static inline bool
needs_copy(const struct ggml_backend_sched *s, int32_t source, int32_t backend)
{
    return s->tensors[source].backend != backend &&
           !gb_sched_can_reach(s, source, backend);
}

/* The copy of SOURCE for BACKEND that has what SOURCE has now, or -1. */
static inline int32_t
find_fresh_copy(
    const struct ggml_backend_sched *s, int32_t source, int32_t backend)
{
    const int32_t n_writes = s->tensors[gb_sched_owner(s, source)].n_writes;
    const int32_t copy = gb_sched_find_copy(s, source, backend);

    return copy >= 0 && (size_t)copy >= s->n_stale &&
                   s->copies[copy].n_writes == n_writes
               ? copy : -1;
}

/* The node writes to memory of other tensors. */
static void
count_writes(struct ggml_backend_sched *s, const struct gb_sched_node *node)
{
    int32_t owners[GB_SCHED_MAX_WRITTEN];
    const int n = gb_sched_find_written(s, node, owners);

    for (int i = 0; i < n; i++)
        s->tensors[owners[i]].n_writes++;
    if ((node->writes & GB_SCHED_WRITES_ANYTHING) != 0) {
        s->n_stale = s->n_copied;
        s->writes_anything = true;
    }
}

/*
 * Does a node of the split's backend begin a new one all the same?  For another
 * weight, so that the copies of weights need not all have room at once; and
 * when the split has as many inputs as it should.
 */
static bool
overloads(
    const struct ggml_backend_sched *s, const struct gb_sched_split *split,
    const struct gb_sched_node *node)
{
    const int32_t n_inputs = split->inputs_end - split->inputs_begin;

    if (n_inputs == 0)
        return false;
    for (int slot = 0; slot < node->n_links; slot++) {
        const int32_t source = s->links[node->links + (size_t)slot];
        const struct ggml_tensor *tensor;

        if (source < 0 || !needs_copy(s, source, split->backend))
            continue;
        tensor = gb_sched_tensor(s, source);
        if (tensor->buffer != NULL &&
            tensor->buffer->usage == GGML_BACKEND_BUFFER_USAGE_WEIGHTS)
            return true;
        if (n_inputs >= GB_SCHED_FULL &&
            find_fresh_copy(s, source, split->backend) < 0)
            return true;
    }
    return false;
}

/*
 * A graph's input that is pipelined has copies on its own backend as well,
 * unless it lies where the client wants it.
 */
static enum ggml_status
pipeline_source(struct ggml_backend_sched *s, int32_t source)
{
    const struct gb_sched_tensor *t = &s->tensors[source];
    int32_t copy;

    if ((gb_sched_tensor(s, source)->flags & GGML_TENSOR_FLAG_INPUT) == 0 ||
        t->home != NULL || t->root >= 0 ||
        gb_sched_find_copy(s, source, t->backend) >= 0)
        return GGML_STATUS_SUCCESS;
    s->backends[t->backend].has_graph_inputs = true;
    return add_copy(s, source, t->backend, true, &copy);
}

static enum ggml_status
add_sources(struct ggml_backend_sched *s, int32_t i)
{
    const struct gb_sched_node *node = &s->nodes[i];
    struct gb_sched_split *split = &s->splits[s->n_splits - 1];

    for (int slot = 0; slot < node->n_links; slot++) {
        const int32_t source = s->links[node->links + (size_t)slot];
        int32_t copy;

        if (source < 0)
            continue;
        if (s->n_copies > 1)
            GB_TRY(pipeline_source(s, source));
        if (!needs_copy(s, source, split->backend))
            continue;
        copy = find_fresh_copy(s, source, split->backend);
        if (copy < 0) {
            GB_TRY(add_copy(s, source, split->backend, false, &copy));
            GB_TRY(add_input(s, split, copy));
        }
        GB_TRY(add_rewrite(s, i, slot, copy));
    }
    return GGML_STATUS_SUCCESS;
}

/* The backend of the first node that computes, or of the first at all. */
static int32_t
first_backend(const struct ggml_backend_sched *s)
{
    int32_t backend;
    int i = 0;

    while (i < s->graph.n_nodes - 1 && s->nodes[i].is_view)
        i++;
    backend = s->tensors[s->nodes[i].number].backend;
    return backend < s->n_backends ? backend : s->n_backends - 1;
}

enum ggml_status
gb_sched_split(struct ggml_backend_sched *s)
{
    s->n_splits = 0;
    s->n_inputs = 0;
    s->n_copied = 0;
    s->n_stale = 0;
    s->writes_anything = false;
    s->n_rewrites = 0;
    for (int i = 0; i < s->n_backends; i++)
        s->backends[i].has_graph_inputs = false;
    if (s->graph.n_nodes == 0)
        return GGML_STATUS_SUCCESS;

    if (s->is_plain)
        return begin_split(s, 0, 0);
    GB_TRY(begin_split(s, first_backend(s), 0));
    for (int32_t i = 0; i < s->graph.n_nodes; i++) {
        const struct gb_sched_node *node = &s->nodes[i];
        const int32_t backend = s->tensors[node->number].backend;
        struct gb_sched_split *split = &s->splits[s->n_splits - 1];

        if (node->is_view)
            continue;
        if (backend != split->backend || overloads(s, split, node)) {
            split->end = i;
            GB_TRY(begin_split(s, backend, i));
        }
        GB_TRY(add_sources(s, i));
        if (node->writes != 0)
            count_writes(s, node);
    }
    return GGML_STATUS_SUCCESS;
}
