/* SPDX-License-Identifier: MIT */
/*
 * levels/level-2023-ops.c - which of today's nodes a core of 2023 could make.
 *
 * For backends of that time that do not say what they support: they were never
 * asked, so they take every node for one whose form they know.
 */
#include "config.h"

#include "lib/levels/level-2023.h"

/* What became of an operation since. */
enum form {
    NEW = 0,   /* it did not exist, or took other sources or parameters */
    SAME,      /* it is as it was */
    NARROWER   /* it was there with fewer sources or choices: has_old_form */
};

static const unsigned char forms[GGML_OP_COUNT] = {
    [GGML_OP_NONE] = SAME,
    [GGML_OP_DUP] = SAME,
    [GGML_OP_ADD] = SAME,
    [GGML_OP_ADD1] = SAME,
    [GGML_OP_ACC] = SAME,
    [GGML_OP_SUB] = SAME,
    [GGML_OP_MUL] = SAME,
    [GGML_OP_DIV] = SAME,
    [GGML_OP_SQR] = SAME,
    [GGML_OP_SQRT] = SAME,
    [GGML_OP_LOG] = SAME,
    [GGML_OP_SUM] = SAME,
    [GGML_OP_SUM_ROWS] = SAME,
    [GGML_OP_MEAN] = SAME,
    [GGML_OP_ARGMAX] = SAME,
    [GGML_OP_REPEAT] = SAME,
    [GGML_OP_REPEAT_BACK] = SAME,
    [GGML_OP_CONCAT] = NARROWER,
    [GGML_OP_SILU_BACK] = SAME,
    [GGML_OP_NORM] = SAME,
    [GGML_OP_RMS_NORM] = SAME,
    [GGML_OP_RMS_NORM_BACK] = SAME,
    [GGML_OP_MUL_MAT] = SAME,
    [GGML_OP_OUT_PROD] = SAME,
    [GGML_OP_SET] = SAME,
    [GGML_OP_CPY] = SAME,
    [GGML_OP_CONT] = SAME,
    [GGML_OP_RESHAPE] = SAME,
    [GGML_OP_VIEW] = SAME,
    [GGML_OP_PERMUTE] = SAME,
    [GGML_OP_TRANSPOSE] = SAME,
    [GGML_OP_GET_ROWS] = SAME,
    [GGML_OP_GET_ROWS_BACK] = SAME,
    [GGML_OP_DIAG] = SAME,
    [GGML_OP_DIAG_MASK_INF] = SAME,
    [GGML_OP_DIAG_MASK_ZERO] = SAME,
    [GGML_OP_SOFT_MAX] = NARROWER,
    [GGML_OP_ROPE] = NARROWER,
    [GGML_OP_CLAMP] = SAME,
    [GGML_OP_CONV_TRANSPOSE_1D] = SAME,
    [GGML_OP_CONV_TRANSPOSE_2D] = SAME,
    [GGML_OP_POOL_1D] = SAME,
    [GGML_OP_POOL_2D] = SAME,
    [GGML_OP_WIN_PART] = SAME,
    [GGML_OP_WIN_UNPART] = SAME,
    [GGML_OP_GET_REL_POS] = SAME,
    [GGML_OP_ADD_REL_POS] = SAME,
    [GGML_OP_UNARY] = NARROWER,
    [GGML_OP_CROSS_ENTROPY_LOSS] = SAME,
};

/* Functions of one value that there were. */
static bool
unary_is_known(enum ggml_unary_op op)
{
    return op <= GGML_UNARY_OP_SILU && op != GGML_UNARY_OP_SIGMOID;
}

static bool
has_old_form(const struct ggml_tensor *op)
{
    switch (op->op) {
    case GGML_OP_CONCAT: /* along dimension 2 */
        return ggml_get_op_params_i32(op, 0) == 2;
    case GGML_OP_SOFT_MAX: /* no mask, no scale, no bias */
        return op->src[1] == NULL && ggml_get_op_params_f32(op, 0) == 1.0f &&
               ggml_get_op_params_f32(op, 1) == 0.0f;
    case GGML_OP_ROPE: /* no factors; mode: neighbours or halves */
        return op->src[2] == NULL &&
               (ggml_get_op_params_i32(op, 2) & ~GGML_ROPE_TYPE_NEOX) == 0;
    case GGML_OP_UNARY:
        return unary_is_known(ggml_get_unary_op(op));
    default:
        return false;
    }
}

/* Types up to the blocks of 256 were there, and the integers but I64. */
static bool
type_is_known(enum ggml_type type)
{
    return type <= GGML_TYPE_Q8_K ||
           (type >= GGML_TYPE_I8 && type <= GGML_TYPE_I32);
}

bool
gb_2023_op_is_known(const struct ggml_tensor *op)
{
    if (op->op >= GGML_OP_COUNT || !type_is_known(op->type))
        return false;
    for (int i = 0; i < GGML_MAX_SRC; i++)
        if (op->src[i] != NULL && !type_is_known(op->src[i]->type))
            return false;
    return forms[op->op] == SAME ||
           (forms[op->op] == NARROWER && has_old_form(op));
}
