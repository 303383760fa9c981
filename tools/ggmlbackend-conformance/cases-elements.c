/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-conformance/cases-elements.c - arithmetic and functions of one value.
 */
#include "tools/ggmlbackend-conformance/suite.h"

#include <string.h>

#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))

static const int64_t shapes[][4] = {
    { 1, 1, 1, 1 },  { 5, 1, 1, 1 },  { 16, 5, 4, 3 }, { 17, 3, 2, 2 },
    { 64, 7, 1, 1 }, { 33, 1, 5, 2 }, { 257, 2, 1, 3 }, { 0, 4, 1, 1 },
    { 10, 0, 2, 1 }, { 1, 31, 2, 1 }, { 128, 4, 4, 1 }, { 1000, 3, 1, 1 },
};

/* What B's dimensions are divided by: B is repeated into A. */
static const int64_t repeats[][4] = {
    { 1, 1, 1, 1 }, { 1, 5, 1, 1 }, { 1, 5, 4, 1 }, { 1, 5, 4, 3 },
    { 16, 1, 1, 1 }, { 16, 5, 1, 1 }, { 1, 1, 4, 1 }, { 1, 1, 1, 3 },
    { 4, 5, 2, 3 }, { 8, 1, 2, 1 }, { 16, 5, 4, 3 }, { 2, 1, 1, 1 },
};

typedef struct ggml_tensor *(*binary_fn)(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b);

static const struct {
    enum ggml_op op;
    binary_fn make, make_inplace;
    double low, high;
} binaries[] = {
    { GGML_OP_ADD, ggml_add, ggml_add_inplace, -1, 1 },
    { GGML_OP_SUB, ggml_sub, ggml_sub_inplace, -1, 1 },
    { GGML_OP_MUL, ggml_mul, ggml_mul_inplace, 0.9, 1.1 },
    { GGML_OP_DIV, ggml_div, ggml_div_inplace, 0.9, 1.1 },
};

static void
binary_of(struct suite *s, int i, enum ggml_type type)
{
    const double limit = limit_of_type(type);

    for (int j = 0; j < LENGTH(shapes); j++) {
        if (suite_begin(s, binaries[i].op))
            suite_check(s,
                        binaries[i].make(
                            s->ctx,
                            leaf_range(s, type, shapes[j], binaries[i].low,
                                       binaries[i].high),
                            leaf_range(s, type, shapes[j], binaries[i].low,
                                       binaries[i].high)),
                        limit);
    }
    for (int j = 0; j < LENGTH(repeats); j++) {
        const int64_t ne[] = { 16, 5, 4, 3 };
        const int64_t small[] = { 16 / repeats[j][0], 5 / repeats[j][1],
                                  4 / repeats[j][2], 3 / repeats[j][3] };

        for (int inplace = 0; inplace < 2; inplace++) {
            if (suite_begin(s, binaries[i].op))
                suite_check(s,
                            (inplace ? binaries[i].make_inplace
                                     : binaries[i].make)(
                                s->ctx,
                                leaf_range(s, type, ne, binaries[i].low,
                                           binaries[i].high),
                                leaf_range(s, type, small, binaries[i].low,
                                           binaries[i].high)),
                            limit);
        }
    }
}

/* Strided operands: permuted, and every second row. */
static void
binary_strided(struct suite *s, int i)
{
    static const int orders[][4] = {
        { 1, 0, 2, 3 }, { 0, 2, 1, 3 }, { 2, 1, 0, 3 }, { 3, 1, 2, 0 },
        { 0, 3, 2, 1 }, { 1, 2, 3, 0 },
    };

    for (int j = 0; j < LENGTH(orders); j++) {
        const int *o = orders[j];

        if (suite_begin(s, binaries[i].op)) {
            const int64_t ne[] = { 6, 5, 4, 3 };
            struct ggml_tensor *b = ggml_permute(
                s->ctx,
                leaf_range(s, GGML_TYPE_F32, ne, binaries[i].low,
                           binaries[i].high),
                o[0], o[1], o[2], o[3]);
            struct ggml_tensor *a = leaf_range(
                s, GGML_TYPE_F32, b->ne, binaries[i].low, binaries[i].high);

            suite_check(s, binaries[i].make(s->ctx, a, b), 1e-7);
        }
        /* A's rows stay whole: its dimension 0 does not move. */
        if (o[0] == 0 && suite_begin(s, binaries[i].op)) {
            const int64_t ne[] = { 6, 5, 4, 3 };
            struct ggml_tensor *a = ggml_permute(
                s->ctx,
                leaf_range(s, GGML_TYPE_F32, ne, binaries[i].low,
                           binaries[i].high),
                o[0], o[1], o[2], o[3]);
            struct ggml_tensor *b = leaf_range(
                s, GGML_TYPE_F32, a->ne, binaries[i].low, binaries[i].high);

            suite_check(s, binaries[i].make(s->ctx, a, b), 1e-7);
        }
    }
}

/* Sums of unequal types. */
static void
mixed_sums(struct suite *s)
{
    static const enum ggml_type pairs[][2] = {
        { GGML_TYPE_F16, GGML_TYPE_F32 },
        { GGML_TYPE_BF16, GGML_TYPE_F32 },
        { GGML_TYPE_BF16, GGML_TYPE_BF16 },
    };
    static const enum ggml_type quantized[] = {
        GGML_TYPE_Q4_0, GGML_TYPE_Q4_1, GGML_TYPE_Q5_0, GGML_TYPE_Q5_1,
        GGML_TYPE_Q8_0, GGML_TYPE_Q2_K, GGML_TYPE_Q3_K, GGML_TYPE_Q4_K,
        GGML_TYPE_Q5_K, GGML_TYPE_Q6_K, GGML_TYPE_IQ4_NL, GGML_TYPE_IQ4_XS,
        GGML_TYPE_TQ1_0, GGML_TYPE_TQ2_0,
    };
    static const int64_t whole[][4] = {
        { 32, 4, 1, 1 }, { 64, 3, 2, 2 }, { 7, 5, 1, 1 }, { 256, 2, 3, 1 },
    };

    for (int i = 0; i < LENGTH(pairs); i++)
        for (int j = 0; j < LENGTH(whole); j++) {
            if (suite_begin(s, GGML_OP_ADD))
                suite_check(s,
                            ggml_add(s->ctx,
                                     leaf_range(s, pairs[i][0], whole[j], -1, 1),
                                     leaf_range(s, pairs[i][1], whole[j], -1,
                                                1)),
                            limit_of_type(pairs[i][0]));
        }
    for (int i = 0; i < LENGTH(quantized); i++)
        for (int n = 1; n <= 3; n++) {
            const int64_t ne[] = { 256 * n, 3, n, 1 };

            if (suite_begin(s, GGML_OP_ADD))
                suite_check(
                    s,
                    ggml_add(s->ctx, leaf_range(s, quantized[i], ne, -1, 1),
                             leaf_range(s, GGML_TYPE_F32, ne, -0.1, 0.1)),
                    2 * limit_of_type(quantized[i]));
            if (suite_begin(s, GGML_OP_ADD))
                suite_check(
                    s,
                    ggml_add_cast(s->ctx, leaf_range(s, quantized[i], ne, -1, 1),
                                  leaf_range(s, GGML_TYPE_F32, ne, -1, 1),
                                  GGML_TYPE_F32),
                    1e-7);
        }
    for (int j = 0; j < LENGTH(whole); j++) {
        if (suite_begin(s, GGML_OP_ADD))
            suite_check(s,
                        ggml_add_cast(
                            s->ctx,
                            leaf_range(s, GGML_TYPE_F16, whole[j], -1, 1),
                            leaf_range(s, GGML_TYPE_F32, whole[j], -1, 1),
                            GGML_TYPE_F32),
                        1e-7);
    }
}

static void
scalars_added(struct suite *s)
{
    static const enum ggml_type pairs[][2] = {
        { GGML_TYPE_F32, GGML_TYPE_F32 },  { GGML_TYPE_F16, GGML_TYPE_F16 },
        { GGML_TYPE_F16, GGML_TYPE_F32 },  { GGML_TYPE_BF16, GGML_TYPE_BF16 },
        { GGML_TYPE_BF16, GGML_TYPE_F32 }, { GGML_TYPE_Q8_0, GGML_TYPE_F32 },
        { GGML_TYPE_Q4_1, GGML_TYPE_F32 },
    };
    static const int64_t ne[][4] = {
        { 32, 1, 1, 1 }, { 64, 5, 2, 1 }, { 96, 3, 2, 2 },
    };

    for (int i = 0; i < LENGTH(pairs); i++)
        for (int j = 0; j < LENGTH(ne); j++)
            for (int inplace = 0; inplace < 2; inplace++) {
                if (!suite_begin(s, GGML_OP_ADD1))
                    continue;
                suite_check(
                    s,
                    (inplace ? ggml_add1_inplace : ggml_add1)(
                        s->ctx, leaf_range(s, pairs[i][0], ne[j], -1, 1),
                        leaf_4d(s, pairs[i][1], 1, 1, 1, 1)),
                    2 * limit_of_type(pairs[i][0]));
            }
}

static void
subviews(struct suite *s)
{
    static const int64_t ne[][4] = {
        { 16, 8, 4, 2 }, { 33, 5, 1, 1 }, { 7, 3, 5, 2 },
    };

    for (int i = 0; i < LENGTH(ne); i++)
        for (int inplace = 0; inplace < 2; inplace++) {
            const int64_t small[] = { ne[i][0] / 2, ne[i][1] / 2 + 1,
                                      (ne[i][2] + 1) / 2, 1 };
            const size_t nb1 = (size_t)ne[i][0] * 4;
            const size_t nb2 = nb1 * (size_t)ne[i][1];
            const size_t nb3 = nb2 * (size_t)ne[i][2];
            const size_t offset = 4 * (size_t)(ne[i][0] / 3);

            if (suite_begin(s, GGML_OP_ACC))
                suite_check(s,
                            (inplace ? ggml_acc_inplace : ggml_acc)(
                                s->ctx,
                                leaf_range(s, GGML_TYPE_F32, ne[i], -1, 1),
                                leaf_range(s, GGML_TYPE_F32, small, -1, 1), nb1,
                                nb2, nb3, offset),
                            1e-7);
            for (int ints = 0; ints < 2; ints++) {
                const enum ggml_type type = ints ? GGML_TYPE_I32 : GGML_TYPE_F32;

                if (suite_begin(s, GGML_OP_SET))
                    suite_check(s,
                                (inplace ? ggml_set_inplace : ggml_set)(
                                    s->ctx,
                                    leaf_range(s, type, ne[i], -100, 100),
                                    leaf_range(s, type, small, -100, 100), nb1,
                                    nb2, nb3, offset),
                                0);
            }
        }
}

typedef struct ggml_tensor *(*unary_fn)(
    struct ggml_context *ctx, struct ggml_tensor *a);

static const struct {
    enum ggml_op op;
    unary_fn make, make_inplace;
    double low, high;
} functions[] = {
    { GGML_OP_SQR, ggml_sqr, ggml_sqr_inplace, -1, 1 },
    { GGML_OP_SQRT, ggml_sqrt, ggml_sqrt_inplace, 50, 100 },
    { GGML_OP_LOG, ggml_log, ggml_log_inplace, 0.9, 1.1 },
    { GGML_OP_SIN, ggml_sin, ggml_sin_inplace, -6.5, 6.5 },
    { GGML_OP_COS, ggml_cos, ggml_cos_inplace, -6.5, 6.5 },
};

/* A tensor whose rows are the first third of longer rows. */
static struct ggml_tensor *
narrow(struct suite *s, enum ggml_type type, const int64_t ne[4], double low,
       double high)
{
    const int64_t wide[] = { 3 * ne[0], ne[1], ne[2], ne[3] };
    struct ggml_tensor *t = leaf_range(s, type, wide, low, high);

    return ggml_view_4d(s->ctx, t, ne[0], ne[1], ne[2], ne[3], t->nb[1],
                        t->nb[2], t->nb[3], 0);
}

/* Are rows with gaps still rows of one matrix for every operation? */
static bool
can_be_narrow(const int64_t ne[4])
{
    return ne[0] > 0 && (ne[1] > 1 || ne[2] * ne[3] == 1);
}

static void
one_value(struct suite *s)
{
    static const enum ggml_type types[] = { GGML_TYPE_F32, GGML_TYPE_F16 };

    for (int t = 0; t < 2; t++)
        for (int j = 0; j < LENGTH(shapes); j++) {
            for (int i = 0; i < LENGTH(functions); i++)
                for (int how = 0; how < 3; how++) {
                    if (!suite_begin(s, functions[i].op))
                        continue;
                    suite_check(
                        s,
                        (how == 1 ? functions[i].make_inplace
                                  : functions[i].make)(
                            s->ctx,
                            (how == 2 && can_be_narrow(shapes[j]) ? narrow
                                                          : leaf_range)(
                                s, types[t], shapes[j], functions[i].low,
                                functions[i].high)),
                        limit_of_type(types[t]));
                }
            for (int u = 0; u < GGML_UNARY_OP_COUNT; u++)
                for (int how = 0; how < 3; how++) {
                    const double far = u == GGML_UNARY_OP_EXP ? 10
                                       : how == 1             ? 4
                                                              : 150;

                    if (!suite_begin_unary(s, (enum ggml_unary_op)u))
                        continue;
                    suite_check(
                        s,
                        (how == 1 ? ggml_unary_inplace : ggml_unary)(
                            s->ctx,
                            (how == 2 && can_be_narrow(shapes[j]) ? narrow
                                                          : leaf_range)(
                                s, types[t], shapes[j], -far, far),
                            (enum ggml_unary_op)u),
                        limit_of_type(types[t]));
                }
        }
}

static void
with_parameters(struct suite *s)
{
    static const enum ggml_type types[] = { GGML_TYPE_F32, GGML_TYPE_F16 };

    for (int j = 0; j < LENGTH(shapes); j++) {
        for (int inplace = 0; inplace < 2; inplace++) {
            if (suite_begin(s, GGML_OP_SCALE))
                suite_check(s,
                            (inplace ? ggml_scale_inplace : ggml_scale)(
                                s->ctx,
                                leaf_range(s, GGML_TYPE_F32, shapes[j], -1, 1),
                                -2.5f),
                            1e-7);
        }
        for (int t = 0; t < 2; t++) {
            if (suite_begin(s, GGML_OP_CLAMP))
                suite_check(s,
                            ggml_clamp(s->ctx,
                                       leaf_range(s, types[t], shapes[j], -2,
                                                  2),
                                       -0.5f, 0.75f),
                            limit_of_type(types[t]));
            for (int inplace = 0; inplace < 2; inplace++) {
                if (suite_begin(s, GGML_OP_LEAKY_RELU))
                    suite_check(s,
                                ggml_leaky_relu(s->ctx,
                                                leaf_range(s, types[t],
                                                           shapes[j], -2, 2),
                                                0.1f, inplace),
                                limit_of_type(types[t]));
            }
            if (suite_begin(s, GGML_OP_SILU_BACK))
                suite_check(
                    s,
                    ggml_silu_back(s->ctx,
                                   leaf_range(s, types[t], shapes[j], -1, 1),
                                   leaf_range(s, types[t], shapes[j], -5, 5)),
                    limit_of_type(types[t]));
        }
        if (suite_begin(s, GGML_OP_OPT_STEP_ADAMW)) {
            struct ggml_tensor *w =
                leaf_range(s, GGML_TYPE_F32, shapes[j], 0, 1);
            struct ggml_tensor *grad =
                leaf_range(s, GGML_TYPE_F32, shapes[j], 0, 1);
            struct ggml_tensor *m =
                leaf_range(s, GGML_TYPE_F32, shapes[j], 0, 1);
            struct ggml_tensor *v =
                leaf_range(s, GGML_TYPE_F32, shapes[j], 0, 1);
            struct ggml_tensor *p = leaf_range(
                s, GGML_TYPE_F32, (const int64_t[]){ 7, 1, 1, 1 }, 0.1, 0.9);

            ggml_set_param(s->ctx, w);
            suite_check(s, ggml_opt_step_adamw(s->ctx, w, grad, m, v, p),
                        1e-7);
        }
    }
}

void
cases_elements(struct suite *s)
{
    for (int i = 0; i < LENGTH(binaries); i++) {
        binary_of(s, i, GGML_TYPE_F32);
        binary_of(s, i, GGML_TYPE_F16);
        binary_strided(s, i);
    }
    mixed_sums(s);
    scalars_added(s);
    subviews(s);
    one_value(s);
    with_parameters(s);
}
