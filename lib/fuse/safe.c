/* SPDX-License-Identifier: MIT */
/*
 * fuse/safe.c - may the nodes of a candidate be computed in one place, by one
 * kernel?
 */
#include "lib/fuse/search.h"

/* Nodes in which memory is looked for to be written again. */
enum { FAR = 256 };

static bool
is_member(const struct gb_fuse_search *s, int i)
{
    for (int m = 0; m < s->group.n_nodes; m++) {
        if (s->group.at[m] == i)
            return true;
    }
    return false;
}

/* ---- may they move to the group's place? ---- */

/* Does B neither read nor write what A writes? */
static bool
is_apart(const struct gb_fuse_use *b, const struct gb_fuse_use *a)
{
    for (int i = 0; i < a->n_also; i++) {
        if (gb_fuse_reads(b, a->also[i]) || gb_fuse_writes(b, a->also[i]))
            return false;
    }
    return !gb_fuse_reads(b, a->write) && !gb_fuse_writes(b, a->write);
}

/* May what does A and what does B change places? */
static bool
may_swap(const struct gb_fuse_use *a, const struct gb_fuse_use *b)
{
    return is_apart(a, b) && is_apart(b, a);
}

/* May MEMBER pass what stands behind FIRST and before LAST? */
static bool
may_pass(const struct gb_fuse_search *s, int member, int first, int last)
{
    for (int i = first + 1; i < last; i++) {
        if (s->fuse->uses[i].works && !is_member(s, i) &&
            !may_swap(gb_fuse_use_at(s, member), &s->fuse->uses[i]))
            return false;
    }
    return true;
}

bool
gb_fuse_may_move_back(const struct gb_fuse_search *s)
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
may_pass_group(const struct gb_fuse_search *s, int member, int i)
{
    const struct gb_fuse_group *group = gb_fuse_group_of(s->fuse, i);

    for (int m = 0; group != NULL && m < group->n_nodes; m++) {
        const int other = group->at[m];

        if (other < s->group.at[member] &&
            !may_swap(gb_fuse_use_at(s, member), &s->fuse->uses[other]))
            return false;
    }
    return true;
}

/* Nodes of other groups may stand in front of this one, and yet be computed
 * behind its place. */
bool
gb_fuse_may_move_forward(const struct gb_fuse_search *s)
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

bool
gb_fuse_are_apart(const struct gb_fuse_search *s)
{
    for (int a = 0; a < s->group.n_nodes; a++) {
        for (int b = a + 1; b < s->group.n_nodes; b++) {
            if (s->group.part[a] != s->group.part[b] &&
                !may_swap(gb_fuse_use_at(s, a), gb_fuse_use_at(s, b)))
                return false;
        }
    }
    return true;
}

/* ---- whose result has to be written? ---- */

static bool
is_missed(const struct gb_fuse_search *s, int member)
{
    const struct gb_fuse_span span = gb_fuse_use_at(s, member)->write;
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

/* The same of an inner result, which may be that of a chain that was found:
 * nobody who came to it since reads it. */
static bool
is_inner_missed(const struct gb_fuse_search *s, int member)
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

void
gb_fuse_find_written(struct gb_fuse_search *s)
{
    s->group.written = (1u << s->group.n_nodes) - 1;
    for (int m = 0; m < s->group.n_nodes; m++) {
        const int inner = gb_fuse_inner_of(s, m);

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
may_meet(const struct gb_fuse_search *s, const struct ggml_tensor *src,
         int reader, int writer)
{
    if (!gb_fuse_overlap(gb_fuse_span_of(src),
                         gb_fuse_use_at(s, writer)->write))
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
reads_by_views(const struct gb_fuse_search *s)
{
    return s->group.pattern == GB_FUSE_SLICES ||
           s->group.pattern == GB_FUSE_ROUTE;
}

static bool
is_inner(const struct gb_fuse_search *s, int reader,
         const struct ggml_tensor *src)
{
    const int before = gb_fuse_inner_of(s, reader);

    if (before < 0)
        return false;
    for (int m = 0; reads_by_views(s) && m < reader; m++) {
        if (gb_fuse_is_of(src, s->group.nodes[m]))
            return true;
    }
    return src == s->group.nodes[before];
}

static bool
may_read(const struct gb_fuse_search *s, int reader)
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
may_write(const struct gb_fuse_search *s)
{
    for (int a = 0; a < s->group.n_nodes; a++) {
        for (int b = a + 1; b < s->group.n_nodes; b++) {
            if (gb_fuse_is_written(&s->group, a) &&
                gb_fuse_is_written(&s->group, b) &&
                gb_fuse_overlap(gb_fuse_use_at(s, a)->write,
                                gb_fuse_use_at(s, b)->write))
                return false;
        }
    }
    return true;
}

bool
gb_fuse_may_be_one(const struct gb_fuse_search *s)
{
    for (int m = 0; m < s->group.n_nodes; m++) {
        if (!may_read(s, m))
            return false;
    }
    return may_write(s);
}

/* ---- do later members find what earlier ones made? ---- */

/* Does NODE read the result of OF, or a view of it? */
static bool
reads_result(const struct ggml_tensor *node, const struct ggml_tensor *of)
{
    for (int i = 0; i < GGML_MAX_SRC; i++) {
        if (gb_fuse_is_of(node->src[i], of))
            return true;
    }
    return false;
}

/* Does member READER find what WRITER made as that was made, or does another
 * one between them write over it?  What it reads in that place of the other one
 * is that one's, as in a sum that is made in place. */
static bool
is_kept(const struct gb_fuse_search *s, int writer, int reader)
{
    const struct gb_fuse_span span = gb_fuse_use_at(s, writer)->write;

    for (int m = writer + 1; m < reader; m++) {
        if (gb_fuse_overlap(gb_fuse_use_at(s, m)->write, span) &&
            reads_result(s->group.nodes[reader], s->group.nodes[writer]))
            return false;
    }
    return true;
}

bool
gb_fuse_are_kept(const struct gb_fuse_search *s)
{
    for (int reader = 2; reader < s->group.n_nodes; reader++) {
        for (int writer = 0; writer < reader - 1; writer++) {
            if (!is_kept(s, writer, reader))
                return false;
        }
    }
    return true;
}
