/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/api/attention.h - queries that look at the same keys.
 */
#ifndef GB_CPU_KERNELS_API_ATTENTION_H
#define GB_CPU_KERNELS_API_ATTENTION_H

#include "ggml.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GB_PREFILL_QUERIES 256 /* at most */
#define GB_PREFILL_KEYS    64  /* at a time */

/* A few queries and the rows of N keys, or of their values. */
struct gb_decode {
    enum ggml_type type; /* of the rows: see gb_decode_reads */
    int64_t d;
    int64_t n;
    const char *rows;
    size_t pitch;      /* bytes from row to row */
    const char *fetch; /* will be wanted later, and so many bytes for every */
    size_t fetch_step; /* 32 values of a row */
    int64_t n_vectors;
    float *const *vectors; /* D floats: queries, or sums of values */
    float *const *weights; /* N floats for each of them */
};

/* Types whose rows are used where they lie. */
static inline bool
gb_decode_reads(enum ggml_type type)
{
    return type == GGML_TYPE_F32 || type == GGML_TYPE_F16 ||
           type == GGML_TYPE_BF16 || type == GGML_TYPE_Q8_0 ||
           type == GGML_TYPE_Q4_0;
}

/* A block mask sums up a mask's values for a block of keys: how many keys there are
 * up to the last one that is not hidden, and whether all values are 0. */
#define GB_BLOCK_MASK_END  0x7F
#define GB_BLOCK_MASK_ZERO 0x80

struct gb_block_mask {
    const uint16_t *values;
    uint8_t summary;
};

/*
 * Many queries.  With s the product of a query's row and a key's, or cap * tanh
 * of that, plus slope * mask, the sums are those of 2^(s - max) * v, and the
 * sum is that of 2^(s - max).
 */
struct gb_prefill {
    int64_t d;        /* elements of a row */
    int64_t n;        /* queries */
    int64_t per_mask; /* successive queries that share a mask */
    float cap;        /* 0 for none */
    float max[GB_PREFILL_QUERIES];
    float sum[GB_PREFILL_QUERIES];
    float slope[GB_PREFILL_QUERIES];
    /* The kernels' own; 64-byte aligned, with room for gb_prefill_floats(d), as
     * many again, and twice as many floats as there are queries and keys. */
    float *queries;
    float *sums;
    float *scores;
    float *masks;
};

static inline size_t
gb_prefill_floats(int64_t d)
{
    return GB_PREFILL_QUERIES * (((size_t)d + 15) / 16 * 16);
}

#endif
