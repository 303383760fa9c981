/* SPDX-License-Identifier: MIT */
/*
 * fuse/take.c - the nodes of a candidate.
 */
#include "lib/fuse/search.h"

/* ---- a chain of nodes ---- */

static bool
is_step(const struct gb_fuse_step *step, enum ggml_op op)
{
    for (int i = 0; i < GB_FUSE_MAX_CHOICES; i++) {
        if (step->ops[i] == op)
            return op != GGML_OP_NONE;
    }
    return false;
}

/* How many of NODE's sources are SRC? */
static int
count_source(const struct ggml_tensor *node, const struct ggml_tensor *src)
{
    int n = 0;

    for (int i = 0; i < GGML_MAX_SRC; i++)
        n += node->src[i] == src;
    return n;
}

/* Node I of PART; members stand in the order of the graph. */
static void
add_member(struct gb_fuse_search *s, int i, int part)
{
    struct gb_fuse_group *group = &s->group;
    int m = group->n_nodes++;

    for (; m > 0 && group->at[m - 1] > i; m--) {
        group->at[m] = group->at[m - 1];
        group->nodes[m] = group->nodes[m - 1];
        group->part[m] = group->part[m - 1];
    }
    group->at[m] = i;
    group->nodes[m] = s->cgraph->nodes[i];
    group->part[m] = part;
}

void
gb_fuse_begin_group(struct gb_fuse_search *s, enum gb_fuse_pattern pattern)
{
    s->group = (struct gb_fuse_group){ .pattern = pattern };
}

/* Add the next node that reads the last member, and is of the chain's step. */
static bool
add_next(struct gb_fuse_search *s, const struct gb_fuse_chain *chain)
{
    const struct ggml_tensor *last = s->group.nodes[s->group.n_nodes - 1];
    const struct gb_fuse_step *step = &chain->steps[s->group.n_nodes];
    const int first = s->group.at[s->group.n_nodes - 1] + 1;

    for (int i = first; i < gb_fuse_window_end(s, first); i++) {
        const struct ggml_tensor *node = s->cgraph->nodes[i];

        if (gb_fuse_is_free(s, i) && is_step(step, node->op) &&
            count_source(node, last) == 1) {
            add_member(s, i, 0);
            return true;
        }
    }
    return false;
}

bool
gb_fuse_take_chain(struct gb_fuse_search *s,
                   const struct gb_fuse_chain *chain, int first)
{
    if (!is_step(&chain->steps[0], s->cgraph->nodes[first]->op))
        return false;
    gb_fuse_begin_group(s, chain->pattern);
    s->group.n_parts = 1;
    add_member(s, first, 0);
    while (s->group.n_nodes < chain->n_steps) {
        if (!add_next(s, chain))
            return false;
    }
    return true;
}

/* Does NODE read of the group what it should as the next one of SUBGRAPH? */
static bool
is_next(const struct gb_fuse_search *s, const struct gb_fuse_subgraph *subgraph,
        const struct ggml_tensor *node)
{
    const struct gb_fuse_inner_node *wanted =
        &subgraph->nodes[s->group.n_nodes];

    if (node->op != wanted->op)
        return false;
    for (int i = 0; i < 2; i++) {
        if (wanted->reads[i] >= 0 &&
            !gb_fuse_is_of(node->src[i], s->group.nodes[wanted->reads[i]]))
            return false;
    }
    return true;
}

bool
gb_fuse_take_subgraph(struct gb_fuse_search *s,
                      const struct gb_fuse_subgraph *subgraph, int first)
{
    if (s->cgraph->nodes[first]->op != subgraph->nodes[0].op)
        return false;
    gb_fuse_begin_group(s, subgraph->pattern);
    s->group.n_parts = 1;
    add_member(s, first, 0);
    for (int i = first + 1; i < gb_fuse_window_end(s, first) &&
                            s->group.n_nodes < subgraph->n_nodes; i++) {
        if (gb_fuse_is_free(s, i) && is_next(s, subgraph, s->cgraph->nodes[i]))
            add_member(s, i, 0);
    }
    return s->group.n_nodes == subgraph->n_nodes;
}

static bool
is_slice(const struct ggml_tensor *t, const struct ggml_tensor *of)
{
    return t != NULL && t->op == GGML_OP_VIEW && t->view_src == of;
}

/* Does NODE add two slices of the first member, or one to the last member? */
static bool
adds_slices(const struct gb_fuse_search *s, const struct ggml_tensor *node)
{
    const struct ggml_tensor *product = s->group.nodes[0];
    const struct ggml_tensor *last = s->group.nodes[s->group.n_nodes - 1];
    const struct ggml_tensor *a = node->src[0], *b = node->src[1];

    if (node->op != GGML_OP_ADD)
        return false;
    if (last == product)
        return is_slice(a, product) && is_slice(b, product);
    return (a == last && is_slice(b, product)) ||
           (b == last && is_slice(a, product));
}

bool
gb_fuse_take_slices(struct gb_fuse_search *s, int first)
{
    if (s->cgraph->nodes[first]->op != GGML_OP_MUL)
        return false;
    gb_fuse_begin_group(s, GB_FUSE_SLICES);
    s->group.n_parts = 1;
    add_member(s, first, 0);
    for (int i = first + 1; i < gb_fuse_window_end(s, first) &&
                            s->group.n_nodes < GB_FUSE_MAX_NODES; i++) {
        if (gb_fuse_is_free(s, i) && adds_slices(s, s->cgraph->nodes[i]))
            add_member(s, i, 0);
    }
    return s->group.n_nodes > 1;
}

bool
gb_fuse_is_beside(const struct gb_fuse_search *s, int i)
{
    const struct ggml_tensor *node = s->cgraph->nodes[i];

    return gb_fuse_is_free(s, i) && node->op == GGML_OP_MUL_MAT &&
           (s->group.n_nodes == 0 ||
            node->src[1] == s->group.nodes[0]->src[1]);
}

void
gb_fuse_add_product(struct gb_fuse_search *s, int i)
{
    add_member(s, i, s->group.n_parts++);
}

bool
gb_fuse_begins_store(const struct gb_fuse_search *s, int i)
{
    const struct gb_fuse_group *chain = gb_fuse_group_of(s->fuse, i);

    if (chain == NULL)
        return gb_fuse_is_free(s, i) &&
               gb_fuse_is_store(s->cgraph->nodes[i]->op);
    return gb_fuse_is_store_chain(chain->pattern) && chain->at[0] == i;
}

void
gb_fuse_add_store(struct gb_fuse_search *s, int i)
{
    const struct gb_fuse_group *chain = gb_fuse_group_of(s->fuse, i);
    const int part = s->group.n_parts++;

    if (chain == NULL)
        add_member(s, i, part);
    for (int m = 0; chain != NULL && m < chain->n_nodes; m++)
        add_member(s, chain->at[m], part);
}
