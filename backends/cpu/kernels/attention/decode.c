/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/attention/decode.c - decode: scores and sums of values of the few
 * queries, one for each head of a group, that look at the same keys.
 *
 * Memory is the limit: a row of keys or values is read once for QUERIES queries
 * and becomes floats in registers.  Scores are dot products, vectors running
 * along the rows; values are added to sums that stay in registers for a block
 * of keys.  The softmax between the two is the operation's
 * (ops/attention-decode.c).
 *
 * For a block of n keys of d elements, and the queries q of a group of heads:
 *
 *     decode_scores   weights[q][j] = sum over i of query[q][i] * key[j][i]
 *     decode_values   sums[q][i] += sum over j of weights[q][j] * value[j][i]
 *
 * Register tiles, and what a vector of VF_LEN elements costs:
 *
 *     scores   KEYS x QUERIES sums    KEYS + QUERIES loads
 *              KEYS * QUERIES FMA; at the end of the rows their lanes are added
 *              up, four keys together
 *     values   QUERIES x WIDTH sums   WIDTH loads, QUERIES broadcasts for each
 *              key; QUERIES * WIDTH FMA
 *
 * Layout    keys and values are rows of the cache, PITCH bytes apart, in its
 *           own type: F32, F16, BF16, Q8_0 or Q4_0.  Queries and sums are
 *           floats.  Blocks are converted in registers: code times scale.
 * Accuracy  floats; a score is VF_LEN sums that are joined at the end, a sum of
 *           values is in the order of the keys.
 */
#include "backends/cpu/kernels/api/divide.h"
#include "backends/cpu/kernels/api/prototypes.h"
#include "backends/cpu/kernels/gemm/panel.h"
#include "backends/cpu/kernels/format/float-types.h"
#include "backends/cpu/simd/q32.h"
#include "backends/cpu/simd/simd.h"
#include "lib/base/attr.h"
#include "lib/type/blocks.h"

/* The register tile of scores has KEYS keys by QUERIES queries, that of values
 * QUERIES queries by WIDTH vectors of a row, which are whole blocks.  Sums of
 * either are 16 of 32 registers with AVX-512, 8 of 16 with AVX2 (values: 8, or
 * 16 of NEON's 32), which leaves enough for the loads. */
#define QUERIES (VF_LEN == 16 ? 4 : 2)
#define KEYS    4
#define WIDTH   (VF_LEN == 4 ? 8 : 4)

_Static_assert(WIDTH * VF_LEN % GB_QK == 0, "whole blocks");

/* How a row of the cache's type is read as floats, a vector at a time. */
struct reader {
    const struct gb_float_type *floats; /* or NULL, and for blocks of 32: */
    /* VF_LEN values from I + R on, I the first of a block. */
    vf (*load)(const void *row, int64_t i, int r);
};

/* Q8_0: 32 signed bytes and a scale in F16. */
GB_INLINE vf
load_q8_0(const void *row, int64_t i, int r)
{
    const struct gb_block_q8_0 *block =
        (const struct gb_block_q8_0 *)row + i / GB_QK;

    return vf_mul(vf_from_i8(block->qs + r), vf_set1(q_half(&block->d)));
}

/* Q4_0: 32 codes minus 8, times a scale in F16; the low nibbles of 16 bytes are
 * the first 16 codes, the high ones the others.  A vector lies within one
 * half. */
GB_INLINE vf
load_q4_0(const void *row, int64_t i, int r)
{
    const struct gb_block_q4_0 *block =
        (const struct gb_block_q4_0 *)row + i / GB_QK;
    const vf codes =
        vf_from_nibbles(block->qs + r % (GB_QK / 2), r >= GB_QK / 2);

    return vf_mul(vf_sub(codes, vf_set1(8.0f)), vf_set1(q_half(&block->d)));
}

static const struct reader f32 = { .floats = &gb_f32 };
static const struct reader f16 = { .floats = &gb_f16 };
static const struct reader bf16 = { .floats = &gb_bf16 };
static const struct reader q8_0 = { .load = load_q8_0 };
static const struct reader q4_0 = { .load = load_q4_0 };

/* VF_LEN values from I + R on, I the first of 32 and R a constant where it
 * matters. */
GB_INLINE vf
load(const struct reader *t, const char *row, int64_t i, int r)
{
    return t->floats != NULL
               ? t->floats->load(row + (size_t)(i + r) * t->floats->bytes)
               : t->load(row, i, r);
}

/* The N values from I on, at most VF_LEN; blocks have no fewer. */
GB_INLINE vf
load_n(const struct reader *t, const char *row, int64_t i, int64_t n)
{
    return t->floats != NULL
               ? t->floats->load_n(row + (size_t)i * t->floats->bytes, n)
               : t->load(row, i / GB_QK * GB_QK, (int)(i % GB_QK));
}

/* Prefetch what is wanted later (gb_decode's fetch) into the L2 cache: the
 * part that belongs to N values of the block's rows after the first DONE of
 * them.  So it comes in the order of memory, spread evenly over the
 * computation.  The hardware prefetcher does not find it: rows of other heads
 * lie between those of one.  FIRST is the first query of the tile: only the
 * first tile of queries fetches, for the others find everything there. */
GB_INLINE void
fetch(const struct gb_decode *a, int64_t first, int64_t done, int64_t n)
{
    const size_t begin = (size_t)done * a->fetch_step / GB_QK;
    const size_t end = (size_t)(done + n) * a->fetch_step / GB_QK;

    if (first > 0)
        return;
    for (size_t i = (begin + 63) / 64 * 64; i < end; i += 64)
        GB_PREFETCH_FAR(a->fetch + i);
}

/* A step of the scores' tile: add the products of one vector, from value I + R
 * on, of KEYS keys and QUERIES queries; at a row's end of the N < VF_LEN values
 * that are left, where R is 0. */
GB_INLINE void
add_step(const struct reader *t, int keys, int queries, const char *rows,
         size_t pitch, float *const *vectors, int64_t i, int r, int64_t n,
         vf sum[KEYS][QUERIES])
{
    vf y[QUERIES];

#pragma GCC unroll 8
    for (int q = 0; q < queries; q++)
        y[q] = n < VF_LEN ? vf_load_n(vectors[q] + i, n)
                          : vf_load(vectors[q] + i + r);
#pragma GCC unroll 8
    for (int k = 0; k < keys; k++) {
        const char *row = rows + (size_t)k * pitch;
        const vf x = n < VF_LEN ? load_n(t, row, i, n) : load(t, row, i, r);

#pragma GCC unroll 8
        for (int q = 0; q < queries; q++)
            sum[k][q] = vf_fma(x, y[q], sum[k][q]);
    }
}

/* The tile of scores: weights[q][j] = key j times query q, for KEYS keys from J
 * on (or one), and QUERIES queries from FIRST on. */
GB_INLINE void
scores_of(const struct reader *t, int keys, int queries,
          const struct gb_decode *a, int64_t first, int64_t j)
{
    const char *rows = a->rows + (size_t)j * a->pitch;
    float *vectors[QUERIES];
    vf sum[KEYS][QUERIES];
    int64_t i = 0;

#pragma GCC unroll 8
    for (int q = 0; q < queries; q++) {
        vectors[q] = a->vectors[first + q];
#pragma GCC unroll 8
        for (int k = 0; k < keys; k++)
            sum[k][q] = vf_zero();
    }
    for (; i + GB_QK <= a->d; i += GB_QK) {
        fetch(a, first, j * a->d + keys * i, keys * GB_QK);
#pragma GCC unroll 8
        for (int r = 0; r < GB_QK; r += VF_LEN)
            add_step(t, keys, queries, rows, a->pitch, vectors, i, r, VF_LEN,
                     sum);
    }
    for (; t->floats != NULL && i < a->d; i += VF_LEN)
        add_step(t, keys, queries, rows, a->pitch, vectors, i, 0,
                 gb_cpu_min(a->d - i, VF_LEN), sum);
#pragma GCC unroll 8
    for (int q = 0; q < queries; q++) {
        float *to = a->weights[first + q] + j;

        if (keys == KEYS)
            vf_sum4(to, sum[0][q], sum[1][q], sum[2][q], sum[3][q]);
        else
            *to = vf_sum(sum[0][q]);
    }
}

/* Scores of all keys of the block with QUERIES queries.  The keys that are left
 * over come one by one. */
GB_INLINE void
scores(const struct reader *t, int queries, const struct gb_decode *a,
       int64_t first)
{
    int64_t j = 0;

    for (; j + KEYS <= a->n; j += KEYS)
        scores_of(t, KEYS, queries, a, first, j);
    for (; j < a->n; j++)
        scores_of(t, 1, queries, a, first, j);
}

/* The tile of values: vectors[q] += weights[q][j] * value j, over all keys of
 * the block, for WIDTH vectors of elements from FROM on.  The sums stay in
 * registers for all keys, and each element of a value is loaded and converted
 * once for QUERIES queries. */
GB_INLINE void
add_wide(const struct reader *t, int queries, const struct gb_decode *a,
         int64_t first, int64_t from)
{
    const char *row = a->rows;
    float *vectors[QUERIES];
    const float *weights[QUERIES];
    vf sum[QUERIES][WIDTH];

#pragma GCC unroll 8
    for (int q = 0; q < queries; q++) {
        vectors[q] = a->vectors[first + q] + from;
        weights[q] = a->weights[first + q];
#pragma GCC unroll 8
        for (int v = 0; v < WIDTH; v++)
            sum[q][v] = vf_load(vectors[q] + v * VF_LEN);
    }
    for (int64_t j = 0; j < a->n; j++, row += a->pitch) {
        vf x[WIDTH];

        fetch(a, first, from * a->n + j * WIDTH * VF_LEN, WIDTH * VF_LEN);
#pragma GCC unroll 8
        for (int v = 0; v < WIDTH; v++)
            x[v] = load(t, row, from + v * VF_LEN / GB_QK * GB_QK,
                        v * VF_LEN % GB_QK);
#pragma GCC unroll 8
        for (int q = 0; q < queries; q++) {
            const vf w = vf_set1(weights[q][j]);

#pragma GCC unroll 8
            for (int v = 0; v < WIDTH; v++)
                sum[q][v] = vf_fma(w, x[v], sum[q][v]);
        }
    }
#pragma GCC unroll 8
    for (int q = 0; q < queries; q++)
#pragma GCC unroll 8
        for (int v = 0; v < WIDTH; v++)
            vf_store(vectors[q] + v * VF_LEN, sum[q][v]);
}

/* The same for the N elements, at most a vector, from FROM on: what is left of
 * rows whose length is no multiple of WIDTH vectors. */
GB_INLINE void
add_narrow(const struct reader *t, int queries, const struct gb_decode *a,
           int64_t first, int64_t from, int64_t n)
{
    const char *row = a->rows;
    vf sum[QUERIES];

#pragma GCC unroll 8
    for (int q = 0; q < queries; q++)
        sum[q] = vf_load_n(a->vectors[first + q] + from, n);
    for (int64_t j = 0; j < a->n; j++, row += a->pitch) {
        const vf x = load_n(t, row, from, n);

        fetch(a, first, from * a->n + j * n, n);
#pragma GCC unroll 8
        for (int q = 0; q < queries; q++)
            sum[q] = vf_fma(vf_set1(a->weights[first + q][j]), x, sum[q]);
    }
#pragma GCC unroll 8
    for (int q = 0; q < queries; q++)
        vf_store_n(a->vectors[first + q] + from, sum[q], n);
}

/* Sums of values of QUERIES queries, all elements. */
GB_INLINE void
values(const struct reader *t, int queries, const struct gb_decode *a,
       int64_t first)
{
    int64_t i = 0;

    for (; i + WIDTH * VF_LEN <= a->d; i += WIDTH * VF_LEN)
        add_wide(t, queries, a, first, i);
    for (; i < a->d; i += VF_LEN)
        add_narrow(t, queries, a, first, i, gb_cpu_min(a->d - i, VF_LEN));
}

/* Scores or values of QUERIES queries from FIRST on. */
typedef void work_fn(const struct reader *t, int queries,
                     const struct gb_decode *a, int64_t first);

/* All queries, QUERIES at a time; each call has a constant number of them. */
GB_INLINE void
all_queries(work_fn *work, const struct reader *t, const struct gb_decode *a)
{
    int64_t first = 0;

    for (; first + QUERIES <= a->n_vectors; first += QUERIES)
        work(t, QUERIES, a, first);
    if (QUERIES > 3 && first + 3 == a->n_vectors)
        work(t, 3, a, first);
    else if (QUERIES > 2 && first + 2 == a->n_vectors)
        work(t, 2, a, first);
    else if (first + 1 == a->n_vectors)
        work(t, 1, a, first);
}

/* Functions of their own, so that the compiler has all registers for each. */
#define KERNELS(name)                                                    \
    static void scores_##name(const struct gb_decode *a)                 \
    {                                                                    \
        all_queries(scores, &name, a);                                   \
    }                                                                    \
    static void values_##name(const struct gb_decode *a)                 \
    {                                                                    \
        all_queries(values, &name, a);                                   \
    }

KERNELS(f32)
KERNELS(f16)
KERNELS(bf16)
KERNELS(q8_0)
KERNELS(q4_0)

static const struct {
    void (*scores)(const struct gb_decode *a);
    void (*values)(const struct gb_decode *a);
} kernels[] = {
    [GGML_TYPE_F32] = { scores_f32, values_f32 },
    [GGML_TYPE_F16] = { scores_f16, values_f16 },
    [GGML_TYPE_BF16] = { scores_bf16, values_bf16 },
    [GGML_TYPE_Q8_0] = { scores_q8_0, values_q8_0 },
    [GGML_TYPE_Q4_0] = { scores_q4_0, values_q4_0 },
};

/* TYPE is one of those of gb_decode_reads(): the operation converts all
 * others. */
void
GB_K(decode_scores)(const struct gb_decode *a)
{
    kernels[a->type].scores(a);
}

void
GB_K(decode_values)(const struct gb_decode *a)
{
    kernels[a->type].values(a);
}
