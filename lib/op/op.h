/* SPDX-License-Identifier: MIT */
/*
 * op/op.h - the table of operations.
 */
#ifndef GB_OP_OP_H
#define GB_OP_OP_H

#include "ggml.h"

struct gb_op {
    const char *name;   /* "SOFT_MAX" */
    const char *word;   /* "soft_max", as messages spell it */
    const char *symbol; /* "soft_max(x)" */
    int n_src;          /* how many of src[] an implementation looks at */
};

/* What a backend has to do for a node. */
enum gb_op_kind {
    GB_OP_NONE, /* nothing: the tensor has its data */
    GB_OP_VIEW, /* nothing: it is its source's data, looked at otherwise */
    GB_OP_WORK  /* to compute it */
};

/* By number.  Kinds, how many of the first sources a result may be written over,
 * and which sources are written, are apart, where all of them share a few cache
 * lines. */
extern const struct gb_op gb_ops[GGML_OP_COUNT];
extern const unsigned char gb_op_kinds[GGML_OP_COUNT];
extern const unsigned char gb_op_in_place_sources[GGML_OP_COUNT];
extern const unsigned char gb_op_written_sources[GGML_OP_COUNT];

/* The row of OP, NULL for a number that is none.  Any thread. */
static inline const struct gb_op *
gb_op_get(enum ggml_op op)
{
    return (unsigned)op < GGML_OP_COUNT ? &gb_ops[op] : NULL;
}

/* The word of OP, one of the table's operations.  Any thread. */
static inline const char *
gb_op_word(enum ggml_op op)
{
    return gb_ops[op].word;
}

/* Is OP one that only looks at its source?  Any thread. */
static inline bool
gb_op_is_view(enum ggml_op op)
{
    return (unsigned)op < GGML_OP_COUNT && gb_op_kinds[op] == GB_OP_VIEW;
}

/* Is there something to compute?  Of an unknown OP, yes.  Any thread. */
static inline bool
gb_op_has_work(enum ggml_op op)
{
    return (unsigned)op >= GGML_OP_COUNT || gb_op_kinds[op] == GB_OP_WORK;
}

/* Of a function of the client's: it may read and write anything. */
#define GB_OP_WRITES_ANYTHING 0xffu

/* The sources that OP writes as well as its result, as bits; of an unknown OP,
 * anything.  Any thread. */
static inline unsigned
gb_op_writes(enum ggml_op op)
{
    return (unsigned)op < GGML_OP_COUNT ? gb_op_written_sources[op]
                                        : GB_OP_WRITES_ANYTHING;
}

/* Is UNARY one of the functions of operation UNARY?  Any thread. */
bool gb_op_is_unary(enum ggml_unary_op unary);

#endif
