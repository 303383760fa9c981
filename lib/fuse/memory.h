/* SPDX-License-Identifier: MIT */
/*
 * fuse/memory.h - what a node does to memory.
 *
 * Of a view, all memory of the tensor that it is a view of counts as used: then
 * what was found stays right while views move within it, as those of a KV cache
 * do from token to token.
 */
#ifndef GB_FUSE_MEMORY_H
#define GB_FUSE_MEMORY_H

#include "lib/fuse/fuse.h"

#include <stdint.h>

struct gb_fuse_span {
    uintptr_t begin, end; /* equal: nothing */
};

struct gb_fuse_use {
    bool works; /* it computes something: is no view, and has elements */
    bool is_part; /* it writes to a part of another tensor */
    int n_reads;
    struct gb_fuse_span write;
    struct gb_fuse_span reads[GGML_MAX_SRC];
};

/* Does a node of OP compute something, and is not just a view? */
bool gb_fuse_computes(enum ggml_op op);

struct gb_fuse_use gb_fuse_use_of(const struct ggml_tensor *node);

/* All memory that belongs to T or to what it is a view of. */
struct gb_fuse_span gb_fuse_span_of(const struct ggml_tensor *t);

static inline bool
gb_fuse_overlap(struct gb_fuse_span a, struct gb_fuse_span b)
{
    return a.begin < b.end && b.begin < a.end;
}

bool gb_fuse_reads(const struct gb_fuse_use *use, struct gb_fuse_span span);

/* Does it write all of SPAN, whatever was there before? */
static inline bool
gb_fuse_covers(const struct gb_fuse_use *use, struct gb_fuse_span span)
{
    return use->works && !use->is_part && use->write.begin <= span.begin &&
           use->write.end >= span.end;
}

#endif
