/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-conformance/cases-products.c - products of matrices, for every type of
 * weights.
 */
#include "tools/ggmlbackend-conformance/suite.h"

#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define NE(...)       ((const int64_t[]){ __VA_ARGS__ })

/* What 8-bit activations may add to a product, as everybody has it. */
#define LIMIT 5e-4

static bool
is_weight(enum ggml_type type)
{
    return type == GGML_TYPE_F32 || type == GGML_TYPE_F16 ||
           type == GGML_TYPE_BF16 ||
           (ggml_is_quantized(type) && type != GGML_TYPE_Q8_1 &&
            type != GGML_TYPE_Q8_K);
}

/* The types that the second operand may have besides F32. */
static enum ggml_type
other_activation(enum ggml_type type)
{
    return type == GGML_TYPE_F16 || type == GGML_TYPE_BF16 ? type
                                                           : GGML_TYPE_F32;
}

static double
limit_of(enum ggml_type type)
{
    return type == GGML_TYPE_F32 ? 1e-7 : LIMIT;
}

static void
plain(struct suite *s, enum ggml_type type)
{
    static const int64_t rows[] = { 1, 3, 16, 17, 70 };
    static const int64_t columns[] = { 1, 2, 4, 5, 9, 33 };
    const int64_t block = ggml_blck_size(type);

    for (int i = 0; i < LENGTH(rows); i++)
        for (int j = 0; j < LENGTH(columns); j++) {
            /* Whole blocks; for types without any, odd lengths. */
            const int64_t k = block > 1 ? block * (1 + (i + j) % 3)
                                        : 1 + 37 * ((i + j) % 5);

            if (!suite_begin(s, GGML_OP_MUL_MAT))
                continue;
            suite_check(s,
                        ggml_mul_mat(s->ctx,
                                     leaf_4d(s, type, k, rows[i], 1, 1),
                                     leaf_4d(s, GGML_TYPE_F32, k, columns[j],
                                             1, 1)),
                        limit_of(type));
        }
    /* No rows, no columns. */
    for (int empty = 0; empty < 2; empty++) {
        if (!suite_begin(s, GGML_OP_MUL_MAT))
            continue;
        suite_check(s,
                    ggml_mul_mat(s->ctx,
                                 leaf_range(s, type,
                                            NE(256, empty == 0 ? 0 : 5, 1, 1),
                                            -1, 1),
                                 leaf_range(s, GGML_TYPE_F32,
                                            NE(256, empty == 1 ? 0 : 4, 1, 1),
                                            -1, 1)),
                    limit_of(type));
    }
}

static void
batched(struct suite *s, enum ggml_type type)
{
    static const int64_t batches[][4] = {
        { 1, 1, 2, 1 }, { 3, 1, 1, 2 }, { 3, 2, 2, 2 }, { 2, 3, 2, 1 },
    };

    for (int j = 0; j < LENGTH(batches); j++)
        for (int n = 1; n <= 8; n *= 2) {
            const int64_t *b = batches[j];

            if (!suite_begin(s, GGML_OP_MUL_MAT))
                continue;
            suite_check(
                s,
                ggml_mul_mat(s->ctx,
                             leaf_range(s, type, NE(256, 11, b[0], b[1]), -1, 1),
                             leaf_range(s, GGML_TYPE_F32,
                                        NE(256, n, b[0] * b[2], b[1] * b[3]),
                                        -1, 1)),
                limit_of(type));
        }
}

/* Dimensions 1 to 3 in another order, and rows with gaps between them. */
static void
strided(struct suite *s, enum ggml_type type)
{
    for (int how = 1; how < 4; how++)
        for (int n = 1; n <= 7; n += 3) {
            struct ggml_tensor *a, *b;

            if (suite_begin(s, GGML_OP_MUL_MAT)) {
                a = leaf_range(s, type, NE(256, 4, 6, 2), -1, 1);
                b = leaf_range(s, GGML_TYPE_F32, NE(256, 4, n, 2), -1, 1);
                if ((how & 1) != 0)
                    a = ggml_permute(s->ctx, a, 0, 2, 1, 3);
                else
                    a = ggml_reshape_4d(s->ctx, a, 256, 6, 4, 2);
                if ((how & 2) != 0)
                    b = ggml_permute(s->ctx, b, 0, 2, 1, 3);
                else
                    b = ggml_reshape_4d(s->ctx, b, 256, n, 4, 2);
                suite_check(s, ggml_mul_mat(s->ctx, a, b), limit_of(type));
            }
            if (suite_begin(s, GGML_OP_MUL_MAT)) {
                a = leaf_range(s, type, NE(512, 10, 1, 1), -1, 1);
                b = leaf_range(s, GGML_TYPE_F32, NE(300, n, 1, 1), -1, 1);
                a = ggml_view_2d(s->ctx, a, 256, 5, 2 * a->nb[1],
                                 ggml_row_size(type, (how & 1) * 256));
                b = ggml_view_2d(s->ctx, b, 256, n, b->nb[1], 4 * (size_t)how);
                suite_check(s, ggml_mul_mat(s->ctx, a, b), limit_of(type));
            }
        }
    if (other_activation(type) != GGML_TYPE_F32) {
        for (int n = 1; n <= 33; n += 16) {
            if (suite_begin(s, GGML_OP_MUL_MAT))
                suite_check(s,
                            ggml_mul_mat(s->ctx,
                                         leaf_4d(s, type, 100, 9, 2, 1),
                                         leaf_4d(s, other_activation(type), 100,
                                                 n, 2, 1)),
                            LIMIT);
        }
    }
}

/* Activations that have the type already which the product would give them. */
static void
converted(struct suite *s)
{
    static const struct {
        enum ggml_type weights, activations;
    } types[] = {
        { GGML_TYPE_Q4_0, GGML_TYPE_Q8_0 },   { GGML_TYPE_Q5_0, GGML_TYPE_Q8_0 },
        { GGML_TYPE_Q8_0, GGML_TYPE_Q8_0 },   { GGML_TYPE_IQ4_NL, GGML_TYPE_Q8_0 },
        { GGML_TYPE_Q4_1, GGML_TYPE_Q8_1 },   { GGML_TYPE_Q5_1, GGML_TYPE_Q8_1 },
        { GGML_TYPE_Q4_K, GGML_TYPE_Q8_K },   { GGML_TYPE_IQ2_XXS, GGML_TYPE_Q8_K },
    };

    for (int i = 0; i < LENGTH(types); i++)
        for (int n = 1; n <= 33; n += 16) {
            if (suite_begin(s, GGML_OP_MUL_MAT))
                suite_check(
                    s,
                    ggml_mul_mat(s->ctx, leaf_4d(s, types[i].weights, 256, 9, 1, 1),
                                 leaf_4d(s, types[i].activations, 256, n, 1, 1)),
                    LIMIT);
        }
}

static void
by_expert(struct suite *s, enum ggml_type type)
{
    static const struct {
        int64_t experts, used, tokens, rows;
        bool one_activation;
        bool is_long; /* are rows longer than what is copied at a time? */
    } cases[] = {
        { 1, 1, 1, 5, false, false },   { 4, 2, 1, 7, true, false },
        { 4, 2, 1, 7, false, false },   { 8, 3, 5, 16, true, false },
        { 8, 3, 5, 16, false, false },  { 8, 8, 17, 9, true, false },
        { 3, 1, 33, 20, true, false },  { 4, 4, 32, 6, false, false },
        { 2, 2, 21, 6, false, true },
    };
    const int64_t longer = ggml_blck_size(type) > 32 ? 1280 : 1312;

    for (int i = 0; i < LENGTH(cases); i++)
        for (int view = 0; view < 2; view++) {
            const int64_t k = cases[i].is_long ? longer : 256;
            struct ggml_tensor *ids;

            if (!suite_begin(s, GGML_OP_MUL_MAT_ID))
                continue;
            ids = leaf_filled(s, GGML_TYPE_I32,
                              NE(view ? cases[i].experts : cases[i].used,
                                 cases[i].tokens, 1, 1),
                              FILL_INTEGERS, 0, (double)cases[i].experts);
            if (view)
                ids = ggml_view_2d(s->ctx, ids, cases[i].used, cases[i].tokens,
                                   ids->nb[1], 0);
            suite_check(
                s,
                ggml_mul_mat_id(
                    s->ctx,
                    leaf_range(s, type,
                               NE(k, cases[i].rows, cases[i].experts, 1), -1, 1),
                    leaf_range(s, GGML_TYPE_F32,
                               NE(k, cases[i].one_activation ? 1 : cases[i].used,
                                  cases[i].tokens, 1),
                               -1, 1),
                    ids),
                limit_of(type));
        }
}

static void
outer(struct suite *s, enum ggml_type type)
{
    static const int64_t k[] = { 1, 5, 16 };

    for (int i = 0; i < LENGTH(k); i++)
        for (int j = 1; j <= 10; j += 3)
            for (int how = 0; how < 4; how++) {
                const int64_t m = ggml_is_quantized(type) ? 256 : 13 + 7 * i;
                const bool repeated = how == 2 && type == GGML_TYPE_F32;
                struct ggml_tensor *b;

                if (!suite_begin(s, GGML_OP_OUT_PROD))
                    continue;
                if (how == 1)
                    b = ggml_transpose(
                        s->ctx,
                        leaf_range(s, GGML_TYPE_F32, NE(k[i], j, 1, 1), -1, 1));
                else
                    b = leaf_range(s, GGML_TYPE_F32,
                                   NE(j, k[i], how > 1 ? 4 : 1,
                                      how > 2 ? 3 : 1),
                                   -1, 1);
                suite_check(
                    s,
                    ggml_out_prod(s->ctx,
                                  leaf_range(s, type,
                                             NE(m, k[i],
                                                repeated ? 2
                                                : how > 1 ? 4
                                                          : 1,
                                                how > 2 ? 3 : 1),
                                             -1, 1),
                                  b),
                    1e-7);
            }
}

static void
product(struct suite *s, enum ggml_type type, int64_t k, int64_t rows,
        int64_t columns, double largest)
{
    if (!suite_begin(s, GGML_OP_MUL_MAT))
        return;
    suite_check(s,
                ggml_mul_mat(s->ctx, leaf_4d(s, type, k, rows, 1, 1),
                             leaf_range(s, GGML_TYPE_F32, NE(k, columns, 1, 1),
                                        -largest, largest)),
                limit_of(type));
}

/* Rows and columns that fill tiles, and those that are one more or less; long rows;
 * numbers of columns up to which other kernels may be taken. */
static void
tiles(struct suite *s, enum ggml_type type)
{
    static const int64_t sizes[] = { 63, 64, 65, 127, 128, 129, 257 };
    static const int64_t few[] = { 1, 2, 3, 4, 6, 7, 8, 11, 15, 16 };
    const int64_t block = ggml_blck_size(type);

    for (int i = 0; i < LENGTH(sizes); i++)
        product(s, type, block > 1 ? 256 : 250 + i, sizes[i],
                sizes[(i + (int)type) % LENGTH(sizes)], 1);
    for (int i = 0; i < LENGTH(few); i++)
        product(s, type, block > 1 ? 768 : 700 + i, 65, few[i], 1);
    for (int64_t n = 1; n <= 16; n += 15)
        product(s, type, 8192, 17, n, 1);
    /* Rows of several pieces that are copied at a time, each of which begins and ends
     * where others do not. */
    product(s, type, block > 32 ? 1280 : 1312, 67, 19, 1);
    if (type % 3 == 0)
        product(s, type, 256, 64, 511, 1);
    if (type % 3 == 1)
        product(s, type, 256, 70, 512, 1);
}

/* What halves cannot hold on the right. */
static void
large_values(struct suite *s, enum ggml_type type)
{
    for (int n = 1; n <= 65; n += 32)
        product(s, type, 512, 40, n, 1e6);
}

/* Many matrices of few rows and columns each, as many as devices cut others into. */
void
cases_many_products(struct suite *s)
{
    for (int t = 0; t < GGML_TYPE_COUNT; t++) {
        const enum ggml_type type = (enum ggml_type)t;
        const int64_t block = ggml_blck_size(type);

        if (!is_weight(type) || !suite_begin(s, GGML_OP_MUL_MAT))
            continue;
        suite_check(s,
                    ggml_mul_mat(s->ctx,
                                 leaf_4d(s, type, block > 1 ? block : 40, 17,
                                         64, 1),
                                 leaf_4d(s, GGML_TYPE_F32,
                                         block > 1 ? block : 40, 9, 64, 1)),
                    limit_of(type));
    }
}

/* Tiles of halves of either type with more than 64 rows and columns, whose rows are
 * whole pieces of 16 bytes and steps of 32: three, and enough to be cut. */
static void
large_tiles(struct suite *s)
{
    static const enum ggml_type types[] = { GGML_TYPE_F16, GGML_TYPE_BF16 };

    for (int i = 0; i < LENGTH(types); i++) {
        product(s, types[i], 96, 129, 130, 1);
        product(s, types[i], 2080, 130, 129, 1);
    }
}

/* One column and rows of many stages that are copied at a time, of a number that is
 * odd and with a rest behind them; and rows of which not all begin at multiples of 16
 * bytes. */
static void
long_rows(struct suite *s, enum ggml_type type)
{
    const int64_t block = ggml_blck_size(type);

    product(s, type, 18688, 5, 1, 1);
    product(s, type, block > 32 ? 2304 : block > 1 ? 2080 : 2081, 9, 1, 1);
}

/* Rows of no elements, whose products are 0. */
static void
empty_rows(struct suite *s, enum ggml_type type)
{
    static const int64_t columns[] = { 1, 4, 9, 65 };

    for (int i = 0; i < LENGTH(columns); i++) {
        product(s, type, 0, 70, columns[i], 1);
        if (suite_begin(s, GGML_OP_MUL_MAT_ID))
            suite_check(
                s,
                ggml_mul_mat_id(
                    s->ctx, leaf_range(s, type, NE(0, 70, 4, 1), -1, 1),
                    leaf_range(s, GGML_TYPE_F32, NE(0, 2, columns[i], 1), -1, 1),
                    leaf_filled(s, GGML_TYPE_I32, NE(2, columns[i], 1, 1),
                                FILL_INTEGERS, 0, 4)),
                limit_of(type));
        if (suite_begin(s, GGML_OP_OUT_PROD))
            suite_check(
                s,
                ggml_out_prod(
                    s->ctx, leaf_range(s, type, NE(256, 0, 1, 1), -1, 1),
                    leaf_range(s, GGML_TYPE_F32, NE(columns[i], 0, 2, 1), -1, 1)),
                1e-7);
    }
    /* Of several matrices, and with something added. */
    if (suite_begin(s, GGML_OP_MUL_MAT))
        suite_check(
            s,
            ggml_add(s->ctx,
                     ggml_mul_mat(
                         s->ctx, leaf_range(s, type, NE(0, 17, 2, 1), -1, 1),
                         leaf_range(s, GGML_TYPE_F32, NE(0, 33, 4, 3), -1, 1)),
                     leaf_range(s, GGML_TYPE_F32, NE(17, 33, 4, 3), -1, 1)),
            limit_of(type));
}

/* Behind all others, so that these have the numbers that they had. */
void
cases_long_products(struct suite *s)
{
    large_tiles(s);
    for (int t = 0; t < GGML_TYPE_COUNT; t++) {
        if (is_weight((enum ggml_type)t))
            long_rows(s, (enum ggml_type)t);
    }
    for (int t = 0; t < GGML_TYPE_COUNT; t++) {
        if (is_weight((enum ggml_type)t))
            empty_rows(s, (enum ggml_type)t);
    }
}

void
cases_products(struct suite *s)
{
    for (int t = 0; t < GGML_TYPE_COUNT; t++) {
        const enum ggml_type type = (enum ggml_type)t;

        if (!is_weight(type))
            continue;
        plain(s, type);
        batched(s, type);
        strided(s, type);
        by_expert(s, type);
        tiles(s, type);
        large_values(s, type);
        outer(s, type);
    }
    converted(s);
}
