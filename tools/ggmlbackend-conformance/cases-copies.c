/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-conformance/cases-copies.c - copies between types, shapes and strides.
 */
#include "tools/ggmlbackend-conformance/suite.h"

#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define NE(...)       ((const int64_t[]){ __VA_ARGS__ })

static const enum ggml_type reals[] = { GGML_TYPE_F32, GGML_TYPE_F16,
                                        GGML_TYPE_BF16 };

static const enum ggml_type others[] = {
    GGML_TYPE_I8, GGML_TYPE_I16, GGML_TYPE_I32, GGML_TYPE_I64, GGML_TYPE_F64,
};

static const int64_t shapes[][4] = {
    { 256, 2, 3, 4 }, { 1, 1, 1, 1 }, { 17, 5, 3, 2 }, { 64, 33, 1, 1 },
    { 0, 3, 1, 1 },   { 5, 1, 7, 1 },
};

static const int orders[][4] = {
    { 0, 1, 2, 3 }, { 0, 2, 1, 3 }, { 1, 0, 2, 3 }, { 2, 3, 0, 1 },
    { 3, 0, 1, 2 }, { 0, 3, 2, 1 },
};

static double
exact_unless_rounded(enum ggml_type from, enum ggml_type to)
{
    return from == to || to == GGML_TYPE_F32 ? 0 : limit_of_type(to);
}

/* From any order of dimensions to any other. */
static void
between_reals(struct suite *s)
{
    for (int from = 0; from < 3; from++)
        for (int to = 0; to < 3; to++)
            for (int j = 0; j < LENGTH(shapes); j++)
                for (int o = 0; o < LENGTH(orders); o++)
                    for (int back = 0; back < 2; back++) {
                        const int *p = orders[o];
                        struct ggml_tensor *a, *b;

                        if ((o == 0 && back) || !suite_begin(s, GGML_OP_CPY))
                            continue;
                        a = leaf_range(s, reals[from], shapes[j], -9, 9);
                        b = ggml_permute(s->ctx, a, p[0], p[1], p[2], p[3]);
                        if (back) {
                            /* A whole source into a reordered target. */
                            a = ggml_permute(
                                s->ctx,
                                ggml_new_tensor(s->ctx, reals[to], 4,
                                                shapes[j]),
                                p[0], p[1], p[2], p[3]);
                            b = leaf_range(s, reals[from], a->ne, -9, 9);
                        } else {
                            a = ggml_new_tensor(s->ctx, reals[to], 4, b->ne);
                        }
                        suite_check(
                            s, ggml_cpy(s->ctx, b, a),
                            exact_unless_rounded(reals[from], reals[to]));
                    }
}

/* Other shapes with the same number of elements. */
static void
between_shapes(struct suite *s)
{
    for (int from = 0; from < 3; from++)
        for (int to = 0; to < 3; to++)
            for (int how = 0; how < 4; how++) {
                struct ggml_tensor *a, *b;

                if (!suite_begin(s, GGML_OP_CPY))
                    continue;
                a = leaf_4d(s, reals[from], 12, 10, 3, 2);
                b = ggml_new_tensor_3d(s->ctx, reals[to], 15, 16, 3);
                if ((how & 1) != 0)
                    a = ggml_permute(s->ctx, a, 1, 2, 0, 3);
                if ((how & 2) != 0)
                    b = ggml_permute(s->ctx, b, 1, 0, 2, 3);
                suite_check(s, ggml_cpy(s->ctx, a, b),
                            exact_unless_rounded(reals[from], reals[to]));
            }
}

static bool
can_be_made(enum ggml_type type)
{
    return ggml_is_quantized(type) && type != GGML_TYPE_Q8_1 &&
           type != GGML_TYPE_Q8_K;
}

static bool
has_quantizer(enum ggml_type type)
{
    static const enum ggml_type types[] = {
        GGML_TYPE_Q4_0, GGML_TYPE_Q4_1,  GGML_TYPE_Q5_0,   GGML_TYPE_Q5_1,
        GGML_TYPE_Q8_0, GGML_TYPE_Q2_K,  GGML_TYPE_Q3_K,   GGML_TYPE_Q4_K,
        GGML_TYPE_Q5_K, GGML_TYPE_Q6_K,  GGML_TYPE_IQ4_NL, GGML_TYPE_IQ4_XS,
        GGML_TYPE_TQ1_0, GGML_TYPE_TQ2_0,
    };

    for (int i = 0; i < LENGTH(types); i++) {
        if (types[i] == type)
            return true;
    }
    return false;
}

static void
blocks(struct suite *s)
{
    for (int t = 0; t < GGML_TYPE_COUNT; t++) {
        const enum ggml_type type = (enum ggml_type)t;

        if (!can_be_made(type))
            continue;
        for (int rows = 0; rows < 4; rows++) {
            const int64_t ne[] = { 256 * (1 + rows % 2), rows, 3, 2 };

            /* To floats, and between blocks of the same type, rows reordered. */
            for (int strided = 0; strided < 2; strided++) {
                struct ggml_tensor *a;

                if (suite_begin(s, GGML_OP_CPY)) {
                    a = leaf_range(s, type, ne, -1, 1);
                    if (strided)
                        a = ggml_permute(s->ctx, a, 0, 2, 1, 3);
                    suite_check(s,
                                ggml_cpy(s->ctx, a,
                                         ggml_new_tensor(s->ctx, GGML_TYPE_F32,
                                                         4, a->ne)),
                                0);
                }
                if (suite_begin(s, GGML_OP_DUP)) {
                    a = leaf_range(s, type, ne, -1, 1);
                    if (strided)
                        a = ggml_permute(s->ctx, a, 0, 2, 1, 3);
                    suite_check(s, ggml_dup(s->ctx, a), 0);
                }
                if (suite_begin(s, GGML_OP_CONT)) {
                    a = leaf_range(s, type, ne, -1, 1);
                    if (strided)
                        a = ggml_permute(s->ctx, a, 0, 3, 2, 1);
                    suite_check(s, ggml_cont(s->ctx, a), 0);
                }
            }
            /* From reals. */
            for (int from = 0; from < 3 && has_quantizer(type); from++)
                for (int strided = 0; strided < 2; strided++) {
                    struct ggml_tensor *a;

                    if (!suite_begin(s, GGML_OP_CPY))
                        continue;
                    a = leaf_range(s, reals[from], ne, -1, 1);
                    if (strided)
                        a = ggml_permute(s->ctx, a, 0, 2, 1, 3);
                    suite_check(s,
                                ggml_cpy(s->ctx, a,
                                         ggml_new_tensor(s->ctx, type, 4,
                                                         a->ne)),
                                limit_of_type(type));
                }
        }
    }
}

/* Copies that keep the type. */
static void
same_type(struct suite *s)
{
    for (int t = 0; t < LENGTH(reals) + LENGTH(others); t++) {
        const enum ggml_type type =
            t < LENGTH(reals) ? reals[t] : others[t - LENGTH(reals)];

        for (int j = 0; j < LENGTH(shapes); j++)
            for (int o = 0; o < LENGTH(orders); o++) {
                const int *p = orders[o];
                struct ggml_tensor *a;

                if (suite_begin(s, GGML_OP_DUP)) {
                    a = leaf_filled(s, type, shapes[j], FILL_INTEGERS, -99, 99);
                    suite_check(s,
                                ggml_dup(s->ctx, ggml_permute(s->ctx, a, p[0],
                                                              p[1], p[2],
                                                              p[3])),
                                0);
                }
                if (suite_begin(s, GGML_OP_CONT)) {
                    a = leaf_filled(s, type, shapes[j], FILL_INTEGERS, -99, 99);
                    suite_check(s,
                                ggml_cont(s->ctx, ggml_permute(s->ctx, a, p[0],
                                                               p[1], p[2],
                                                               p[3])),
                                0);
                }
            }
        if (suite_begin(s, GGML_OP_CONT)) {
            struct ggml_tensor *a = leaf_filled(s, type, NE(6, 10, 2, 3),
                                                FILL_INTEGERS, -99, 99);

            suite_check(s,
                        ggml_cont_2d(s->ctx, ggml_transpose(s->ctx, a), 45, 8),
                        0);
        }
    }
}

void
cases_copies(struct suite *s)
{
    between_reals(s);
    between_shapes(s);
    blocks(s);
    same_type(s);
}
