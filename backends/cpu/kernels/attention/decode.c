/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/attention/decode.c - a few queries that look at the same keys.
 *
 * Rows of keys and values are read once for up to FEW queries, and converted
 * while they are.
 */
#include "backends/cpu/kernels/api/divide.h"
#include "backends/cpu/kernels/api/prototypes.h"
#include "backends/cpu/kernels/gemm/panel.h"
#include "backends/cpu/kernels/format/float-types.h"
#include "backends/cpu/simd/q32.h"
#include "backends/cpu/simd/simd.h"
#include "lib/base/attr.h"
#include "lib/type/blocks.h"

/* Queries that meet KEYS keys, whose sums are in registers, and vectors of a
 * row of values likewise: whole blocks. */
#define FEW   (VF_LEN == 16 ? 4 : 2)
#define KEYS  4
#define WIDTH (VF_LEN == 4 ? 8 : 4)

_Static_assert(WIDTH * VF_LEN % GB_QK == 0, "whole blocks");

/* How a row is read: VF_LEN values from I + R on, I the first of 32 and R a
 * constant where it matters, or the N first of them. */
struct reader {
    vf (*load)(const void *row, int64_t i, int r);
    vf (*load_n)(const void *row, int64_t i, int64_t n); /* NULL for blocks */
};

#define FLOATS(type)                                                  \
    GB_INLINE vf load_##type(const void *row, int64_t i, int r)       \
    {                                                                 \
        return gb_##type.load((const char *)row +                     \
                              (size_t)(i + r) * gb_##type.bytes);     \
    }                                                                 \
                                                                      \
    GB_INLINE vf load_##type##_n(const void *row, int64_t i,          \
                                 int64_t n)                           \
    {                                                                 \
        return gb_##type.load_n(                                      \
            (const char *)row + (size_t)i * gb_##type.bytes, n);      \
    }

FLOATS(f32)
FLOATS(f16)
FLOATS(bf16)

GB_INLINE vf
load_q8_0(const void *row, int64_t i, int r)
{
    const struct gb_block_q8_0 *block =
        (const struct gb_block_q8_0 *)row + i / GB_QK;

    return vf_mul(vf_from_i8(block->qs + r), vf_set1(q_half(&block->d)));
}

GB_INLINE vf
load_q4_0(const void *row, int64_t i, int r)
{
    const struct gb_block_q4_0 *block =
        (const struct gb_block_q4_0 *)row + i / GB_QK;
    const vf codes =
        vf_from_nibbles(block->qs + r % (GB_QK / 2), r >= GB_QK / 2);

    return vf_mul(vf_sub(codes, vf_set1(8.0f)), vf_set1(q_half(&block->d)));
}

static const struct reader f32 = { load_f32, load_f32_n };
static const struct reader f16 = { load_f16, load_f16_n };
static const struct reader bf16 = { load_bf16, load_bf16_n };
static const struct reader q8_0 = { load_q8_0, NULL };
static const struct reader q4_0 = { load_q4_0, NULL };

/* What is wanted later comes into the second cache in the order of memory, a
 * bit with each step, N values behind the DONE first: the machine does not
 * foresee what comes behind some rows, between which those of other heads lie.
 * Further queries find it there. */
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

/* Add the products of N < VF_LEN values, or else of a vector, of some keys and
 * queries, from I + R on. */
GB_INLINE void
add_step(const struct reader *t, int keys, int queries, const char *rows,
         size_t pitch, float *const *vectors, int64_t i, int r, int64_t n,
         vf sum[KEYS][FEW])
{
    vf y[FEW];

#pragma GCC unroll 8
    for (int q = 0; q < queries; q++)
        y[q] = n < VF_LEN ? vf_load_n(vectors[q] + i, n)
                          : vf_load(vectors[q] + i + r);
#pragma GCC unroll 8
    for (int k = 0; k < keys; k++) {
        const char *row = rows + (size_t)k * pitch;
        const vf x = n < VF_LEN ? t->load_n(row, i, n) : t->load(row, i, r);

#pragma GCC unroll 8
        for (int q = 0; q < queries; q++)
            sum[k][q] = vf_fma(x, y[q], sum[k][q]);
    }
}

/* weights[q][j] = key j times query q, for KEYS of them or one from J on, and
 * QUERIES from FIRST on. */
GB_INLINE void
dots_of(const struct reader *t, int keys, int queries,
        const struct gb_decode *a, int64_t first, int64_t j)
{
    const char *rows = a->rows + (size_t)j * a->pitch;
    float *vectors[FEW];
    vf sum[KEYS][FEW];
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
    for (; t->load_n != NULL && i < a->d; i += VF_LEN)
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

GB_INLINE void
dots(const struct reader *t, int queries, const struct gb_decode *a,
     int64_t first)
{
    int64_t j = 0;

    for (; j + KEYS <= a->n; j += KEYS)
        dots_of(t, KEYS, queries, a, first, j);
    for (; j < a->n; j++)
        dots_of(t, 1, queries, a, first, j);
}

/* vectors[q] += weights[q][j] * value j, WIDTH vectors from element FROM on. */
GB_INLINE void
add_wide(const struct reader *t, int queries, const struct gb_decode *a,
         int64_t first, int64_t from)
{
    const char *row = a->rows;
    float *vectors[FEW];
    const float *weights[FEW];
    vf sum[FEW][WIDTH];

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
            x[v] = t->load(row, from + v * VF_LEN / GB_QK * GB_QK,
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

/* The same for the N elements, at most a vector, from FROM on. */
GB_INLINE void
add_narrow(const struct reader *t, int queries, const struct gb_decode *a,
           int64_t first, int64_t from, int64_t n)
{
    const char *row = a->rows;
    vf sum[FEW];

#pragma GCC unroll 8
    for (int q = 0; q < queries; q++)
        sum[q] = vf_load_n(a->vectors[first + q] + from, n);
    for (int64_t j = 0; j < a->n; j++, row += a->pitch) {
        const vf x = t->load_n != NULL
                         ? t->load_n(row, from, n)
                         : t->load(row, from / GB_QK * GB_QK,
                                   (int)(from % GB_QK));

        fetch(a, first, from * a->n + j * n, n);
#pragma GCC unroll 8
        for (int q = 0; q < queries; q++)
            sum[q] = vf_fma(vf_set1(a->weights[first + q][j]), x, sum[q]);
    }
#pragma GCC unroll 8
    for (int q = 0; q < queries; q++)
        vf_store_n(a->vectors[first + q] + from, sum[q], n);
}

GB_INLINE void
sums(const struct reader *t, int queries, const struct gb_decode *a,
     int64_t first)
{
    int64_t i = 0;

    for (; i + WIDTH * VF_LEN <= a->d; i += WIDTH * VF_LEN)
        add_wide(t, queries, a, first, i);
    for (; i < a->d; i += VF_LEN)
        add_narrow(t, queries, a, first, i, gb_cpu_min(a->d - i, VF_LEN));
}

/* All queries, FEW at a time. */
#define BY_QUERIES(work, type)                                        \
    static void work##_##type(const struct gb_decode *a)          \
    {                                                                 \
        int64_t first = 0;                                            \
                                                                      \
        for (; first + FEW <= a->n_vectors; first += FEW)             \
            work(&type, FEW, a, first);                               \
        if (first + 3 == a->n_vectors)                                \
            work(&type, FEW < 3 ? FEW : 3, a, first);                 \
        else if (first + 2 == a->n_vectors)                           \
            work(&type, FEW < 2 ? FEW : 2, a, first);                 \
        else if (first + 1 == a->n_vectors)                           \
            work(&type, 1, a, first);                                 \
    }

#define BOTH(type)          \
    BY_QUERIES(dots, type)  \
    BY_QUERIES(sums, type)

BOTH(f32)
BOTH(f16)
BOTH(bf16)
BOTH(q8_0)
BOTH(q4_0)

static const struct {
    void (*dots)(const struct gb_decode *a);
    void (*sums)(const struct gb_decode *a);
} ways[] = {
    [GGML_TYPE_F32] = { dots_f32, sums_f32 },
    [GGML_TYPE_F16] = { dots_f16, sums_f16 },
    [GGML_TYPE_BF16] = { dots_bf16, sums_bf16 },
    [GGML_TYPE_Q8_0] = { dots_q8_0, sums_q8_0 },
    [GGML_TYPE_Q4_0] = { dots_q4_0, sums_q4_0 },
};

void
GB_K(decode_scores)(const struct gb_decode *a)
{
    ways[a->type].dots(a);
}

void
GB_K(decode_values)(const struct gb_decode *a)
{
    ways[a->type].sums(a);
}
