/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/attend-few.c - a few queries that look at the same keys.
 *
 * Rows of keys and values are read once for up to FEW queries, and converted
 * while they are.
 */
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/real.h"
#include "backends/cpu/simd/simd.h"
#include "lib/base/attr.h"

/* Queries, and vectors of a row of values, whose sums are in registers. */
#define FEW   (VF_LEN == 16 ? 4 : 2)
#define WIDTH 4

/* What lies ahead of a row of BYTES is fetched: rows of other heads are in
 * between, which the machine does not foresee. */
GB_INLINE void
fetch(const char *row, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 64)
        GB_PREFETCH(row + i);
}

/* dst[q][j] = key j times query q, for QUERIES of them from FIRST on. */
GB_INLINE void
dots(const struct gb_real *t, int queries, const struct gb_attend_few *a,
     int64_t first)
{
    const char *row = a->rows;

    for (int64_t j = 0; j < a->n; j++, row += a->pitch) {
        vf sum[FEW];
        int64_t i = 0;

#pragma GCC unroll 8
        for (int q = 0; q < queries; q++)
            sum[q] = vf_zero();
        fetch(row + a->ahead, (size_t)a->d * t->bytes);
        for (; i + VF_LEN <= a->d; i += VF_LEN) {
            const vf x = t->load(row + (size_t)i * t->bytes);

#pragma GCC unroll 8
            for (int q = 0; q < queries; q++)
                sum[q] = vf_fma(x, vf_load(a->vectors[first + q] + i), sum[q]);
        }
        if (i < a->d) {
            const int64_t rest = a->d - i;
            const vf x = t->load_n(row + (size_t)i * t->bytes, rest);

#pragma GCC unroll 8
            for (int q = 0; q < queries; q++)
                sum[q] = vf_fma(
                    x, vf_load_n(a->vectors[first + q] + i, rest), sum[q]);
        }
#pragma GCC unroll 8
        for (int q = 0; q < queries; q++)
            a->weights[first + q][j] = vf_sum(sum[q]);
    }
}

/* vectors[q] += weights[q][j] * value j, WIDTH vectors from element FROM on. */
GB_INLINE void
add_wide(const struct gb_real *t, int queries, const struct gb_attend_few *a,
         int64_t first, int64_t from)
{
    const char *row = a->rows + (size_t)from * t->bytes;
    vf sum[FEW][WIDTH];

#pragma GCC unroll 8
    for (int q = 0; q < queries; q++)
#pragma GCC unroll 8
        for (int v = 0; v < WIDTH; v++)
            sum[q][v] = vf_load(a->vectors[first + q] + from + v * VF_LEN);
    for (int64_t j = 0; j < a->n; j++, row += a->pitch) {
        vf x[WIDTH];

        fetch(row + a->ahead, WIDTH * VF_LEN * t->bytes);
#pragma GCC unroll 8
        for (int v = 0; v < WIDTH; v++)
            x[v] = t->load(row + (size_t)(v * VF_LEN) * t->bytes);
#pragma GCC unroll 8
        for (int q = 0; q < queries; q++) {
            const vf w = vf_set1(a->weights[first + q][j]);

#pragma GCC unroll 8
            for (int v = 0; v < WIDTH; v++)
                sum[q][v] = vf_fma(w, x[v], sum[q][v]);
        }
    }
#pragma GCC unroll 8
    for (int q = 0; q < queries; q++)
#pragma GCC unroll 8
        for (int v = 0; v < WIDTH; v++)
            vf_store(a->vectors[first + q] + from + v * VF_LEN, sum[q][v]);
}

/* The same for the N elements, at most a vector, from FROM on. */
GB_INLINE void
add_narrow(const struct gb_real *t, int queries, const struct gb_attend_few *a,
           int64_t first, int64_t from, int64_t n)
{
    const char *row = a->rows + (size_t)from * t->bytes;
    vf sum[FEW];

#pragma GCC unroll 8
    for (int q = 0; q < queries; q++)
        sum[q] = vf_load_n(a->vectors[first + q] + from, n);
    for (int64_t j = 0; j < a->n; j++, row += a->pitch) {
        const vf x = t->load_n(row, n);

#pragma GCC unroll 8
        for (int q = 0; q < queries; q++)
            sum[q] = vf_fma(vf_set1(a->weights[first + q][j]), x, sum[q]);
    }
#pragma GCC unroll 8
    for (int q = 0; q < queries; q++)
        vf_store_n(a->vectors[first + q] + from, sum[q], n);
}

GB_INLINE void
add(const struct gb_real *t, int queries, const struct gb_attend_few *a,
    int64_t first)
{
    int64_t i = 0;

    for (; i + WIDTH * VF_LEN <= a->d; i += WIDTH * VF_LEN)
        add_wide(t, queries, a, first, i);
    for (; i < a->d; i += VF_LEN)
        add_narrow(t, queries, a, first, i,
                   a->d - i < VF_LEN ? a->d - i : VF_LEN);
}

/* All queries, FEW at a time. */
#define BY_QUERIES(work, t, a)                                        \
    do {                                                              \
        int64_t first = 0;                                            \
                                                                      \
        for (; first + FEW <= (a)->n_vectors; first += FEW)           \
            work(t, FEW, a, first);                                   \
        if (first + 3 == (a)->n_vectors)                              \
            work(t, FEW < 3 ? FEW : 3, a, first);                     \
        else if (first + 2 == (a)->n_vectors)                         \
            work(t, FEW < 2 ? FEW : 2, a, first);                     \
        else if (first + 1 == (a)->n_vectors)                         \
            work(t, 1, a, first);                                     \
    } while (0)

void
GB_K(attend_few_dots)(const struct gb_attend_few *a)
{
    if (a->type == GGML_TYPE_F16)
        BY_QUERIES(dots, &gb_f16, a);
    else if (a->type == GGML_TYPE_BF16)
        BY_QUERIES(dots, &gb_bf16, a);
    else
        BY_QUERIES(dots, &gb_f32, a);
}

void
GB_K(attend_few_sums)(const struct gb_attend_few *a)
{
    if (a->type == GGML_TYPE_F16)
        BY_QUERIES(add, &gb_f16, a);
    else if (a->type == GGML_TYPE_BF16)
        BY_QUERIES(add, &gb_bf16, a);
    else
        BY_QUERIES(add, &gb_f32, a);
}
