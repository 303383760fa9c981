/* SPDX-License-Identifier: MIT */
/*
 * fuse/memory.c - what a node does to memory.
 */
#include "lib/fuse/memory.h"

struct gb_fuse_span
gb_fuse_span_of(const struct ggml_tensor *t)
{
    const struct ggml_tensor *root =
        t->view_src != NULL && t->view_src->data != NULL ? t->view_src : t;
    const uintptr_t begin = (uintptr_t)root->data;

    return (struct gb_fuse_span){ begin, begin + ggml_nbytes(root) };
}

bool
gb_fuse_computes(enum ggml_op op)
{
    switch ((int)op) {
    case GGML_OP_NONE:
    case GGML_OP_VIEW:
    case GGML_OP_RESHAPE:
    case GGML_OP_PERMUTE:
    case GGML_OP_TRANSPOSE:
        return false;
    default:
        return true;
    }
}

/* Is T all of what it is a view of, as the result of an operation in place is? */
static bool
is_whole(const struct ggml_tensor *t)
{
    return t->data == t->view_src->data && ggml_is_contiguous(t) &&
           ggml_nbytes(t) == ggml_nbytes(t->view_src);
}

struct gb_fuse_use
gb_fuse_use_of(const struct ggml_tensor *node)
{
    struct gb_fuse_use use = {
        .works = gb_fuse_computes(node->op) && !ggml_is_empty(node)
    };

    if (!use.works)
        return use;
    use.is_part = node->view_src != NULL && !is_whole(node);
    use.write = gb_fuse_span_of(node);
    for (int i = 0; i < GGML_MAX_SRC; i++) {
        if (node->src[i] != NULL && !ggml_is_empty(node->src[i]))
            use.reads[use.n_reads++] = gb_fuse_span_of(node->src[i]);
    }
    return use;
}

bool
gb_fuse_reads(const struct gb_fuse_use *use, struct gb_fuse_span span)
{
    for (int i = 0; i < use->n_reads; i++) {
        if (gb_fuse_overlap(use->reads[i], span))
            return true;
    }
    return false;
}
