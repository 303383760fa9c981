/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-conformance/cases-layout.c - reductions, comparison, repetition, sorting,
 * rows by index.
 */
#include "tools/ggmlbackend-conformance/suite.h"

#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define NE(...)       ((const int64_t[]){ __VA_ARGS__ })

static const int64_t shapes[][4] = {
    { 1, 1, 1, 1 },  { 7, 1, 1, 1 },   { 32, 5, 4, 3 }, { 33, 3, 2, 2 },
    { 64, 1, 3, 1 }, { 513, 2, 1, 1 }, { 10, 0, 2, 1 }, { 5, 7, 11, 13 },
    { 1000, 4, 1, 2 },
};

/* T with its dimensions in another order, its rows whole. */
static struct ggml_tensor *
reordered(struct suite *s, struct ggml_tensor *t)
{
    return ggml_permute(s->ctx, t, 0, 2, 3, 1);
}

static void
reductions(struct suite *s)
{
    static const enum ggml_type types[] = { GGML_TYPE_F32, GGML_TYPE_F16,
                                            GGML_TYPE_BF16 };

    for (int j = 0; j < LENGTH(shapes); j++)
        for (int strided = 0; strided < 2; strided++) {
            for (int t = 0; t < 3; t++) {
                struct ggml_tensor *a;

                if (!suite_begin(s, GGML_OP_SUM))
                    continue;
                /* Away from zero, where a sum's relative error has no bound. */
                a = leaf_range(s, types[t], shapes[j], 0.5, 1);
                suite_check(s, ggml_sum(s->ctx, strided ? reordered(s, a) : a),
                            limit_of_type(types[t]));
            }
            if (suite_begin(s, GGML_OP_SUM_ROWS)) {
                struct ggml_tensor *a =
                    leaf_range(s, GGML_TYPE_F32, shapes[j], -1, 1);

                suite_check(s,
                            ggml_sum_rows(s->ctx, strided ? reordered(s, a) : a),
                            1e-7);
            }
            if (suite_begin(s, GGML_OP_MEAN)) {
                struct ggml_tensor *a =
                    leaf_range(s, GGML_TYPE_F32, shapes[j], -1, 1);

                suite_check(s, ggml_mean(s->ctx, strided ? reordered(s, a) : a),
                            1e-7);
            }
            for (int order = 0; order < 2; order++) {
                struct ggml_tensor *a;

                if (!suite_begin(s, GGML_OP_ARGSORT))
                    continue;
                a = leaf_filled(s, GGML_TYPE_F32, shapes[j], FILL_DISTINCT, 0,
                                0);
                suite_check(s,
                            ggml_argsort(s->ctx, strided ? reordered(s, a) : a,
                                         (enum ggml_sort_order)order),
                            0);
            }
            if (suite_begin(s, GGML_OP_COUNT_EQUAL)) {
                struct ggml_tensor *a = leaf_filled(
                    s, GGML_TYPE_I32, shapes[j], FILL_INTEGERS, 0, 4);
                struct ggml_tensor *b = leaf_filled(
                    s, GGML_TYPE_I32, shapes[j], FILL_INTEGERS, 0, 4);

                suite_check(s,
                            strided ? ggml_count_equal(s->ctx, reordered(s, a),
                                                       reordered(s, b))
                                    : ggml_count_equal(s->ctx, a, b),
                            0);
            }
        }
    for (int n = 1; n <= 2049; n = 2 * n + (n % 3)) {
        if (suite_begin(s, GGML_OP_ARGMAX))
            suite_check(s,
                        ggml_argmax(s->ctx,
                                    leaf_filled(s, GGML_TYPE_F32,
                                                NE(n, 7, 1, 1), FILL_DISTINCT,
                                                0, 0)),
                        0);
        if (suite_begin(s, GGML_OP_ARGMAX))
            suite_check(s,
                        ggml_argmax(s->ctx, leaf_range(s, GGML_TYPE_F32,
                                                       NE(n, 3, 1, 1), -9, -1)),
                        0);
    }
}

static void
repetitions(struct suite *s)
{
    static const enum ggml_type types[] = {
        GGML_TYPE_F32, GGML_TYPE_I32, GGML_TYPE_F16, GGML_TYPE_BF16,
        GGML_TYPE_I16,
    };
    static const int64_t small[][4] = {
        { 10, 5, 4, 3 }, { 1, 1, 1, 1 }, { 7, 3, 1, 2 }, { 32, 1, 2, 1 },
    };
    static const int64_t times[][4] = {
        { 1, 1, 1, 1 }, { 2, 1, 1, 1 }, { 1, 2, 1, 1 }, { 1, 1, 2, 1 },
        { 1, 1, 1, 2 }, { 3, 2, 2, 2 },
    };

    for (int i = 0; i < LENGTH(small); i++)
        for (int j = 0; j < LENGTH(times); j++) {
            const int64_t *a = small[i], *x = times[j];
            const int64_t big[] = { a[0] * x[0], a[1] * x[1], a[2] * x[2],
                                    a[3] * x[3] };

            for (int t = 0; t < LENGTH(types); t++) {
                if (!suite_begin(s, GGML_OP_REPEAT))
                    continue;
                suite_check(s,
                            ggml_repeat(s->ctx,
                                        leaf_filled(s, types[t], a,
                                                    FILL_INTEGERS, -100, 100),
                                        ggml_new_tensor(s->ctx, types[t], 4,
                                                        big)),
                            0);
            }
            for (int strided = 0; strided < 2; strided++) {
                struct ggml_tensor *t;

                if (!suite_begin(s, GGML_OP_REPEAT_BACK))
                    continue;
                if (strided) {
                    const int64_t turned[] = { big[0], big[2], big[1],
                                               big[3] };

                    t = ggml_permute(
                        s->ctx,
                        leaf_range(s, GGML_TYPE_F32, turned, 0.1, 1), 0, 2, 1,
                        3);
                } else {
                    t = leaf_range(s, GGML_TYPE_F32, big, 0.1, 1);
                }
                suite_check(s,
                            ggml_repeat_back(s->ctx, t,
                                             ggml_new_tensor(s->ctx,
                                                             GGML_TYPE_F32, 4,
                                                             a)),
                            1e-7);
            }
        }
}

static void
concatenations(struct suite *s)
{
    static const enum ggml_type types[] = { GGML_TYPE_F32, GGML_TYPE_I32 };

    for (int t = 0; t < 2; t++)
        for (int dim = 0; dim < 4; dim++)
            for (int how = 0; how < 4; how++) {
                int64_t na[] = { 11, 12, 13, 14 }, nb[] = { 11, 12, 13, 14 };
                struct ggml_tensor *a, *b;

                nb[dim] = 7;
                if (!suite_begin(s, GGML_OP_CONCAT))
                    continue;
                if ((how & 1) != 0)
                    na[dim] *= 2;
                a = leaf_filled(s, types[t], na, FILL_INTEGERS, -99, 99);
                b = leaf_filled(s, types[t], nb, FILL_INTEGERS, -99, 99);
                if ((how & 1) != 0)
                    a = ggml_view_4d(s->ctx, a,
                                     dim == 0 ? na[0] / 2 : na[0],
                                     dim == 1 ? na[1] / 2 : na[1],
                                     dim == 2 ? na[2] / 2 : na[2],
                                     dim == 3 ? na[3] / 2 : na[3], a->nb[1],
                                     a->nb[2], a->nb[3], 0);
                if ((how & 2) != 0)
                    b = ggml_transpose(
                        s->ctx,
                        ggml_reshape_4d(s->ctx, b, nb[1], nb[0], nb[2], nb[3]));
                suite_check(s, ggml_concat(s->ctx, a, b, dim), 0);
            }
}

static void
rows_by_index(struct suite *s)
{
    for (int type = 0; type < GGML_TYPE_COUNT; type++) {
        const bool known = type == GGML_TYPE_F32 || type == GGML_TYPE_F16 ||
                           type == GGML_TYPE_BF16 || type == GGML_TYPE_I32 ||
                           (ggml_is_quantized((enum ggml_type)type) &&
                            ggml_get_type_traits((enum ggml_type)type)
                                    ->to_float != NULL);

        for (int j = 0; known && j < 5; j++) {
            const int64_t n0 = ggml_blck_size((enum ggml_type)type) > 1
                                   ? 256 * (1 + j % 2)
                                   : 37 + 64 * j;
            const int64_t batch = 1 + j / 2;
            struct ggml_tensor *a, *ids;

            if (!suite_begin(s, GGML_OP_GET_ROWS))
                continue;
            a = leaf_range(s, (enum ggml_type)type, NE(n0, 5, batch, 1), -9, 9);
            ids = leaf_filled(s, GGML_TYPE_I32, NE(j == 4 ? 8 : 4, batch, 1, 1),
                              FILL_INTEGERS, 0, 5);
            if (j == 4)
                ids = ggml_view_2d(s->ctx, ids, 3, batch, ids->nb[1],
                                   ids->nb[0]);
            suite_check(s, ggml_get_rows(s->ctx, a, ids),
                        type == GGML_TYPE_I32 ? 0 : 1e-7);
        }
    }
    for (int t = 0; t < 2; t++)
        for (int j = 0; j < 4; j++) {
            const enum ggml_type type = t == 0 ? GGML_TYPE_F32 : GGML_TYPE_F16;
            const int64_t n0 = 5 + 60 * j;

            if (!suite_begin(s, GGML_OP_GET_ROWS_BACK))
                continue;
            suite_check(
                s,
                ggml_get_rows_back(
                    s->ctx, leaf_range(s, type, NE(n0, 6, 1, 1), 0.1, 1),
                    leaf_filled(s, GGML_TYPE_I32, NE(6, 1, 1, 1),
                                FILL_INTEGERS, 0, 4),
                    ggml_new_tensor_2d(s->ctx, GGML_TYPE_F32, n0, 4)),
                1e-7);
        }
}

static void
masks_and_frames(struct suite *s)
{
    for (int j = 0; j < LENGTH(shapes); j++) {
        const int64_t *ne = shapes[j];

        for (int past = 0; past < 6; past += 5)
            for (int inplace = 0; inplace < 2; inplace++) {
                if (suite_begin(s, GGML_OP_DIAG_MASK_INF))
                    suite_check(
                        s,
                        (inplace ? ggml_diag_mask_inf_inplace
                                 : ggml_diag_mask_inf)(
                            s->ctx, leaf_range(s, GGML_TYPE_F32, ne, -1, 1),
                            past),
                        0);
                if (suite_begin(s, GGML_OP_DIAG_MASK_ZERO))
                    suite_check(
                        s,
                        (inplace ? ggml_diag_mask_zero_inplace
                                 : ggml_diag_mask_zero)(
                            s->ctx, leaf_range(s, GGML_TYPE_F32, ne, -1, 1),
                            past),
                        0);
            }
        if (ne[0] <= 64 && suite_begin(s, GGML_OP_DIAG))
            suite_check(s,
                        ggml_diag(s->ctx,
                                  leaf_range(s, GGML_TYPE_F32,
                                             NE(ne[0], 1, ne[2], ne[3]), -1,
                                             1)),
                        0);
        for (int how = 0; how < 5; how++) {
            if (!suite_begin(s, GGML_OP_PAD))
                continue;
            suite_check(s,
                        ggml_pad(s->ctx,
                                 leaf_range(s, GGML_TYPE_F32, ne, -1, 1),
                                 how == 1 || how == 4 ? 3 : 0,
                                 how == 2 || how == 4, how == 3 ? 2 : 0,
                                 how == 4),
                        0);
        }
        for (int how = 0; how < 3 && ne[0] > 4; how++) {
            if (!suite_begin(s, GGML_OP_PAD_REFLECT_1D))
                continue;
            suite_check(s,
                        ggml_pad_reflect_1d(
                            s->ctx, leaf_range(s, GGML_TYPE_F32, ne, -1, 1),
                            how == 1 ? 0 : 3, how == 2 ? 0 : 4),
                        0);
        }
        for (int factor = 1; factor <= 7 && ne[0] <= 64; factor += 2) {
            if (!suite_begin(s, GGML_OP_UPSCALE))
                continue;
            suite_check(s,
                        ggml_upscale(s->ctx,
                                     leaf_range(s, GGML_TYPE_F32, ne, -1, 1),
                                     factor),
                        0);
        }
    }
    for (int strided = 0; strided < 2; strided++) {
        struct ggml_tensor *a;

        if (!suite_begin(s, GGML_OP_UPSCALE))
            continue;
        a = leaf_4d(s, GGML_TYPE_F32, 5, 4, 3, 2);
        if (strided)
            a = ggml_permute(s->ctx, a, 2, 0, 1, 3);
        suite_check(s, ggml_upscale_ext(s->ctx, a, 13, 11, 9, 5), 0);
    }
}

static void
made_from_nothing(struct suite *s)
{
    for (int i = 0; i < 8; i++) {
        if (suite_begin(s, GGML_OP_ARANGE))
            suite_check(s,
                        ggml_arange(s->ctx, (float)i, 10.0f + 30.0f * (float)i,
                                    0.5f + 0.25f * (float)i),
                        1e-10);
    }
    for (int dim = 2; dim <= 321; dim += 29)
        for (int n = 1; n <= 5; n += 2) {
            if (!suite_begin(s, GGML_OP_TIMESTEP_EMBEDDING))
                continue;
            suite_check(s,
                        ggml_timestep_embedding(
                            s->ctx,
                            leaf_range(s, GGML_TYPE_F32, NE(n, 1, 1, 1), 0, 10),
                            dim, 10000),
                        1e-7);
        }
}

void
cases_layout(struct suite *s)
{
    reductions(s);
    repetitions(s);
    concatenations(s);
    rows_by_index(s);
    masks_and_frames(s);
    made_from_nothing(s);
}
