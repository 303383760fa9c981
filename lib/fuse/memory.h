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

enum { GB_FUSE_MAX_ALSO = 2 };

/* A function of the client's may read and write anything: it has one span of
 * each, of all memory, and is a part. */
struct gb_fuse_use {
    bool works; /* it computes something: is no view, and has elements */
    bool is_part; /* it writes to a part of another tensor */
    int n_reads, n_also;
    struct gb_fuse_span write; /* the result */
    struct gb_fuse_span also[GB_FUSE_MAX_ALSO]; /* sources that it writes */
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

/* Does it write to a part of SPAN at least? */
bool gb_fuse_writes(const struct gb_fuse_use *use, struct gb_fuse_span span);

/* The sources that a node of OP writes as well as its result, as bits, the lowest
 * for the first one; or that it may write anything. */
#define GB_FUSE_ANYTHING 0xffu
unsigned gb_fuse_written_sources(enum ggml_op op);

/* Does it write all of SPAN, whatever was there before? */
static inline bool
gb_fuse_covers(const struct gb_fuse_use *use, struct gb_fuse_span span)
{
    return use->works && !use->is_part && use->write.begin <= span.begin &&
           use->write.end >= span.end;
}

#endif
