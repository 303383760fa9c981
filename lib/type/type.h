/* SPDX-License-Identifier: MIT */
/*
 * type/type.h - the table of data types.
 */
#ifndef GB_TYPE_TYPE_H
#define GB_TYPE_TYPE_H

#include "ggml.h"

/*
 * Quantise a row of N values, a multiple of the block.
 *
 *   importance  N weights, one a value, or NULL for none
 */
typedef void (*gb_quantize_fn)(
    const float *values, void *blocks, int64_t n, const float *importance);

/* What must be finite for a block to be one that its format can have. */
enum gb_check {
    GB_CHECK_REFUSE, /* no rows of this type come from outside */
    GB_CHECK_ANY,    /* every pattern of bits is good */
    GB_CHECK_F16,    /* halves */
    GB_CHECK_BF16,
    GB_CHECK_F32,
    GB_CHECK_F64,
    GB_CHECK_IQ1_M, /* the half that is spread over the scales of iq1_m */
};

struct gb_type {
    const char *name;
    int64_t block; /* values in a block; 0 for a number without a type */
    size_t bytes;  /* of a block */
    ggml_to_float_t to_float;     /* NULL: not to be read, or F32 already */
    ggml_from_float_t from_float; /* the reference, or NULL */
    gb_quantize_fn quantize;      /* for models, or NULL */
    bool needs_imatrix;           /* quantize cannot do without importance */
    enum gb_check check;
    uint8_t check_at;    /* bytes of the block before what is checked */
    uint8_t check_count; /* how many stand there in a row */
};

/* By number; behind the last one an empty row, for all numbers out of range. */
extern const struct gb_type gb_types[GGML_TYPE_COUNT + 1];

/*
 * The type's row; for a number out of range an empty row, as for a retired
 * number.  Never NULL; static.  Any thread.
 */
static inline const struct gb_type *
gb_type_get(enum ggml_type type)
{
    const unsigned number = (unsigned)type;

    return &gb_types[number < GGML_TYPE_COUNT ? number : GGML_TYPE_COUNT];
}

/*
 * Bytes of each number that data of TYPE is made of.  Blocks are made of bytes:
 * they are the same on machines of any byte order (blocks.h).
 */
static inline size_t
gb_type_number_bytes(enum ggml_type type)
{
    const struct gb_type *t = gb_type_get(type);

    return t->block == 1 ? t->bytes : 1;
}

#endif
