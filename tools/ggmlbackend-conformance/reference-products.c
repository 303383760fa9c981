/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-conformance/reference-products.c - products of matrices.
 */
#include "tools/ggmlbackend-conformance/reference.h"

/* OUT's value at TO is one term larger. */
static void
add_term(struct values *out, double *to, double term)
{
    *to += term;
    out->terms += term * term;
}

static void
mul_mat(const struct ggml_tensor *node, const struct values *src,
        struct values *out)
{
    const struct values *a = &src[0], *b = &src[1];

    (void)node;
    for (int64_t q = 0; q < out->ne[3]; q++)
        for (int64_t p = 0; p < out->ne[2]; p++)
            for (int64_t n = 0; n < out->ne[1]; n++)
                for (int64_t m = 0; m < out->ne[0]; m++) {
                    const double *x = at(a, 0, m, p / (b->ne[2] / a->ne[2]),
                                         q / (b->ne[3] / a->ne[3]));
                    const double *y = at(b, 0, n, p, q);

                    for (int64_t k = 0; k < a->ne[0]; k++)
                        add_term(out, at(out, m, n, p, q), x[k] * y[k]);
                }
}

static void
mul_mat_id(const struct ggml_tensor *node, const struct values *src,
           struct values *out)
{
    const struct values *a = &src[0], *b = &src[1], *ids = &src[2];

    (void)node;
    for (int64_t y = 0; y < out->ne[2]; y++)
        for (int64_t x = 0; x < out->ne[1]; x++) {
            const int64_t expert = (int64_t)*at(ids, x, y, 0, 0);

            for (int64_t m = 0; m < out->ne[0]; m++)
                for (int64_t k = 0; k < a->ne[0]; k++)
                    add_term(out, at(out, m, x, y, 0),
                             *at(a, k, m, expert, 0) *
                                 *at(b, k, x % b->ne[1], y, 0));
        }
}

static void
out_prod(const struct ggml_tensor *node, const struct values *src,
         struct values *out)
{
    const struct values *a = &src[0], *b = &src[1];

    (void)node;
    for (int64_t q = 0; q < out->ne[3]; q++)
        for (int64_t p = 0; p < out->ne[2]; p++)
            for (int64_t j = 0; j < out->ne[1]; j++)
                for (int64_t i = 0; i < out->ne[0]; i++)
                    for (int64_t k = 0; k < a->ne[1]; k++)
                        add_term(out, at(out, i, j, p, q),
                                 *at(a, i, k, p / (b->ne[2] / a->ne[2]),
                                     q / (b->ne[3] / a->ne[3])) *
                                     *at(b, j, k, p, q));
}

const struct reference_row reference_products[] = {
    { GGML_OP_MUL_MAT, mul_mat, NULL },
    { GGML_OP_MUL_MAT_ID, mul_mat_id, NULL },
    { GGML_OP_OUT_PROD, out_prod, NULL },
    { GGML_OP_NONE, NULL, NULL },
};
