/* SPDX-License-Identifier: MIT */
/*
 * sched/copy.c - descriptions of copied inputs, and nodes that read them.
 *
 * The descriptions, n_copies for each input, lie behind each other in memory
 * that is used again for the next graph.
 */
#include "config.h"

#include "lib/sched/sched.h"

#include "lib/base/array.h"
#include "lib/base/status.h"
#include "lib/tensor/tensor.h"

struct ggml_tensor *
gb_sched_copy_tensor(
    const struct ggml_backend_sched *s, int32_t copy, int which)
{
    const struct gb_sched_copy *c = &s->copies[copy];

    /* The client's own tensor takes part in the turns. */
    if (c->is_graph_input && which == s->copy)
        return gb_sched_tensor(s, c->tensor);
    return &s->pool[(size_t)copy * (size_t)s->n_copies + (size_t)which];
}

/*
 * Write TEXT to AT, as far as there is room before END; where it ends.  Names
 * are too short for functions that look at many bytes at once.
 */
static inline char *
append(char *at, const char *end, const char *text)
{
    while (at < end && *text != '\0')
        *at++ = *text++;
    return at;
}

/*
 * The name of copy WHICH: its backend's and its source's before it.  There may
 * be one at every node, so it is put together by hand.
 */
static void
name_copy(
    const struct ggml_backend_sched *s, const struct gb_sched_copy *copy,
    int which, struct ggml_tensor *tensor)
{
    const char *end = tensor->name + sizeof(tensor->name) - 1;
    const char digit[] = { (char)('0' + which), '\0' };
    char *at = tensor->name;

    at = append(at, end, ggml_backend_name(gb_sched_backend(s, copy->backend)));
    at = append(at, end, "#");
    at = append(at, end, gb_sched_tensor(s, copy->tensor)->name);
    at = append(at, end, "#");
    *append(at, end, digit) = '\0';
}

_Static_assert(GB_SCHED_COPIES <= 10, "the copy's number is one digit");

/*
 * The allocator takes a source that a node reads to be needed up to there: so
 * the copy that is filled reads what it is filled with.
 */
static void
make_copy(struct ggml_backend_sched *s, int32_t i)
{
    const struct gb_sched_copy *copy = &s->copies[i];
    struct ggml_tensor *source = gb_sched_tensor(s, copy->tensor);

    for (int which = 0; which < s->n_copies; which++) {
        struct ggml_tensor *tensor = gb_sched_copy_tensor(s, i, which);

        if (tensor != source) {
            gb_tensor_describe(tensor, source->type, source->ne, source->nb);
            name_copy(s, copy, which, tensor);
            if (which == s->copy)
                tensor->src[0] = source;
        }
        /* Several graphs may be under way: nothing else may lie there. */
        if (s->n_copies > 1)
            tensor->flags |= GGML_TENSOR_FLAG_INPUT | GGML_TENSOR_FLAG_OUTPUT;
    }
}

enum ggml_status
gb_sched_make_copies(struct ggml_backend_sched *s)
{
    struct ggml_tensor *pool = gb_array_room(
        s->pool, &s->max_pool,
        s->n_copied * (size_t)s->n_copies, sizeof(*pool));
    struct gb_tensor_walk nodes = { { 0, 0 } }, copies = { { 0, 0 } };
    size_t n_made = 0;
    int32_t n_passed = 0;

    if (pool == NULL)
        return gb_fail(GGML_STATUS_ALLOC_FAILED,
                       "sched: no memory for %zu copied inputs", s->n_inputs);
    s->pool = pool;
    /* In the order of the nodes, to look at each of these once, and with none
       left out, so that what comes is fetched in time. */
    for (size_t i = 0; i < s->n_rewrites; i++) {
        const struct gb_sched_rewrite *r = &s->rewrites[i];

        while (n_passed <= r->node)
            gb_tensor_walk(&nodes, s->graph.nodes[n_passed++]);
        gb_tensor_walk(&copies, &pool[n_made]);
        while (n_made <= (size_t)r->copy)
            make_copy(s, (int32_t)n_made++);
        s->graph.nodes[r->node]->src[r->slot] = gb_sched_current(s, r->copy);
    }
    while (n_made < s->n_copied)
        make_copy(s, (int32_t)n_made++);
    return GGML_STATUS_SUCCESS;
}

void
gb_sched_restore(struct ggml_backend_sched *s)
{
    for (size_t i = 0; i < s->n_rewrites; i++) {
        const struct gb_sched_rewrite *r = &s->rewrites[i];

        s->graph.nodes[r->node]->src[r->slot] =
            gb_sched_tensor(s, s->copies[r->copy].tensor);
    }
    s->n_rewrites = 0;
}
