/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-conformance/cases-images.c - convolution and pooling.
 */
#include "tools/ggmlbackend-conformance/suite.h"

#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define NE(...)       ((const int64_t[]){ __VA_ARGS__ })

/* Stride, padding, dilation along one dimension. */
static const int steps[][3] = {
    { 1, 0, 1 }, { 1, 1, 1 }, { 2, 0, 1 }, { 2, 1, 1 }, { 1, 1, 2 }, { 3, 2, 2 },
};

static void
columns(struct suite *s)
{
    static const enum ggml_type types[][2] = {
        { GGML_TYPE_F32, GGML_TYPE_F32 },
        { GGML_TYPE_F16, GGML_TYPE_F16 },
        { GGML_TYPE_F16, GGML_TYPE_F32 },
    };

    for (int t = 0; t < LENGTH(types); t++)
        for (int i = 0; i < LENGTH(steps); i++)
            for (int j = 0; j < LENGTH(steps); j++) {
                const int *x = steps[i], *y = steps[j];

                if (suite_begin(s, GGML_OP_IM2COL))
                    suite_check(
                        s,
                        ggml_im2col(s->ctx,
                                    leaf_4d(s, types[t][0], 3, 2, 3, 4),
                                    leaf_4d(s, GGML_TYPE_F32, 12, 10, 3, 2),
                                    x[0], y[0], x[1], y[1], x[2], y[2], true,
                                    types[t][1]),
                        limit_of_type(types[t][1]));
                if (t == 0 && suite_begin(s, GGML_OP_IM2COL_BACK)) {
                    int64_t image[] = { 12, 10, 3, 2 };
                    struct ggml_tensor *kernel =
                        leaf_4d(s, GGML_TYPE_F32, 3, 2, 3, 4);
                    const struct ggml_tensor *shape = ggml_im2col(
                        s->ctx, kernel,
                        ggml_new_tensor(s->ctx, GGML_TYPE_F32, 4, image), x[0],
                        y[0], x[1], y[1], x[2], y[2], true, GGML_TYPE_F32);

                    suite_check(s,
                                ggml_im2col_back(
                                    s->ctx,
                                    leaf_range(s, GGML_TYPE_F32, shape->ne, 0,
                                               1),
                                    kernel, image, x[0], y[0], x[1], y[1], x[2],
                                    y[2], true),
                                1e-7);
                }
            }
    for (int t = 0; t < LENGTH(types); t++)
        for (int i = 0; i < LENGTH(steps); i++)
            for (int64_t k = 1; k <= 5; k += 2) {
                const int *x = steps[i];

                if (suite_begin(s, GGML_OP_IM2COL))
                    suite_check(
                        s,
                        ggml_im2col(s->ctx,
                                    leaf_4d(s, types[t][0], k, 6, 4, 1),
                                    leaf_4d(s, GGML_TYPE_F32, 33, 6, 3, 1),
                                    x[0], 0, x[1], 0, x[2], 0, false,
                                    types[t][1]),
                        limit_of_type(types[t][1]));
            }
}

static void
transposed(struct suite *s)
{
    for (int t = 0; t < 2; t++)
        for (int stride = 1; stride <= 3; stride++)
            for (int64_t k = 1; k <= 6; k += 2) {
                const enum ggml_type type =
                    t == 0 ? GGML_TYPE_F32 : GGML_TYPE_F16;

                for (int64_t cin = 1; cin <= 33; cin += 16) {
                    if (suite_begin(s, GGML_OP_CONV_TRANSPOSE_1D))
                        suite_check(
                            s,
                            ggml_conv_transpose_1d(
                                s->ctx, leaf_4d(s, type, k, 5, cin, 1),
                                leaf_4d(s, GGML_TYPE_F32, 13, cin, 1, 1),
                                stride, 0, 1),
                            limit_of_type(type));
                }
                for (int64_t n = 1; n <= 2 && t == 1; n++) {
                    if (suite_begin(s, GGML_OP_CONV_TRANSPOSE_2D))
                        suite_check(
                            s,
                            ggml_conv_transpose_2d_p0(
                                s->ctx, leaf_4d(s, type, k, 3, 4, 7),
                                leaf_4d(s, GGML_TYPE_F32, 9, 5, 7, n), stride),
                            1e-6);
                }
            }
}

static void
pools(struct suite *s)
{
    static const enum ggml_type types[] = { GGML_TYPE_F32, GGML_TYPE_F16 };

    for (int t = 0; t < 2; t++)
        for (int op = 0; op < GGML_OP_POOL_COUNT; op++) {
            const enum ggml_op_pool pool = (enum ggml_op_pool)op;

            for (int k = 1; k <= 4; k++) {
                if (suite_begin(s, GGML_OP_POOL_1D))
                    suite_check(s,
                                ggml_pool_1d(s->ctx,
                                             leaf_4d(s, types[t], 29, 3, 2, 2),
                                             pool, k, k, 0),
                                1e-7);
                for (int k1 = 1; k1 <= 3; k1++)
                    for (int stride = 1; stride <= 2; stride++)
                        for (int p = 0; p < 2; p++) {
                            struct ggml_tensor *node;

                            if (suite_begin(s, GGML_OP_POOL_2D)) {
                                node = ggml_pool_2d(
                                    s->ctx, leaf_4d(s, types[t], 11, 9, 3, 2),
                                    pool, k, k1, stride, stride, (float)p,
                                    (float)p);
                                suite_check(s, node, 1e-7);
                            }
                            if (t == 0 &&
                                suite_begin(s, GGML_OP_POOL_2D_BACK)) {
                                struct ggml_tensor *x =
                                    leaf_4d(s, GGML_TYPE_F32, 11, 9, 3, 2);
                                const struct ggml_tensor *y = ggml_pool_2d(
                                    s->ctx, x, pool, k, k1, stride, stride,
                                    (float)p, (float)p);

                                suite_check(
                                    s,
                                    ggml_pool_2d_back(
                                        s->ctx,
                                        leaf_range(s, GGML_TYPE_F32, y->ne, 0,
                                                   1),
                                        x, pool, k, k1, stride, stride,
                                        (float)p, (float)p),
                                    1e-7);
                            }
                        }
            }
        }
}

void
cases_images(struct suite *s)
{
    columns(s);
    transposed(s);
    pools(s);
}
