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

unsigned
gb_fuse_written_sources(enum ggml_op op)
{
    static const unsigned char written_sources[GGML_OP_COUNT] = {
#define GB_OP(op, word, sources, kind, in_place, written, derivative, \
              text) \
    [GGML_OP_##op] = (unsigned char)(written),
#include "lib/op/ops.def"
#undef GB_OP
    };

    return (unsigned)op < GGML_OP_COUNT ? written_sources[op]
                                        : GB_FUSE_ANYTHING;
}

/* Is T all of what it is a view of, as the result of an operation in place is? */
static bool
is_whole(const struct ggml_tensor *t)
{
    return t->data == t->view_src->data && ggml_is_contiguous(t) &&
           ggml_nbytes(t) == ggml_nbytes(t->view_src);
}

static struct gb_fuse_use
use_of_all(void)
{
    static const struct gb_fuse_span all = { 0, UINTPTR_MAX };

    return (struct gb_fuse_use){
        .works = true, .is_part = true, .n_reads = 1, .write = all,
        .reads = { all }
    };
}

struct gb_fuse_use
gb_fuse_use_of(const struct ggml_tensor *node)
{
    struct gb_fuse_use use = {
        .works = gb_fuse_computes(node->op) && !ggml_is_empty(node)
    };
    unsigned written;

    if (!use.works)
        return use;
    written = gb_fuse_written_sources(node->op);
    if (written == GB_FUSE_ANYTHING)
        return use_of_all();
    use.is_part = node->view_src != NULL && !is_whole(node);
    use.write = gb_fuse_span_of(node);
    for (int i = 0; i < GGML_MAX_SRC; i++) {
        if (node->src[i] == NULL || ggml_is_empty(node->src[i]))
            continue;
        use.reads[use.n_reads] = gb_fuse_span_of(node->src[i]);
        if ((written >> i & 1) != 0) {
            if (use.n_also == GB_FUSE_MAX_ALSO)
                return use_of_all();
            use.also[use.n_also++] = use.reads[use.n_reads];
        }
        use.n_reads++;
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

bool
gb_fuse_writes(const struct gb_fuse_use *use, struct gb_fuse_span span)
{
    if (!use->works)
        return false;
    for (int i = 0; i < use->n_also; i++) {
        if (gb_fuse_overlap(use->also[i], span))
            return true;
    }
    return gb_fuse_overlap(use->write, span);
}
