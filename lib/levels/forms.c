/* SPDX-License-Identifier: MIT */
/*
 * levels/forms.c - which of today's nodes mean the same at an older level.
 *
 * The questions are about what a level's own core accepted, or what all that it
 * computed with: where the core took more than any backend of that time could,
 * its computation counts.
 */
#include "config.h"

#include "lib/levels/forms.h"

#include "ggml-impl.h"

/* ---- questions to a node ---- */

typedef bool (*form_fn)(const struct ggml_tensor *op);

static bool
same(const struct ggml_tensor *op)
{
    (void)op;
    return true;
}

#define unknown NULL

static bool
has_sources(const struct ggml_tensor *op, int n)
{
    for (int i = 0; i < n; i++)
        if (op->src[i] == NULL)
            return false;
    return true;
}

/* Floats became numbers of any type; others were copied as they lay. */
static bool
moves_floats(const struct ggml_tensor *op)
{
    const struct ggml_tensor *src = op->src[0];

    if (src == NULL)
        return false;
    return src->type == GGML_TYPE_F32 || src->type == GGML_TYPE_F16 ||
           (src->type == op->type && ggml_is_contiguous(src) &&
            ggml_is_contiguous(op));
}

/* The second source was repeated by rows, not within a row. */
static bool
repeats_rows(const struct ggml_tensor *op)
{
    return has_sources(op, 2) && op->src[0]->ne[0] == op->src[1]->ne[0];
}

static bool
repeats_nothing(const struct ggml_tensor *op)
{
    return has_sources(op, 2) && ggml_are_same_shape(op->src[0], op->src[1]);
}

/* Repeated planes could be built but were not computed. */
static bool
repeats_no_plane(const struct ggml_tensor *op)
{
    return has_sources(op, 2) && op->src[0]->ne[2] == op->src[1]->ne[2] &&
           op->src[0]->ne[3] == op->src[1]->ne[3];
}

/* The only dimension there was to join along. */
static bool
joins_planes(const struct ggml_tensor *op)
{
    return ggml_get_op_params_i32(op, 0) == 2;
}

/* A constant of the kernels. */
static bool
has_old_epsilon(const struct ggml_tensor *op)
{
    return ggml_get_op_params_f32(op, 1) == 1e-6f;
}

/* Nobody could ask for sums in F32. */
static bool
has_any_precision(const struct ggml_tensor *op)
{
    return ggml_get_op_params_i32(op, 0) == GGML_PREC_DEFAULT;
}

/* One list of rows of one matrix, which became floats. */
static bool
takes_rows_once(const struct ggml_tensor *op)
{
    return has_sources(op, 2) && ggml_is_matrix(op->src[0]) &&
           ggml_is_vector(op->src[1]) && op->type == GGML_TYPE_F32;
}

static bool
is_unscaled(const struct ggml_tensor *op)
{
    return ggml_get_op_params_f32(op, 0) == 1.0f &&
           ggml_get_op_params_f32(op, 1) == 0.0f;
}

static bool
is_plain(const struct ggml_tensor *op)
{
    return op->src[1] == NULL && is_unscaled(op);
}

/* A position a token; pairs of neighbours, or of NEOX mode. */
static bool
rotates_pairs(const struct ggml_tensor *op)
{
    return (ggml_get_op_params_i32(op, 2) & ~GGML_ROPE_TYPE_NEOX) == 0;
}

/*
 * All of a row was rotated, by frequencies without factors of their own.  NEOX
 * mode scaled the angles twice and had another ramp.  The last parameters were
 * the base and direction of another kind of scaling.
 */
static bool
rotates_whole_rows(const struct ggml_tensor *op)
{
    for (uint32_t i = 11; i < 15; i++)
        if (ggml_get_op_params_i32(op, i) != 0)
            return false;
    if (!rotates_pairs(op) || !has_sources(op, 2) || op->src[2] != NULL ||
        ggml_get_op_params_i32(op, 1) != op->src[0]->ne[0])
        return false;
    return ggml_get_op_params_i32(op, 2) == 0 ||
           (ggml_get_op_params_f32(op, 6) == 1.0f &&
            ggml_get_op_params_f32(op, 7) == 0.0f);
}

static bool
gives_halves(const struct ggml_tensor *op)
{
    return has_sources(op, 2) && op->type == GGML_TYPE_F16 &&
           op->src[0]->type == GGML_TYPE_F16 &&
           op->src[1]->type == GGML_TYPE_F32;
}

static bool
has_two_dims(const struct ggml_tensor *op)
{
    return op->ne[2] == 1 && op->ne[3] == 1;
}

static bool
has_three_dims(const struct ggml_tensor *op)
{
    return op->ne[3] == 1;
}

static bool
is_old_function(const struct ggml_tensor *op)
{
    const int32_t function = ggml_get_op_params_i32(op, 0);

    return function >= GGML_UNARY_OP_ABS && function <= GGML_UNARY_OP_SILU &&
           function != GGML_UNARY_OP_SIGMOID;
}

/* ---- the table ---- */

static const struct {
    form_fn of_2023, of_2024;
} forms[GGML_OP_COUNT] = {
#define GB_FORM(op, in_2023, in_2024) [GGML_OP_##op] = { in_2023, in_2024 },
#include "lib/levels/forms.def"
#undef GB_FORM
};

/* Types up to the blocks of 256 were there, and the integers but I64. */
static bool
type_is_of_2023(enum ggml_type type)
{
    return type <= GGML_TYPE_Q8_K ||
           (type >= GGML_TYPE_I8 && type <= GGML_TYPE_I32);
}

bool
gb_form_is_of_2023(const struct ggml_tensor *op)
{
    if ((unsigned)op->op >= GGML_OP_COUNT || !type_is_of_2023(op->type))
        return false;
    for (int i = 0; i < GGML_MAX_SRC; i++)
        if (op->src[i] != NULL && !type_is_of_2023(op->src[i]->type))
            return false;
    return forms[op->op].of_2023 != NULL && forms[op->op].of_2023(op);
}

bool
gb_form_is_of_2024(const struct ggml_tensor *op)
{
    return (unsigned)op->op < GGML_OP_COUNT &&
           forms[op->op].of_2024 != NULL && forms[op->op].of_2024(op);
}

/* ---- the order of sources ---- */

/* The gradient stands first today; then it was behind what it belongs to. */
static int
sources_behind_gradient(enum ggml_op op)
{
    if (op == GGML_OP_CROSS_ENTROPY_LOSS_BACK)
        return 2;
    return op == GGML_OP_SILU_BACK || op == GGML_OP_RMS_NORM_BACK ? 1 : 0;
}

bool
gb_form_is_reordered(const struct ggml_tensor *op)
{
    return sources_behind_gradient(op->op) > 0;
}

void
gb_form_to_2023(struct ggml_tensor *op)
{
    const int n = sources_behind_gradient(op->op);
    struct ggml_tensor *gradient = op->src[0];

    for (int i = 0; i < n; i++)
        op->src[i] = op->src[i + 1];
    op->src[n] = gradient;
}
