/* SPDX-License-Identifier: MIT */
/*
 * fuse/find.c - find the groups of a graph.
 *
 * From each node that begins a chain the next node that reads it is looked for,
 * and so on; then, from each product element by element, sums of slices of it;
 * then, from each rotation or copy, others that have nothing to do
 * with it; then, from each product that is left, others with its right side.
 * Spans of memory decide whether the nodes may move to where the group is
 * computed, and whether one kernel may do what they did in turns.
 */
#include "lib/fuse/memory.h"
#include "lib/fuse/patterns.h"

#include <stdlib.h>

enum {
    WINDOW = 24,  /* nodes in which the next one of a chain is looked for */
    FAR = 256,    /* nodes in which memory is looked for to be written again */
};

/* What a search works on. */
struct search {
    struct gb_fuse *fuse;
    const struct ggml_cgraph *cgraph;
    const struct gb_fuse_chain *chain;
    struct gb_fuse_group group;
};

static const struct gb_fuse_use *
use_of(const struct search *s, int member)
{
    return &s->fuse->uses[s->group.at[member]];
}

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

static bool
is_free(const struct search *s, int i)
{
    return s->fuse->uses[i].works && s->fuse->group_of[i] < 0;
}

/* Node I of PART; members stand in the order of the graph. */
static void
add_member(struct search *s, int i, int part)
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

/* An empty group of PATTERN. */
static void
begin_group(struct search *s, enum gb_fuse_pattern pattern)
{
    s->group = (struct gb_fuse_group){ .pattern = pattern };
}

/* Add the next node that reads the last member, and is of the chain's step. */
static bool
add_next(struct search *s)
{
    const struct ggml_tensor *last = s->group.nodes[s->group.n_nodes - 1];
    const struct gb_fuse_step *step = &s->chain->steps[s->group.n_nodes];
    const int first = s->group.at[s->group.n_nodes - 1] + 1;

    for (int i = first; i < first + WINDOW && i < s->cgraph->n_nodes; i++) {
        const struct ggml_tensor *node = s->cgraph->nodes[i];

        if (is_free(s, i) && is_step(step, node->op) &&
            count_source(node, last) == 1) {
            add_member(s, i, 0);
            return true;
        }
    }
    return false;
}

static bool
take_chain(struct search *s, int first)
{
    if (!is_step(&s->chain->steps[0], s->cgraph->nodes[first]->op))
        return false;
    begin_group(s, s->chain->pattern);
    s->group.n_parts = 1;
    add_member(s, first, 0);
    while (s->group.n_nodes < s->chain->n_steps) {
        if (!add_next(s))
            return false;
    }
    return true;
}

/* Is T what OF is, or a view of that? */
static bool
is_of(const struct ggml_tensor *t, const struct ggml_tensor *of)
{
    return t != NULL && (t == of || (t->view_src == of &&
                                     !gb_fuse_computes(t->op)));
}

/* Does NODE read of the group what it should as the next one of NET? */
static bool
is_knot(const struct search *s, const struct gb_fuse_net *net,
        const struct ggml_tensor *node)
{
    const struct gb_fuse_knot *knot = &net->knots[s->group.n_nodes];

    if (node->op != knot->op)
        return false;
    for (int i = 0; i < 2; i++) {
        if (knot->reads[i] >= 0 &&
            !is_of(node->src[i], s->group.nodes[knot->reads[i]]))
            return false;
    }
    return true;
}

static bool
take_net(struct search *s, const struct gb_fuse_net *net, int first)
{
    if (s->cgraph->nodes[first]->op != net->knots[0].op)
        return false;
    begin_group(s, net->pattern);
    s->group.n_parts = 1;
    add_member(s, first, 0);
    for (int i = first + 1; i < first + WINDOW && i < s->cgraph->n_nodes &&
                            s->group.n_nodes < net->n_knots; i++) {
        if (is_free(s, i) && is_knot(s, net, s->cgraph->nodes[i]))
            add_member(s, i, 0);
    }
    return s->group.n_nodes == net->n_knots;
}

static bool
is_slice(const struct ggml_tensor *t, const struct ggml_tensor *of)
{
    return t != NULL && t->op == GGML_OP_VIEW && t->view_src == of;
}

/* Does NODE add two slices of the first member, or one to the last member? */
static bool
adds_slices(const struct search *s, const struct ggml_tensor *node)
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

/* A product element by element, and a sum of its slices. */
static bool
take_slices(struct search *s, int first)
{
    if (s->cgraph->nodes[first]->op != GGML_OP_MUL)
        return false;
    begin_group(s, GB_FUSE_SLICES);
    s->group.n_parts = 1;
    add_member(s, first, 0);
    for (int i = first + 1; i < first + WINDOW && i < s->cgraph->n_nodes &&
                            s->group.n_nodes < GB_FUSE_MAX_NODES; i++) {
        if (is_free(s, i) && adds_slices(s, s->cgraph->nodes[i]))
            add_member(s, i, 0);
    }
    return s->group.n_nodes > 1;
}

/* A product, and others behind it with the same right side. */
static bool
take_products(struct search *s, int first)
{
    const struct ggml_tensor *node = s->cgraph->nodes[first];

    if (node->op != GGML_OP_MUL_MAT)
        return false;
    begin_group(s, GB_FUSE_PRODUCTS);
    add_member(s, first, s->group.n_parts++);
    for (int i = first + 1; i < first + WINDOW && i < s->cgraph->n_nodes &&
                            s->group.n_parts < GB_FUSE_MAX_PARTS; i++) {
        const struct ggml_tensor *other = s->cgraph->nodes[i];

        if (is_free(s, i) && other->op == GGML_OP_MUL_MAT &&
            other->src[1] == node->src[1])
            add_member(s, i, s->group.n_parts++);
    }
    return s->group.n_parts > 1;
}

/* Does a part of stores begin with node I: by itself, or as a chain that was
 * found? */
static bool
is_store(const struct search *s, int i)
{
    const struct gb_fuse_group *chain = gb_fuse_group_of(s->fuse, i);

    if (chain == NULL)
        return is_free(s, i) && gb_fuse_is_store(s->cgraph->nodes[i]->op);
    return gb_fuse_is_store_chain(chain->pattern) && chain->at[0] == i;
}

static void
add_store(struct search *s, int i)
{
    const struct gb_fuse_group *chain = gb_fuse_group_of(s->fuse, i);
    const int part = s->group.n_parts++;

    if (chain == NULL)
        add_member(s, i, part);
    for (int m = 0; chain != NULL && m < chain->n_nodes; m++)
        add_member(s, chain->at[m], part);
}

static bool
is_member(const struct search *s, int i)
{
    for (int m = 0; m < s->group.n_nodes; m++) {
        if (s->group.at[m] == i)
            return true;
    }
    return false;
}

/* ---- may they move to the group's place? ---- */

/* May what does A and what does B change places? */
static bool
may_swap(const struct gb_fuse_use *a, const struct gb_fuse_use *b)
{
    return !gb_fuse_reads(a, b->write) && !gb_fuse_reads(b, a->write) &&
           !gb_fuse_overlap(a->write, b->write);
}

/* May MEMBER pass what stands behind FIRST and before LAST? */
static bool
may_pass(const struct search *s, int member, int first, int last)
{
    for (int i = first + 1; i < last; i++) {
        if (s->fuse->uses[i].works && !is_member(s, i) &&
            !may_swap(use_of(s, member), &s->fuse->uses[i]))
            return false;
    }
    return true;
}

static bool
may_move_back(const struct search *s)
{
    const int last = s->group.at[s->group.n_nodes - 1];

    for (int m = 0; m < s->group.n_nodes - 1; m++) {
        if (!may_pass(s, m, s->group.at[m], last))
            return false;
    }
    return true;
}

/* May MEMBER pass what stands in front of it of node I's group? */
static bool
may_pass_group(const struct search *s, int member, int i)
{
    const struct gb_fuse_group *group = gb_fuse_group_of(s->fuse, i);

    for (int m = 0; group != NULL && m < group->n_nodes; m++) {
        const int other = group->at[m];

        if (other < s->group.at[member] &&
            !may_swap(use_of(s, member), &s->fuse->uses[other]))
            return false;
    }
    return true;
}

/* Nodes of other groups may stand in front of this one, and yet be computed
 * behind its place. */
static bool
may_move_forward(const struct search *s)
{
    for (int m = 1; m < s->group.n_nodes; m++) {
        if (!may_pass(s, m, s->group.at[0], s->group.at[m]))
            return false;
        for (int i = s->group.at[0] + 1; i < s->group.at[m]; i++) {
            if (!may_pass_group(s, m, i))
                return false;
        }
    }
    return true;
}

/* Has no part to do with what another one reads or writes? */
static bool
are_apart(const struct search *s)
{
    for (int a = 0; a < s->group.n_nodes; a++) {
        for (int b = a + 1; b < s->group.n_nodes; b++) {
            if (s->group.part[a] != s->group.part[b] &&
                !may_swap(use_of(s, a), use_of(s, b)))
                return false;
        }
    }
    return true;
}

/* ---- whose result has to be written? ---- */

static bool
is_missed(const struct search *s, int member)
{
    const struct gb_fuse_span span = use_of(s, member)->write;
    const int first = s->group.at[member] + 1;

    for (int i = first; i < first + FAR && i < s->cgraph->n_nodes; i++) {
        const struct gb_fuse_use *use = &s->fuse->uses[i];

        if (!is_member(s, i) && gb_fuse_reads(use, span))
            return true;
        if (gb_fuse_covers(use, span))
            return false;
    }
    return true;
}

/* The member of the same part that stands before MEMBER; -1: it is the first. */
static int
before_in_part(const struct search *s, int member)
{
    int m = member - 1;

    while (m >= 0 && s->group.part[m] != s->group.part[member])
        m--;
    return m;
}

/* The same of an inner result, which may be that of a chain that was found:
 * nobody who came to it since reads it. */
static bool
is_inner_missed(const struct search *s, int member)
{
    const int i = s->group.at[member];
    const struct gb_fuse_group *chain = gb_fuse_group_of(s->fuse, i);
    int m = 0;

    if (chain == NULL)
        return is_missed(s, member);
    while (chain->at[m] != i)
        m++;
    return gb_fuse_is_written(chain, m);
}

static void
find_written(struct search *s)
{
    s->group.written = (1u << s->group.n_nodes) - 1;
    for (int m = 0; m < s->group.n_nodes; m++) {
        const int inner = before_in_part(s, m);

        if (inner >= 0 && !is_inner_missed(s, inner))
            s->group.written &= ~(1u << inner);
    }
}

/* ---- may one kernel do it? ---- */

/* Is the same element of both at the same address? */
static bool
lie_alike(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    if (a->data != b->data || a->type != b->type)
        return false;
    for (int i = 0; i < GGML_MAX_DIMS; i++) {
        if (a->ne[i] != b->ne[i] || a->nb[i] != b->nb[i])
            return false;
    }
    return true;
}

/* SRC comes from outside; member READER reads it, and member WRITER's result is
 * written by the same kernel. */
static bool
may_meet(const struct search *s, const struct ggml_tensor *src, int reader,
         int writer)
{
    if (!gb_fuse_overlap(gb_fuse_span_of(src), use_of(s, writer)->write))
        return true;
    /* It would have to see what an earlier member writes. */
    if (writer < reader)
        return false;
    return !gb_fuse_is_written(&s->group, writer) ||
           (gb_fuse_is_by_row(s->group.nodes[reader]->op) &&
            lie_alike(src, s->group.nodes[writer]));
}

/* May members read any earlier one, and views of it? */
static bool
reads_by_views(const struct search *s)
{
    return s->group.pattern == GB_FUSE_SLICES ||
           s->group.pattern == GB_FUSE_ROUTE;
}

static bool
is_inner(const struct search *s, int reader, const struct ggml_tensor *src)
{
    const int before = before_in_part(s, reader);

    if (before < 0)
        return false;
    for (int m = 0; reads_by_views(s) && m < reader; m++) {
        if (is_of(src, s->group.nodes[m]))
            return true;
    }
    return src == s->group.nodes[before];
}

static bool
may_read(const struct search *s, int reader)
{
    const struct ggml_tensor *node = s->group.nodes[reader];

    for (int i = 0; i < GGML_MAX_SRC; i++) {
        const struct ggml_tensor *src = node->src[i];

        if (src == NULL || is_inner(s, reader, src) || ggml_is_empty(src))
            continue;
        /* A copy names what it writes to among its sources. */
        if (node->op == GGML_OP_CPY && i == 1)
            continue;
        for (int writer = 0; writer < s->group.n_nodes; writer++) {
            if (!may_meet(s, src, reader, writer))
                return false;
        }
    }
    return true;
}

/* Results that are written lie apart. */
static bool
may_write(const struct search *s)
{
    for (int a = 0; a < s->group.n_nodes; a++) {
        for (int b = a + 1; b < s->group.n_nodes; b++) {
            if (gb_fuse_is_written(&s->group, a) &&
                gb_fuse_is_written(&s->group, b) &&
                gb_fuse_overlap(use_of(s, a)->write, use_of(s, b)->write))
                return false;
        }
    }
    return true;
}

static bool
may_be_one(const struct search *s)
{
    for (int m = 0; m < s->group.n_nodes; m++) {
        if (!may_read(s, m))
            return false;
    }
    return may_write(s);
}

/* ---- the search ---- */

/* Let the last group be the one of INDEX, whose nodes are another's now. */
static void
drop(struct gb_fuse *fuse, int index)
{
    const struct gb_fuse_group *last = &fuse->groups[--fuse->n_groups];

    fuse->groups[index] = *last;
    for (int m = 0; index < fuse->n_groups && m < last->n_nodes; m++)
        fuse->group_of[last->at[m]] = index;
}

/* Chains that became a part of it are groups no more. */
static void
keep(struct search *s)
{
    struct gb_fuse *fuse = s->fuse;

    for (int m = 0; m < s->group.n_nodes; m++) {
        const int i = s->group.at[m];

        if (fuse->group_of[i] >= 0 && before_in_part(s, m) < 0)
            drop(fuse, fuse->group_of[i]);
    }
    for (int m = 0; m < s->group.n_nodes; m++)
        fuse->group_of[s->group.at[m]] = fuse->n_groups;
    fuse->groups[fuse->n_groups++] = s->group;
}

static bool
is_chain(struct search *s, int first)
{
    if (!take_chain(s, first) || !may_move_back(s))
        return false;
    find_written(s);
    return may_be_one(s);
}

static void
find_chain(struct search *s, int first, gb_fuse_accepts_fn accepts, void *data)
{
    for (int i = 0; i < gb_fuse_n_chains; i++) {
        s->chain = &gb_fuse_chains[i];
        if (is_chain(s, first) && accepts(data, &s->group)) {
            keep(s);
            return;
        }
    }
}

/* Does member READER find what WRITER made as that was made, or does another one
 * between them write over it? */
static bool
is_kept(const struct search *s, int writer, int reader)
{
    const struct gb_fuse_span span = use_of(s, writer)->write;

    for (int m = writer + 1; m < reader; m++) {
        if (gb_fuse_overlap(use_of(s, m)->write, span) &&
            gb_fuse_reads(use_of(s, reader), span))
            return false;
    }
    return true;
}

static bool
are_kept(const struct search *s)
{
    for (int reader = 2; reader < s->group.n_nodes; reader++) {
        for (int writer = 0; writer < reader - 1; writer++) {
            if (!is_kept(s, writer, reader))
                return false;
        }
    }
    return true;
}

/* May what reads earlier members by views be one kernel? */
static bool
is_net(struct search *s)
{
    if (!are_kept(s) || !may_move_back(s))
        return false;
    find_written(s);
    return may_be_one(s);
}

static void
find_net(struct search *s, int first, gb_fuse_accepts_fn accepts, void *data)
{
    for (int i = 0; i < gb_fuse_n_nets; i++) {
        if (take_net(s, &gb_fuse_nets[i], first) && is_net(s) &&
            accepts(data, &s->group)) {
            keep(s);
            return;
        }
    }
}

/* With one less, where all do not go together. */
static void
find_slices(struct search *s, int first, gb_fuse_accepts_fn accepts, void *data)
{
    if (!take_slices(s, first))
        return;
    for (; s->group.n_nodes > 1; s->group.n_nodes--) {
        if (is_net(s) && accepts(data, &s->group)) {
            keep(s);
            return;
        }
    }
}

static bool
are_stores(struct search *s)
{
    if (!are_apart(s) || !may_move_back(s))
        return false;
    find_written(s);
    return may_be_one(s);
}

/* What does not go together with those before it is left out. */
static void
find_stores(struct search *s, int first, gb_fuse_accepts_fn accepts, void *data)
{
    if (!is_store(s, first))
        return;
    begin_group(s, GB_FUSE_STORES);
    add_store(s, first);
    for (int i = first + 1; i < first + WINDOW && i < s->cgraph->n_nodes &&
                            s->group.n_parts < GB_FUSE_MAX_PARTS; i++) {
        const struct gb_fuse_group without = s->group;

        if (!is_store(s, i))
            continue;
        add_store(s, i);
        if (!are_stores(s) || !accepts(data, &s->group))
            s->group = without;
    }
    if (s->group.n_parts > 1)
        keep(s);
}

/* With one less, where all do not go together. */
static void
find_products(struct search *s, int first, gb_fuse_accepts_fn accepts,
              void *data)
{
    if (!take_products(s, first))
        return;
    for (; s->group.n_nodes > 1; s->group.n_nodes--) {
        s->group.n_parts = s->group.n_nodes;
        s->group.written = (1u << s->group.n_nodes) - 1;
        if (may_move_forward(s) && may_be_one(s) &&
            accepts(data, &s->group)) {
            keep(s);
            return;
        }
    }
}

void
gb_fuse_clear(struct gb_fuse *fuse)
{
    free(fuse->uses);
    free(fuse->groups);
    free(fuse->group_of);
    *fuse = (struct gb_fuse){ .n_groups = 0 };
}

/* Lists for N nodes. */
static bool
make_room(struct gb_fuse *fuse, int n)
{
    if (n <= fuse->room)
        return true;
    gb_fuse_clear(fuse);
    fuse->uses = calloc((size_t)n, sizeof(*fuse->uses));
    fuse->groups = calloc((size_t)n, sizeof(*fuse->groups));
    fuse->group_of = calloc((size_t)n, sizeof(*fuse->group_of));
    if (fuse->uses == NULL || fuse->groups == NULL || fuse->group_of == NULL) {
        gb_fuse_clear(fuse);
        return false;
    }
    fuse->room = n;
    return true;
}

bool
gb_fuse_find(struct gb_fuse *fuse, const struct ggml_cgraph *cgraph,
             gb_fuse_accepts_fn accepts, void *data)
{
    struct search s = { .fuse = fuse, .cgraph = cgraph };

    fuse->n_groups = 0;
    if (!make_room(fuse, cgraph->n_nodes))
        return false;
    for (int i = 0; i < cgraph->n_nodes; i++) {
        fuse->uses[i] = gb_fuse_use_of(cgraph->nodes[i]);
        fuse->group_of[i] = -1;
    }
    for (int i = 0; i < cgraph->n_nodes; i++) {
        if (is_free(&s, i))
            find_chain(&s, i, accepts, data);
    }
    for (int i = 0; i < cgraph->n_nodes; i++) {
        if (is_free(&s, i))
            find_net(&s, i, accepts, data);
        if (is_free(&s, i))
            find_slices(&s, i, accepts, data);
    }
    for (int i = 0; i < cgraph->n_nodes; i++)
        find_stores(&s, i, accepts, data);
    for (int i = 0; i < cgraph->n_nodes; i++) {
        if (is_free(&s, i))
            find_products(&s, i, accepts, data);
    }
    return true;
}
