/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-conformance/cases-chains.c - nodes that follow each other in language
 * models, which devices may compute as one, and others that look alike.  The results
 * of all of them are compared.
 */
#include "tools/ggmlbackend-conformance/suite.h"

#include <math.h>

#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define NE(...)       ((const int64_t[]){ __VA_ARGS__ })

/* Rows of one warp, of a thread block, and of odd lengths. */
static const int64_t shapes[][4] = {
    { 64, 5, 2, 1 }, { 512, 3, 1, 1 }, { 600, 2, 3, 1 }, { 33, 7, 1, 2 },
    { 1, 3, 1, 1 },
};

/* What rows are multiplied by, or what is added to them. */
enum operand { ONE_ROW, ALL_ROWS, ONE_COLUMN, N_OPERANDS };

static struct ggml_tensor *
operand(struct suite *s, const int64_t ne[4], enum operand kind)
{
    switch (kind) {
    case ONE_ROW:
        return leaf_range(s, GGML_TYPE_F32, NE(ne[0], 1, 1, 1), -2, 2);
    case ONE_COLUMN:
        return leaf_range(s, GGML_TYPE_F32, NE(1, ne[1], ne[2], ne[3]), -2, 2);
    default:
        return leaf_range(s, GGML_TYPE_F32, ne, -2, 2);
    }
}

static struct ggml_tensor *
norm(struct suite *s, struct ggml_tensor *x, int rms)
{
    return rms ? ggml_rms_norm(s->ctx, x, 1e-5f) : ggml_norm(s->ctx, x, 1e-5f);
}

static void
norms(struct suite *s, const int64_t ne[4], int rms, enum operand kind)
{
    struct ggml_tensor *x;

    if (suite_begin(s, GGML_OP_MUL)) {
        x = norm(s, leaf_range(s, GGML_TYPE_F32, ne, -10, 10), rms);
        suite_check(s, ggml_mul(s->ctx, x, operand(s, ne, kind)), 1e-7);
    }
    if (suite_begin(s, GGML_OP_ADD)) {
        x = norm(s, leaf_range(s, GGML_TYPE_F32, ne, -10, 10), rms);
        x = ggml_mul(s->ctx, x, operand(s, ne, ONE_ROW));
        suite_check(s, ggml_add(s->ctx, x, operand(s, ne, kind)), 1e-7);
    }
    if (suite_begin(s, GGML_OP_MUL)) {
        x = leaf_range(s, GGML_TYPE_F32, ne, -10, 10);
        x = norm(s, ggml_add(s->ctx, x, operand(s, ne, kind)), rms);
        suite_check(s, ggml_mul(s->ctx, x, operand(s, ne, ONE_ROW)), 1e-7);
    }
    /* Both operands are the norm. */
    if (kind == ONE_ROW && suite_begin(s, GGML_OP_MUL)) {
        x = norm(s, leaf_range(s, GGML_TYPE_F32, ne, -10, 10), rms);
        suite_check(s, ggml_mul(s->ctx, x, x), 1e-7);
    }
}

/* N rows of five, so that some come again, with a norm of theirs and weights;
 * added to that what a bias is, or the picked rows themselves. */
static void
picked_rows(struct suite *s, int64_t width, int64_t n, int rms)
{
    enum { ALONE, AND_BIAS, AND_ROWS, BY_ROWS, N_KINDS };
    const int64_t ne[] = { width, 5, 1, 1 };

    for (int kind = 0; kind < N_KINDS; kind++) {
        struct ggml_tensor *x, *rows;

        if (!suite_begin(s, GGML_OP_GET_ROWS))
            continue;
        x = leaf_range(s, GGML_TYPE_F32, ne, -10, 10);
        rows = ggml_get_rows(s->ctx, x,
                             leaf_filled(s, GGML_TYPE_I32, NE(n, 1, 1, 1),
                                         FILL_INTEGERS, 0, 5));
        x = ggml_mul(s->ctx, norm(s, rows, rms),
                     kind == BY_ROWS ? rows : operand(s, ne, ONE_ROW));
        if (kind == AND_BIAS)
            x = ggml_add(s->ctx, x, operand(s, x->ne, ONE_ROW));
        if (kind == AND_ROWS)
            x = ggml_add(s->ctx, x, rows);
        suite_check(s, x, 1e-7);
    }
}

/* Rows that are picked of a view, of halves, of two matrices, and those that a
 * product reads as columns of q8 or of halves. */
static void
other_picked_rows(struct suite *s)
{
    enum { OF_VIEW, OF_HALVES, OF_TWO, FOR_Q8, FOR_F16, N_KINDS };

    for (int kind = 0; kind < N_KINDS; kind++) {
        const int64_t n = kind == FOR_F16 ? 70 : 7;
        const int64_t matrices = kind == OF_TWO ? 2 : 1;
        struct ggml_tensor *x, *ids;

        if (!suite_begin(s, GGML_OP_GET_ROWS))
            continue;
        x = leaf_range(s, kind == OF_HALVES ? GGML_TYPE_F16 : GGML_TYPE_F32,
                       NE(96, 5, matrices, 1), -10, 10);
        if (kind == OF_VIEW)
            x = ggml_view_2d(s->ctx, x, 64, 4, x->nb[1], x->nb[1] + 64);
        ids = leaf_filled(s, GGML_TYPE_I32, NE(n, matrices, 1, 1),
                          FILL_INTEGERS, 0, 4);
        x = norm(s, ggml_get_rows(s->ctx, x, ids), 1);
        x = ggml_mul(s->ctx, x, operand(s, x->ne, ONE_ROW));
        if (kind >= FOR_Q8) {
            const enum ggml_type type =
                kind == FOR_Q8 ? GGML_TYPE_Q8_0 : GGML_TYPE_F16;

            x = ggml_mul_mat(s->ctx, leaf_4d(s, type, 96, 37, 1, 1), x);
        }
        suite_check(s, x, kind >= FOR_Q8 ? 5e-4 : 1e-7);
    }
}

static void
gates(struct suite *s, const int64_t ne[4], enum ggml_unary_op function)
{
    struct ggml_tensor *x, *y;

    if (suite_begin(s, GGML_OP_MUL)) {
        x = ggml_unary(s->ctx, leaf_range(s, GGML_TYPE_F32, ne, -3, 3), function);
        y = leaf_range(s, GGML_TYPE_F32, ne, -3, 3);
        suite_check(s, ggml_mul(s->ctx, x, y), 1e-7);
    }
    if (suite_begin(s, GGML_OP_MUL)) {
        x = leaf_range(s, GGML_TYPE_F32, ne, -3, 3);
        y = ggml_unary(s->ctx, leaf_range(s, GGML_TYPE_F32, ne, -3, 3), function);
        suite_check(s, ggml_mul(s->ctx, x, y), 1e-7);
    }
    /* The function is of one row, which is used for all. */
    if (suite_begin(s, GGML_OP_MUL)) {
        x = leaf_range(s, GGML_TYPE_F32, ne, -3, 3);
        y = ggml_unary(s->ctx, operand(s, ne, ONE_ROW), function);
        suite_check(s, ggml_mul(s->ctx, x, y), 1e-7);
    }
}

/* Weights of M rows of K times N columns, what is added to which is ADDENDS. */
static void
product(struct suite *s, enum ggml_type type, int64_t k, int64_t m, int64_t n,
        const enum operand *addends, int n_addends)
{
    const int64_t ne[] = { m, n, 1, 1 };
    struct ggml_tensor *y;

    if (!suite_begin(s, GGML_OP_ADD))
        return;
    y = ggml_mul_mat(s->ctx, leaf_4d(s, type, k, m, 1, 1),
                     leaf_4d(s, GGML_TYPE_F32, k, n, 1, 1));
    for (int i = 0; i < n_addends; i++)
        y = i == 0 ? ggml_add(s->ctx, y, operand(s, ne, addends[i]))
            : addends[i] == ALL_ROWS
                ? ggml_add(s->ctx, operand(s, ne, ALL_ROWS), y)
                : ggml_add(s->ctx, y, operand(s, ne, addends[i]));
    suite_check(s, y, type == GGML_TYPE_F32 ? 1e-7 : 5e-4);
}

/* A sum in the place of the product, which nobody sees by itself then. */
static void
product_in_place(struct suite *s, enum ggml_type type, int64_t k, int64_t n,
                 enum operand addend)
{
    const int64_t ne[] = { 37, n, 2, 1 };
    struct ggml_tensor *y;

    if (!suite_begin(s, GGML_OP_ADD))
        return;
    y = ggml_mul_mat(s->ctx, leaf_4d(s, type, k, ne[0], 1, 1),
                     leaf_4d(s, GGML_TYPE_F32, k, n, ne[2], 1));
    y = ggml_add_inplace(s->ctx, y, operand(s, ne, addend));
    suite_check(s, y, type == GGML_TYPE_F32 ? 1e-7 : 5e-4);
}

static void
products(struct suite *s)
{
    static const enum ggml_type types[] = {
        GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_Q8_0, GGML_TYPE_Q4_K
    };
    static const enum operand sums[][2] = {
        { ONE_ROW }, { ALL_ROWS }, { ONE_COLUMN },
        { ONE_ROW, ALL_ROWS }, { ALL_ROWS, ONE_ROW },
    };

    for (int t = 0; t < LENGTH(types); t++)
        for (int i = 0; i < LENGTH(sums); i++)
            for (int n = 1; n <= 9; n += 4) {
                product(s, types[t], 256, 37, n, sums[i], i < 3 ? 1 : 2);
                /* k is cut, and the parts are joined. */
                product(s, types[t], 4096, 5, n, sums[i], i < 3 ? 1 : 2);
                if (i < 3) {
                    product_in_place(s, types[t], 256, n, sums[i][0]);
                    product_in_place(s, types[t], 4096, n, sums[i][0]);
                }
            }
}

/* Two products with one right side, one of which gates the other. */
static void
feed_forward(struct suite *s, enum ggml_type gate_type, enum ggml_type up_type)
{
    const int64_t k = 256, m = 36;
    struct ggml_tensor *x, *gate, *up;

    for (int n = 1; n <= 9; n += 4) {
        if (!suite_begin(s, GGML_OP_MUL))
            continue;
        gate = leaf_4d(s, gate_type, k, m, 1, 1);
        up = leaf_4d(s, up_type, k, m, 1, 1);
        x = leaf_4d(s, GGML_TYPE_F32, k, n, 1, 1);
        gate = ggml_silu(s->ctx, ggml_mul_mat(s->ctx, gate, x));
        suite_check(s, ggml_mul(s->ctx, gate, ggml_mul_mat(s->ctx, up, x)),
                    gate_type == GGML_TYPE_F32 ? 1e-6 : 2e-3);
    }
}

/* What stands in front of a product. */
enum maker {
    BY_NORM, BY_NORM_OF_HEADS, BY_GATE, BY_ATTENTION, BY_SHORT_ATTENTION,
    N_MAKERS
};

/* N columns of K values, of which the largest are about HIGH. */
static struct ggml_tensor *
made(struct suite *s, enum maker maker, int64_t k, int64_t n, double high)
{
    const int64_t head = 32, keys = maker == BY_SHORT_ATTENTION ? 100 : 300;
    const int64_t ne[] = { k, n, 1, 1 };
    struct ggml_tensor *x, *values;

    switch (maker) {
    case BY_NORM:
        x = norm(s, leaf_range(s, GGML_TYPE_F32, ne, -10, 10), 1);
        return ggml_mul(s->ctx, x,
                        leaf_range(s, GGML_TYPE_F32, NE(k, 1, 1, 1), -high,
                                   high));
    case BY_NORM_OF_HEADS:
        x = leaf_range(s, GGML_TYPE_F32, NE(head, n * k / head, 1, 1), -10, 10);
        x = ggml_mul(s->ctx, norm(s, x, 1),
                     leaf_range(s, GGML_TYPE_F32, x->ne, -high, high));
        return ggml_reshape_2d(s->ctx, x, k, n);
    case BY_GATE:
        x = ggml_silu(s->ctx, leaf_range(s, GGML_TYPE_F32, ne, -3, 3));
        return ggml_mul(s->ctx, x,
                        leaf_range(s, GGML_TYPE_F32, ne, -high, high));
    default:
        x = leaf_range(s, GGML_TYPE_F32, NE(head, n, k / head, 1), -1, 1);
        values = leaf_range(s, high < 6e4 ? GGML_TYPE_F16 : GGML_TYPE_BF16,
                            NE(head, keys, 1, 1), -high, high);
        x = ggml_flash_attn_ext(s->ctx, x,
                                leaf_4d(s, GGML_TYPE_F16, head, keys, 1, 1),
                                values, NULL, 0.2f, 0, 0);
        return ggml_reshape_2d(s->ctx, x, k, n);
    }
}

/* A product of what other nodes make right in front of it: of few columns and of
 * many, of values within the range of f16 and beyond it. */
static void
made_columns(struct suite *s, enum ggml_type type)
{
    static const int64_t widths[] = { 64, 576, 96 };
    static const int64_t columns[] = { 3, 9, 70 };
    struct ggml_tensor *x;

    for (int maker = 0; maker < N_MAKERS; maker++)
        for (int w = 0; w < LENGTH(widths); w++)
            for (int c = 0; c < LENGTH(columns); c++)
                for (int far = 0; far < 2; far++) {
                    if (!suite_begin(s, GGML_OP_MUL_MAT))
                        continue;
                    x = made(s, (enum maker)maker, widths[w], columns[c],
                             far ? 1e6 : 2);
                    suite_check(s,
                                ggml_mul_mat(s->ctx,
                                             leaf_4d(s, type, widths[w], 37, 1,
                                                     1),
                                             x),
                                type == GGML_TYPE_F32 ? 1e-6 : 5e-4);
                }
}

/* Three products with one right side, as a layer's queries, keys and values; where
 * K is long it may be cut into other parts for each. */
static void
products_beside(struct suite *s, const enum ggml_type types[3], int64_t k,
                int64_t n)
{
    static const int64_t rows[] = { 260, 70, 5 };
    struct ggml_tensor *x, *y[3];

    if (!suite_begin(s, GGML_OP_MUL_MAT))
        return;
    x = leaf_4d(s, GGML_TYPE_F32, k, n, 1, 1);
    for (int i = 0; i < 3; i++)
        y[i] = ggml_mul_mat(s->ctx, leaf_4d(s, types[i], k, rows[i], 1, 1), x);
    suite_beside(s, y[0]);
    suite_beside(s, y[1]);
    suite_check(s, y[2], types[2] == GGML_TYPE_F32 ? 1e-7 : 5e-4);
}

static void
layer_products(struct suite *s)
{
    static const enum ggml_type types[][3] = {
        { GGML_TYPE_F32, GGML_TYPE_F32, GGML_TYPE_F32 },
        { GGML_TYPE_F16, GGML_TYPE_F16, GGML_TYPE_F16 },
        { GGML_TYPE_Q8_0, GGML_TYPE_Q8_0, GGML_TYPE_Q8_0 },
        { GGML_TYPE_Q4_K, GGML_TYPE_Q4_K, GGML_TYPE_Q6_K },
        { GGML_TYPE_Q5_0, GGML_TYPE_Q4_0, GGML_TYPE_Q4_0 },
    };

    for (int t = 0; t < LENGTH(types); t++) {
        products_beside(s, types[t], 256, 1);
        products_beside(s, types[t], 4096, 1);
        products_beside(s, types[t], 256, 260);
        products_beside(s, types[t], 4096, 9);
    }
}

static void
stores(struct suite *s, enum ggml_type type, int mode)
{
    const int64_t width = 64, heads = 3, tokens = 4;
    struct ggml_tensor *x, *cache, *positions;

    for (int dims = 32; dims <= 64; dims += 32) {
        if (!suite_begin(s, GGML_OP_CPY))
            continue;
        x = leaf_4d(s, GGML_TYPE_F32, width, heads, tokens, 1);
        positions = leaf_filled(s, GGML_TYPE_I32, NE(tokens, 1, 1, 1),
                                FILL_INTEGERS, 0, 500);
        cache = leaf_4d(s, type, width * heads * tokens, 3, 1, 1);
        x = ggml_rope(s->ctx, x, positions, dims, mode);
        suite_check(s,
                    ggml_cpy(s->ctx, x,
                             ggml_view_1d(s->ctx, cache, width * heads * tokens,
                                          cache->nb[1])),
                    1e-6 + limit_of_type(type));
    }
}

static struct ggml_tensor *
rotated(struct suite *s, struct ggml_tensor *x, int dims, int mode)
{
    struct ggml_tensor *positions = leaf_filled(
        s, GGML_TYPE_I32, NE(x->ne[2], 1, 1, 1), FILL_INTEGERS, 0, 500);

    return ggml_rope(s->ctx, x, positions, dims, mode);
}

/* X into a row of a cache, or into columns. */
static struct ggml_tensor *
stored(struct suite *s, struct ggml_tensor *x, enum ggml_type type,
       bool is_transposed)
{
    const int64_t n = ggml_nelements(x), width = x->ne[0];
    struct ggml_tensor *cache;

    if (is_transposed) {
        cache = leaf_4d(s, type, n / width + 5, width, 1, 1);
        return ggml_cpy(s->ctx, ggml_transpose(s->ctx, x),
                        ggml_view_2d(s->ctx, cache, n / width, width,
                                     cache->nb[1], 3 * cache->nb[0]));
    }
    cache = leaf_4d(s, type, n, 3, 1, 1);
    return ggml_cpy(s->ctx, x, ggml_view_1d(s->ctx, cache, n, cache->nb[1]));
}

/* A layer's rotations and stores, which have nothing to do with each other: a key
 * of KEYS with heads of WIDTH, a value of VALUES, and queries before or behind
 * them. */
static void
layer_stores(struct suite *s, enum ggml_type keys, enum ggml_type values,
             int64_t width, int64_t tokens, int mode)
{
    const double limit = 1e-6 + fmax(limit_of_type(keys), limit_of_type(values));
    const int dims = width > 64 ? (int)width / 2 : (int)width;
    struct ggml_tensor *q, *k, *v;

    for (int order = 0; order < 2; order++) {
        const bool is_transposed = order == 1 && ggml_blck_size(values) == 1;

        if (!suite_begin(s, GGML_OP_CPY))
            continue;
        q = leaf_4d(s, GGML_TYPE_F32, width, 3, tokens, 1);
        q = rotated(s, q, dims, mode);
        k = leaf_4d(s, GGML_TYPE_F32, width, 2, tokens, 1);
        k = stored(s, rotated(s, k, dims, mode), keys, false);
        v = leaf_4d(s, GGML_TYPE_F32, 2 * width, tokens, 1, 1);
        v = stored(s, v, values, is_transposed);
        suite_beside(s, order == 0 ? q : k);
        suite_beside(s, order == 0 ? k : q);
        suite_check(s, v, limit);
    }
}

/* Others that read what one of them makes: two copies of a rotation, and a
 * rotation of a rotation. */
static void
stores_of_stores(struct suite *s, enum ggml_type type)
{
    struct ggml_tensor *x, *y;

    if (suite_begin(s, GGML_OP_CPY)) {
        x = rotated(s, leaf_4d(s, GGML_TYPE_F32, 64, 3, 4, 1), 64, 0);
        suite_beside(s, stored(s, x, type, false));
        suite_check(s, stored(s, x, type, false), 1e-6 + limit_of_type(type));
    }
    if (suite_begin(s, GGML_OP_CPY)) {
        x = rotated(s, leaf_4d(s, GGML_TYPE_F32, 64, 3, 4, 1), 64, 0);
        y = rotated(s, x, 64, 0);
        suite_beside(s, stored(s, x, type, false));
        suite_check(s, stored(s, y, type, false), 1e-6 + limit_of_type(type));
    }
}

/* By number of elements; the blocks of a value that is a view of longer rows. */
static void
many_stores(struct suite *s)
{
    static const enum ggml_type types[] = {
        GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16, GGML_TYPE_Q8_0,
        GGML_TYPE_Q4_0, GGML_TYPE_Q4_1, GGML_TYPE_Q5_0, GGML_TYPE_Q5_1,
        GGML_TYPE_IQ4_NL
    };
    struct ggml_tensor *x, *k;

    for (int t = 0; t < LENGTH(types); t++) {
        const enum ggml_type next = types[(t + 1) % LENGTH(types)];

        layer_stores(s, types[t], types[t], 64, 1, 0);
        layer_stores(s, types[t], next, 96, 5, GGML_ROPE_TYPE_NEOX);
        layer_stores(s, next, types[t], 512, 3, 0);
        stores_of_stores(s, types[t]);
        if (!suite_begin(s, GGML_OP_CPY))
            continue;
        k = leaf_4d(s, GGML_TYPE_F32, 64, 2, 5, 1);
        suite_beside(s, stored(s, rotated(s, k, 64, 0), types[t], false));
        x = leaf_4d(s, GGML_TYPE_F32, 256, 5, 3, 1);
        x = ggml_view_3d(s->ctx, x, 192, 5, 3, x->nb[1], x->nb[2], 0);
        suite_check(s, stored(s, x, types[t], false),
                    1e-6 + limit_of_type(types[t]));
    }
    /* More than a launch takes, of which one is too long for a thread block's
     * shared memory. */
    if (suite_begin(s, GGML_OP_CPY)) {
        for (int i = 0; i < MAX_BESIDE; i++) {
            k = leaf_4d(s, GGML_TYPE_F32, i == 1 ? 544 : 32, 2, 3, 1);
            suite_beside(s, stored(s, rotated(s, k, 32, 0),
                                   i == 0 ? GGML_TYPE_F16 : GGML_TYPE_Q8_0,
                                   false));
        }
        k = leaf_4d(s, GGML_TYPE_F32, 33, 7, 1, 1);
        suite_check(s, stored(s, k, GGML_TYPE_F16, false),
                    1e-6 + limit_of_type(GGML_TYPE_Q8_0));
    }
}

static struct ggml_tensor *
slice(struct suite *s, struct ggml_tensor *x, int64_t i)
{
    return ggml_view_2d(s->ctx, x, x->ne[0], x->ne[2], x->nb[2],
                        (size_t)i * x->nb[1]);
}

/* What EXPERTS made of TOKENS, by their weights; or by weights that others than
 * experts have. */
static void
experts(struct suite *s, int64_t n, int experts, int64_t tokens,
        enum operand kind)
{
    const int64_t ne[] = { n, experts, tokens, 1 };
    struct ggml_tensor *x, *sum;

    if (!suite_begin(s, GGML_OP_ADD))
        return;
    x = leaf_range(s, GGML_TYPE_F32, ne, -3, 3);
    x = ggml_mul(s->ctx, x, operand(s, ne, kind));
    sum = ggml_add(s->ctx, slice(s, x, 0), slice(s, x, 1));
    for (int i = 2; i < experts; i++)
        sum = ggml_add(s->ctx, sum, slice(s, x, i));
    suite_check(s, sum, 1e-7);
}

/* Which of N experts TOKENS go to, and how much each of USED counts. */
static void
route(struct suite *s, int64_t n, int used, int64_t tokens, bool is_shared)
{
    struct ggml_tensor *values, *x;

    if (!suite_begin(s, is_shared ? GGML_OP_DIV : GGML_OP_GET_ROWS))
        return;
    x = leaf_filled(s, GGML_TYPE_F32, NE(n, tokens, 1, 1), FILL_DISTINCT, 0, 0);
    values = ggml_soft_max_ext(s->ctx, x, NULL, 8.0f / (float)n, 0);
    x = ggml_get_rows(s->ctx, ggml_reshape_3d(s->ctx, values, 1, n, tokens),
                      ggml_top_k(s->ctx, values, used));
    if (is_shared) {
        x = ggml_reshape_2d(s->ctx, x, used, tokens);
        x = ggml_div(s->ctx, x, ggml_sum_rows(s->ctx, x));
    }
    suite_check(s, x, 1e-7);
}

/* The feed-forward part of a mixture of experts: products that follow each other
 * with the same ids, with something between them that needs scratch itself, or
 * with other ids. */
static void
expert_layers(struct suite *s, enum ggml_type type)
{
    const int64_t k = 256, m = 256, n = 4, used = 2, tokens = 24;

    for (int kind = 0; kind < 3; kind++) {
        struct ggml_tensor *x, *ids, *other, *up, *gate;

        if (!suite_begin(s, GGML_OP_MUL_MAT_ID))
            continue;
        x = leaf_range(s, GGML_TYPE_F32, NE(k, 1, tokens, 1), -1, 1);
        ids = leaf_filled(s, GGML_TYPE_I32, NE(used, tokens, 1, 1),
                          FILL_INTEGERS, 0, (double)n);
        up = ggml_mul_mat_id(
            s->ctx, leaf_range(s, type, NE(k, m, n, 1), -1, 1), x, ids);
        other = up;
        if (kind == 1) {
            /* Of so few rows k is cut. */
            other = ggml_mul_mat(s->ctx, leaf_4d(s, type, 4096, 12, 1, 1),
                                 ggml_reshape_2d(s->ctx, up, 4096, 3));
            other = ggml_sum(s->ctx, ggml_sqr(s->ctx, other));
            other = ggml_mul(s->ctx, up, other);
        }
        if (kind == 2)
            ids = leaf_filled(s, GGML_TYPE_I32, NE(used, tokens, 1, 1),
                              FILL_INTEGERS, 0, (double)n);
        gate = ggml_mul_mat_id(
            s->ctx, leaf_range(s, type, NE(k, m, n, 1), -1, 1), x, ids);
        gate = ggml_mul(s->ctx, ggml_silu(s->ctx, gate), other);
        suite_check(s,
                    ggml_mul_mat_id(s->ctx,
                                    leaf_range(s, type, NE(m, 64, n, 1), -1, 1),
                                    gate, ids),
                    type == GGML_TYPE_F32 ? 1e-5 : 2e-2);
    }
}

/* Those that count least, by logits, and of a softmax with a mask. */
static void
other_routes(struct suite *s)
{
    const int64_t ne[] = { 40, 3, 1, 1 };

    for (int kind = 0; kind < 3; kind++) {
        struct ggml_tensor *values, *order, *x;

        if (!suite_begin(s, GGML_OP_GET_ROWS))
            continue;
        x = leaf_filled(s, GGML_TYPE_F32, ne, FILL_DISTINCT, 0, 0);
        values = kind < 2 ? ggml_soft_max_ext(s->ctx, x, NULL, 0.2f, 0)
                          : ggml_soft_max_ext(
                                s->ctx, x,
                                leaf_range(s, GGML_TYPE_F32, ne, -1, 1), 0.2f,
                                0);
        order = kind == 0 ? ggml_argsort(s->ctx, values, GGML_SORT_ORDER_ASC)
                          : ggml_top_k(s->ctx, values, 5);
        if (kind == 0)
            order = ggml_view_2d(s->ctx, order, 5, 3, order->nb[1], 0);
        x = ggml_reshape_3d(s->ctx, kind == 1 ? x : values, 1, 40, 3);
        suite_check(s, ggml_get_rows(s->ctx, x, order), 1e-7);
    }
}

/* Sums in another order, of a slice twice, of half slices, and of slices of what
 * was not multiplied. */
static void
other_slices(struct suite *s)
{
    const int64_t ne[] = { 64, 4, 3, 1 };
    struct ggml_tensor *x, *y;

    if (suite_begin(s, GGML_OP_ADD)) {
        x = leaf_range(s, GGML_TYPE_F32, ne, -3, 3);
        x = ggml_mul(s->ctx, x, operand(s, ne, ONE_COLUMN));
        y = ggml_add(s->ctx, slice(s, x, 3), slice(s, x, 1));
        suite_check(s, ggml_add(s->ctx, slice(s, x, 3), y), 1e-7);
    }
    if (suite_begin(s, GGML_OP_ADD)) {
        x = leaf_range(s, GGML_TYPE_F32, ne, -3, 3);
        x = ggml_mul(s->ctx, x, operand(s, ne, ONE_COLUMN));
        y = ggml_view_2d(s->ctx, x, 32, 3, x->nb[2], 0);
        suite_check(s,
                    ggml_add(s->ctx, y,
                             ggml_view_2d(s->ctx, x, 32, 3, x->nb[2],
                                          x->nb[1] + 128)),
                    1e-7);
    }
    if (suite_begin(s, GGML_OP_ADD)) {
        x = leaf_range(s, GGML_TYPE_F32, ne, -3, 3);
        y = ggml_mul(s->ctx, x, operand(s, ne, ONE_COLUMN));
        suite_check(s, ggml_add(s->ctx, slice(s, y, 0), slice(s, x, 1)), 1e-7);
    }
}

/* The masks that nodes of their own are. */
enum mask { NO_MASK, DIAGONAL, ADDED_ROW, ADDED, N_MASKS };

static struct ggml_tensor *
masked(struct suite *s, struct ggml_tensor *x, enum mask kind)
{
    switch (kind) {
    case DIAGONAL:
        return ggml_diag_mask_inf(s->ctx, x, 2);
    case ADDED_ROW:
        return ggml_add(s->ctx, x, operand(s, x->ne, ONE_ROW));
    case ADDED:
        return ggml_add(s->ctx, operand(s, x->ne, ALL_ROWS), x);
    default:
        return x;
    }
}

static void
soft_maxima(struct suite *s, const int64_t ne[4])
{
    for (int scaled = 0; scaled < 2; scaled++) {
        for (int kind = 0; kind < N_MASKS; kind++) {
            struct ggml_tensor *x;

            if (!suite_begin(s, GGML_OP_SOFT_MAX))
                continue;
            x = leaf_range(s, GGML_TYPE_F32, ne, -10, 10);
            if (scaled)
                x = ggml_scale(s->ctx, x, 0.3f);
            x = masked(s, x, (enum mask)kind);
            suite_check(s, ggml_soft_max_ext(s->ctx, x, NULL, 0.7f, 0), 1e-7);
        }
    }
}

/* A mask of each column, scores that are added to themselves, a softmax that has
 * a mask besides, zeros in the place of minus infinity, and one row of scores for
 * all rows of a mask. */
static void
other_soft_maxima(struct suite *s)
{
    const int64_t ne[] = { 40, 3, 1, 1 };

    for (int kind = 0; kind < 5; kind++) {
        struct ggml_tensor *x, *mask = NULL;

        if (!suite_begin(s, GGML_OP_SOFT_MAX))
            continue;
        x = leaf_range(s, GGML_TYPE_F32, ne, -3, 3);
        x = ggml_scale(s->ctx, kind == 4 ? operand(s, ne, ONE_ROW) : x, 0.3f);
        if (kind == 0)
            x = ggml_add(s->ctx, x, operand(s, ne, ONE_COLUMN));
        else if (kind == 1)
            x = ggml_add(s->ctx, x, x);
        else if (kind == 2)
            mask = leaf_range(s, GGML_TYPE_F32, ne, -1, 1);
        else if (kind == 3)
            x = ggml_diag_mask_zero(s->ctx, x, 1);
        else
            x = ggml_add(s->ctx, operand(s, ne, ALL_ROWS), x);
        suite_check(s, ggml_soft_max_ext(s->ctx, x, mask, 0.7f, 0), 1e-7);
    }
}

void
cases_chains(struct suite *s)
{
    static const enum ggml_unary_op functions[] = {
        GGML_UNARY_OP_SILU, GGML_UNARY_OP_GELU, GGML_UNARY_OP_RELU,
        GGML_UNARY_OP_SIGMOID
    };
    static const enum ggml_type types[] = { GGML_TYPE_F32, GGML_TYPE_F16,
                                            GGML_TYPE_BF16, GGML_TYPE_Q8_0 };

    for (int i = 0; i < LENGTH(shapes); i++) {
        for (int rms = 0; rms < 2; rms++) {
            for (int kind = 0; kind < N_OPERANDS; kind++) {
                /* A row of one value is all cancellation. */
                if (rms || shapes[i][0] > 1)
                    norms(s, shapes[i], rms, (enum operand)kind);
            }
        }
        for (int f = 0; f < LENGTH(functions); f++)
            gates(s, shapes[i], functions[f]);
    }
    for (int rms = 0; rms < 2; rms++) {
        for (int n = 1; n <= 9; n += 8) {
            picked_rows(s, 64, n, rms);
            picked_rows(s, 576, n, rms);
            picked_rows(s, 1025, n, rms);
        }
    }
    other_picked_rows(s);
    products(s);
    feed_forward(s, GGML_TYPE_F32, GGML_TYPE_F32);
    feed_forward(s, GGML_TYPE_Q8_0, GGML_TYPE_Q8_0);
    feed_forward(s, GGML_TYPE_Q4_K, GGML_TYPE_Q6_K);
    feed_forward(s, GGML_TYPE_F16, GGML_TYPE_F16);
    for (int t = 0; t < LENGTH(types); t++)
        made_columns(s, types[t]);
    layer_products(s);
    for (int t = 0; t < LENGTH(types); t++) {
        stores(s, types[t], 0);
        stores(s, types[t], GGML_ROPE_TYPE_NEOX);
    }
    many_stores(s);
    for (int n = 2; n <= 7; n++)
        for (int kind = 0; kind < N_OPERANDS; kind++)
            experts(s, n % 2 == 0 ? 64 : 33, n, n == 2 ? 1 : 3,
                    (enum operand)kind);
    experts(s, 300, 8, 2, ONE_COLUMN);
    experts(s, 64, 10, 2, ONE_COLUMN);
    other_slices(s);
    for (int shared = 0; shared < 2; shared++) {
        route(s, 8, 2, 1, shared == 1);
        route(s, 60, 4, 5, shared == 1);
        route(s, 128, 8, 3, shared == 1);
        route(s, 300, 40, 2, shared == 1);
        route(s, 600, 6, 2, shared == 1);
    }
    other_routes(s);
    expert_layers(s, GGML_TYPE_F32);
    expert_layers(s, GGML_TYPE_F16);
    expert_layers(s, GGML_TYPE_Q4_K);
    for (int i = 0; i < LENGTH(shapes); i++)
        soft_maxima(s, shapes[i]);
    other_soft_maxima(s);
}
