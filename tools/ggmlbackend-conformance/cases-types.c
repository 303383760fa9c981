/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-conformance/cases-types.c - types that clients seldom give an operation,
 * and rows longer than a sort or a sum does at once.
 */
#include "tools/ggmlbackend-conformance/suite.h"

#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define NE(...)       ((const int64_t[]){ __VA_ARGS__ })

static void
halves(struct suite *s, enum ggml_type type)
{
    static const int64_t lengths[] = { 33, 700 };

    for (int i = 0; i < LENGTH(lengths); i++) {
        const int64_t *ne = NE(lengths[i], 5, 2, 1);

        if (suite_begin(s, GGML_OP_ARGMAX))
            suite_check(s,
                        ggml_argmax(s->ctx,
                                    leaf_filled(s, type, NE(lengths[i], 5, 1, 1),
                                                FILL_DISTINCT, 0, 0)),
                        0);
        if (suite_begin(s, GGML_OP_SUM_ROWS))
            suite_check(s, ggml_sum_rows(s->ctx, leaf_range(s, type, ne, 0, 1)),
                        limit_of_type(type));
    }
    if (suite_begin(s, GGML_OP_GET_ROWS_BACK))
        suite_check(s,
                    ggml_get_rows_back(
                        s->ctx, leaf_range(s, type, NE(65, 6, 1, 1), 0.1, 1),
                        leaf_filled(s, GGML_TYPE_I32, NE(6, 1, 1, 1),
                                    FILL_INTEGERS, 0, 4),
                        ggml_new_tensor_2d(s->ctx, GGML_TYPE_F32, 65, 4)),
                    1e-7);
}

/* From TYPE to F32 too, which no builder makes. */
static void
rotations(struct suite *s, enum ggml_type type)
{
    for (int mixed = 0; mixed < 2; mixed++) {
        struct ggml_tensor *a, *node;

        if (!suite_begin(s, GGML_OP_ROPE))
            continue;
        a = leaf_range(s, type, NE(64, 4, 3, 1), -1, 1);
        node = ggml_rope(s->ctx, a,
                         leaf_filled(s, GGML_TYPE_I32, NE(3, 1, 1, 1),
                                     FILL_INTEGERS, 0, 500),
                         64, 0);
        if (mixed) {
            const struct ggml_tensor *like =
                ggml_new_tensor(s->ctx, GGML_TYPE_F32, 4, node->ne);

            node->type = GGML_TYPE_F32;
            for (int i = 0; i < GGML_MAX_DIMS; i++)
                node->nb[i] = like->nb[i];
        }
        suite_check(s, node, limit_of_type(node->type));
    }
}

static void
activations(struct suite *s)
{
    static const enum ggml_type types[] = { GGML_TYPE_Q8_1, GGML_TYPE_Q8_K };

    for (int i = 0; i < LENGTH(types); i++) {
        if (suite_begin(s, GGML_OP_CPY))
            suite_check(s,
                        ggml_cpy(s->ctx,
                                 leaf_4d(s, GGML_TYPE_F32, 512, 3, 1, 1),
                                 leaf_4d(s, types[i], 512, 3, 1, 1)),
                        limit_of_type(types[i]));
    }
}

static void
long_rows(struct suite *s)
{
    if (suite_begin(s, GGML_OP_ARGSORT))
        suite_check(s,
                    ggml_argsort(s->ctx,
                                 leaf_filled(s, GGML_TYPE_F32, NE(9001, 2, 1, 1),
                                             FILL_DISTINCT, 0, 0),
                                 GGML_SORT_ORDER_DESC),
                    0);
    if (suite_begin(s, GGML_OP_REPEAT_BACK))
        suite_check(s,
                    ggml_repeat_back(
                        s->ctx,
                        leaf_range(s, GGML_TYPE_F32, NE(4, 3000, 1, 1), 0, 1),
                        ggml_new_tensor_2d(s->ctx, GGML_TYPE_F32, 4, 1)),
                    1e-7);
}

void
cases_types(struct suite *s)
{
    static const enum ggml_type types[] = { GGML_TYPE_F16, GGML_TYPE_BF16 };

    for (int i = 0; i < LENGTH(types); i++) {
        halves(s, types[i]);
        rotations(s, types[i]);
    }
    activations(s);
    long_rows(s);
}
