/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-conformance/reference-layout.c - values that are moved, repeated, added
 * up, compared or sorted.
 */
#include "tools/ggmlbackend-conformance/reference.h"

#include <float.h>
#include <math.h>

/* Index order to index order; the type is changed by reading the result. */
static void
copy(const struct ggml_tensor *node, const struct values *src,
     struct values *out)
{
    (void)node;
    for (int64_t i = 0; i < values_count(out); i++)
        out->v[i] = src[0].v[i];
}

static void
sum(const struct ggml_tensor *node, const struct values *src, struct values *out)
{
    (void)node;
    for (int64_t i = 0; i < values_count(&src[0]); i++)
        out->v[0] += src[0].v[i];
}

static void
sum_rows(const struct ggml_tensor *node, const struct values *src,
         struct values *out)
{
    const int64_t n = src[0].ne[0];
    const double divisor = node->op == GGML_OP_MEAN ? (double)n : 1;

    for (int64_t row = 0; row < values_count(out); row++) {
        for (int64_t i = 0; i < n; i++)
            out->v[row] += src[0].v[row * n + i];
        out->v[row] /= divisor;
    }
}

static void
argmax(const struct ggml_tensor *node, const struct values *src,
       struct values *out)
{
    const int64_t n = src[0].ne[0];

    (void)node;
    for (int64_t row = 0; row < values_count(out); row++) {
        int64_t best = 0;

        for (int64_t i = 0; i < n; i++) {
            if (src[0].v[row * n + i] >= src[0].v[row * n + best])
                best = i;
        }
        out->v[row] = (double)best;
    }
}

static void
count_equal(const struct ggml_tensor *node, const struct values *src,
            struct values *out)
{
    (void)node;
    for (int64_t i = 0; i < values_count(&src[0]); i++)
        out->v[0] += src[0].v[i] == src[1].v[i];
}

static void
repeat(const struct ggml_tensor *node, const struct values *src,
       struct values *out)
{
    const struct values *a = &src[0];

    (void)node;
    for (struct index i = index_first(); index_inside(out, &i);
         index_next(out, &i))
        *at(out, i.i0, i.i1, i.i2, i.i3) = *at(a, i.i0 % a->ne[0], i.i1 % a->ne[1],
                                       i.i2 % a->ne[2], i.i3 % a->ne[3]);
}

static void
repeat_back(const struct ggml_tensor *node, const struct values *src,
            struct values *out)
{
    (void)node;
    for (struct index i = index_first(); index_inside(&src[0], &i);
         index_next(&src[0], &i))
        *at(out, i.i0 % out->ne[0], i.i1 % out->ne[1], i.i2 % out->ne[2],
            i.i3 % out->ne[3]) += *at(&src[0], i.i0, i.i1, i.i2, i.i3);
}

static void
concat(const struct ggml_tensor *node, const struct values *src,
       struct values *out)
{
    const int dim = param_i(node, 0);
    const int64_t first = src[0].ne[dim];

    for (struct index i = index_first(); index_inside(out, &i);
         index_next(out, &i)) {
        int64_t ix[4] = { i.i0, i.i1, i.i2, i.i3 };
        const struct values *from = &src[0];

        if (ix[dim] >= first) {
            ix[dim] -= first;
            from = &src[1];
        }
        *at(out, i.i0, i.i1, i.i2, i.i3) = *at(from, ix[0], ix[1], ix[2], ix[3]);
    }
}

static void
get_rows(const struct ggml_tensor *node, const struct values *src,
         struct values *out)
{
    (void)node;
    for (struct index i = index_first(); index_inside(out, &i);
         index_next(out, &i))
        *at(out, i.i0, i.i1, i.i2, i.i3) =
            *at(&src[0], i.i0, (int64_t)*at(&src[1], i.i1, i.i2, i.i3, 0), i.i2, i.i3);
}

static void
get_rows_back(const struct ggml_tensor *node, const struct values *src,
              struct values *out)
{
    (void)node;
    for (int64_t i = 0; i < src[1].ne[0]; i++)
        for (int64_t j = 0; j < src[0].ne[0]; j++)
            *at(out, j, (int64_t)src[1].v[i], 0, 0) +=
                *at(&src[0], j, i, 0, 0);
}

static void
diag(const struct ggml_tensor *node, const struct values *src,
     struct values *out)
{
    (void)node;
    for (struct index i = index_first(); index_inside(out, &i);
         index_next(out, &i))
        *at(out, i.i0, i.i1, i.i2, i.i3) =
            i.i0 == i.i1 ? *at(&src[0], i.i0, 0, i.i2, i.i3) : 0;
}

static void
diag_mask(const struct ggml_tensor *node, const struct values *src,
          struct values *out)
{
    const double hidden = node->op == GGML_OP_DIAG_MASK_INF ? -INFINITY : 0;

    for (struct index i = index_first(); index_inside(out, &i);
         index_next(out, &i))
        *at(out, i.i0, i.i1, i.i2, i.i3) = i.i0 > param_i(node, 0) + i.i1
                                       ? hidden
                                       : *at(&src[0], i.i0, i.i1, i.i2, i.i3);
}

/* The nearest source element, its index by a quotient in single precision. */
static int64_t
scaled(int64_t i, int64_t n_out, int64_t n_in)
{
    const float factor = (float)n_out / (float)n_in;

    return (int64_t)((float)i / factor);
}

static void
upscale(const struct ggml_tensor *node, const struct values *src,
        struct values *out)
{
    const struct values *a = &src[0];

    (void)node;
    for (struct index i = index_first(); index_inside(out, &i);
         index_next(out, &i))
        *at(out, i.i0, i.i1, i.i2, i.i3) = *at(a, scaled(i.i0, out->ne[0], a->ne[0]),
                                       scaled(i.i1, out->ne[1], a->ne[1]),
                                       scaled(i.i2, out->ne[2], a->ne[2]),
                                       scaled(i.i3, out->ne[3], a->ne[3]));
}

static void
pad(const struct ggml_tensor *node, const struct values *src, struct values *out)
{
    (void)node;
    for (struct index i = index_first(); index_inside(&src[0], &i);
         index_next(&src[0], &i))
        *at(out, i.i0, i.i1, i.i2, i.i3) = *at(&src[0], i.i0, i.i1, i.i2, i.i3);
}

static void
pad_reflect(const struct ggml_tensor *node, const struct values *src,
            struct values *out)
{
    const int64_t left = param_i(node, 0), n = src[0].ne[0];

    for (struct index i = index_first(); index_inside(out, &i);
         index_next(out, &i)) {
        int64_t x = i.i0 - left;

        if (x < 0)
            x = -x;
        if (x >= n)
            x = 2 * (n - 1) - x;
        *at(out, i.i0, i.i1, i.i2, i.i3) = *at(&src[0], x, i.i1, i.i2, i.i3);
    }
}

static void
arange(const struct ggml_tensor *node, const struct values *src,
       struct values *out)
{
    (void)src;
    for (int64_t i = 0; i < out->ne[0]; i++)
        out->v[i] = param_f(node, 0) + param_f(node, 2) * (double)i;
}

static void
timestep_embedding(const struct ggml_tensor *node, const struct values *src,
                   struct values *out)
{
    const int64_t half = param_i(node, 0) / 2;

    for (int64_t j = 0; j < src[0].ne[0]; j++)
        for (int64_t i = 0; i < half; i++) {
            const double angle =
                src[0].v[j] * exp(-log((double)param_i(node, 1)) * (double)i /
                                  (double)half);

            *at(out, i, j, 0, 0) = cos(angle);
            *at(out, half + i, j, 0, 0) = sin(angle);
        }
}

/* The rank of each value is where its index goes; the values are distinct. */
static void
argsort(const struct ggml_tensor *node, const struct values *src,
        struct values *out)
{
    const int64_t n = out->ne[0];
    const double up = param_i(node, 0) == GGML_SORT_ORDER_ASC ? 1 : -1;

    for (int64_t row = 0; n > 0 && row < values_count(out) / n; row++) {
        const double *x = &src[0].v[row * n];

        for (int64_t i = 0; i < n; i++) {
            int64_t rank = 0;

            for (int64_t j = 0; j < n; j++)
                rank += up * x[j] < up * x[i];
            out->v[row * n + rank] = (double)i;
        }
    }
}

const struct reference_row reference_layout[] = {
    { GGML_OP_DUP, copy, NULL },
    { GGML_OP_CPY, copy, NULL },
    { GGML_OP_CONT, copy, NULL },
    { GGML_OP_RESHAPE, copy, NULL },
    { GGML_OP_VIEW, copy, NULL },
    { GGML_OP_SUM, sum, NULL },
    { GGML_OP_SUM_ROWS, sum_rows, NULL },
    { GGML_OP_MEAN, sum_rows, NULL },
    { GGML_OP_ARGMAX, argmax, NULL },
    { GGML_OP_COUNT_EQUAL, count_equal, NULL },
    { GGML_OP_REPEAT, repeat, NULL },
    { GGML_OP_REPEAT_BACK, repeat_back, NULL },
    { GGML_OP_CONCAT, concat, NULL },
    { GGML_OP_GET_ROWS, get_rows, NULL },
    { GGML_OP_GET_ROWS_BACK, get_rows_back, NULL },
    { GGML_OP_DIAG, diag, NULL },
    { GGML_OP_DIAG_MASK_INF, diag_mask, NULL },
    { GGML_OP_DIAG_MASK_ZERO, diag_mask, NULL },
    { GGML_OP_UPSCALE, upscale, NULL },
    { GGML_OP_PAD, pad, NULL },
    { GGML_OP_PAD_REFLECT_1D, pad_reflect, NULL },
    { GGML_OP_ARANGE, arange, NULL },
    { GGML_OP_TIMESTEP_EMBEDDING, timestep_embedding, NULL },
    { GGML_OP_ARGSORT, argsort, NULL },
    { GGML_OP_NONE, NULL, NULL },
};
