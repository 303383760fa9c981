/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-conformance/cases-single.c - rows of one element, of operations whose
 * other cases have none: what a transposed vector is made of.
 */
#include "tools/ggmlbackend-conformance/suite.h"

#define NE(...) ((const int64_t[]){ __VA_ARGS__ })

static void
parts(struct suite *s)
{
    struct ggml_tensor *a, *b;

    if (suite_begin(s, GGML_OP_ACC)) {
        a = leaf_4d(s, GGML_TYPE_F32, 1, 8, 4, 2);
        b = leaf_4d(s, GGML_TYPE_F32, 1, 3, 2, 1);
        suite_check(s, ggml_acc(s->ctx, a, b, 4, 32, 128, 8), 1e-7);
    }
    if (suite_begin(s, GGML_OP_SET)) {
        a = leaf_4d(s, GGML_TYPE_F32, 1, 8, 4, 2);
        b = leaf_4d(s, GGML_TYPE_F32, 1, 3, 2, 1);
        suite_check(s, ggml_set(s->ctx, a, b, 4, 32, 128, 8), 0);
    }
    for (int dim = 0; dim < 4; dim++) {
        if (!suite_begin(s, GGML_OP_CONCAT))
            continue;
        a = leaf_4d(s, GGML_TYPE_F32, 1, 5, 3, 2);
        b = leaf_4d(s, GGML_TYPE_F32, 1, 5, 3, 2);
        suite_check(s, ggml_concat(s->ctx, a, b, dim), 0);
    }
    if (suite_begin(s, GGML_OP_PAD_REFLECT_1D)) {
        a = leaf_4d(s, GGML_TYPE_F32, 1, 5, 3, 1);
        suite_check(s, ggml_pad_reflect_1d(s->ctx, a, 0, 0), 0);
    }
}

static void
picked_rows(struct suite *s)
{
    static const enum ggml_type types[] = { GGML_TYPE_F32, GGML_TYPE_F16,
                                            GGML_TYPE_I32 };
    struct ggml_tensor *a, *ids;

    for (int t = 0; t < 3; t++) {
        if (!suite_begin(s, GGML_OP_GET_ROWS))
            continue;
        a = leaf_range(s, types[t], NE(1, 9, 2, 1), -9, 9);
        ids = leaf_filled(s, GGML_TYPE_I32, NE(1, 2, 1, 1), FILL_INTEGERS, 0,
                          9);
        suite_check(s, ggml_get_rows(s->ctx, a, ids), 1e-7);
    }
    if (suite_begin(s, GGML_OP_GET_ROWS_BACK)) {
        a = leaf_4d(s, GGML_TYPE_F32, 1, 6, 1, 1);
        ids = leaf_filled(s, GGML_TYPE_I32, NE(6, 1, 1, 1), FILL_INTEGERS, 0,
                          4);
        suite_check(s,
                    ggml_get_rows_back(
                        s->ctx, a, ids,
                        ggml_new_tensor_2d(s->ctx, GGML_TYPE_F32, 1, 4)),
                    1e-7);
    }
}

static void
windows(struct suite *s)
{
    struct ggml_tensor *a, *b;

    for (int op = 0; op < GGML_OP_POOL_COUNT; op++) {
        const enum ggml_op_pool pool = (enum ggml_op_pool)op;

        if (suite_begin(s, GGML_OP_POOL_1D))
            suite_check(s,
                        ggml_pool_1d(s->ctx,
                                     leaf_4d(s, GGML_TYPE_F32, 1, 3, 2, 1),
                                     pool, 1, 1, 0),
                        1e-7);
        if (suite_begin(s, GGML_OP_POOL_2D))
            suite_check(s,
                        ggml_pool_2d(s->ctx,
                                     leaf_4d(s, GGML_TYPE_F16, 1, 6, 3, 1),
                                     pool, 1, 2, 1, 2, 0, 0),
                        1e-7);
        if (!suite_begin(s, GGML_OP_POOL_2D_BACK))
            continue;
        a = leaf_4d(s, GGML_TYPE_F32, 1, 3, 2, 1);
        b = leaf_4d(s, GGML_TYPE_F32, 1, 6, 2, 1);
        suite_check(
            s, ggml_pool_2d_back(s->ctx, a, b, pool, 1, 2, 1, 2, 0, 0), 1e-7);
    }
    if (suite_begin(s, GGML_OP_IM2COL_BACK)) {
        int64_t image[] = { 1, 6, 2, 1 };

        a = leaf_4d(s, GGML_TYPE_F32, 2 * 1 * 2, 1, 5, 1);
        b = leaf_4d(s, GGML_TYPE_F32, 1, 2, 2, 1);
        suite_check(s,
                    ggml_im2col_back(s->ctx, a, b, image, 1, 1, 0, 0, 1, 1,
                                     true),
                    1e-7);
    }
}

static void
states(struct suite *s)
{
    const int64_t ne[] = { 1, 3, 5, 1 };
    struct ggml_tensor *k, *v, *x, *first, *decay, *state;

    if (suite_begin(s, GGML_OP_SSM_CONV)) {
        x = leaf_4d(s, GGML_TYPE_F32, 1, 7, 2, 1);
        k = leaf_4d(s, GGML_TYPE_F32, 1, 7, 1, 1);
        suite_check(s, ggml_ssm_conv(s->ctx, x, k), 1e-7);
    }
    if (suite_begin(s, GGML_OP_RWKV_WKV6)) {
        k = leaf_range(s, GGML_TYPE_F32, ne, -1, 1);
        v = leaf_range(s, GGML_TYPE_F32, ne, -1, 1);
        x = leaf_range(s, GGML_TYPE_F32, ne, -1, 1);
        first = leaf_4d(s, GGML_TYPE_F32, 1, 3, 1, 1);
        decay = leaf_range(s, GGML_TYPE_F32, ne, 0, 1);
        state = leaf_4d(s, GGML_TYPE_F32, 3, 1, 1, 1);
        suite_check(s, ggml_rwkv_wkv6(s->ctx, k, v, x, first, decay, state),
                    1e-7);
    }
    if (suite_begin(s, GGML_OP_GATED_LINEAR_ATTN)) {
        k = leaf_range(s, GGML_TYPE_F32, ne, -1, 1);
        v = leaf_range(s, GGML_TYPE_F32, ne, -1, 1);
        x = leaf_range(s, GGML_TYPE_F32, ne, -1, 1);
        decay = leaf_range(s, GGML_TYPE_F32, ne, 0, 1);
        state = leaf_4d(s, GGML_TYPE_F32, 3, 1, 1, 1);
        suite_check(
            s, ggml_gated_linear_attn(s->ctx, k, v, x, decay, state, 0.5f),
            1e-7);
    }
}

void
cases_single(struct suite *s)
{
    parts(s);
    picked_rows(s);
    windows(s);
    states(s);
}
