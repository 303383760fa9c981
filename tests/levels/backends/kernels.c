/* SPDX-License-Identifier: MIT */
/*
 * levels/backends/kernels.c - what a layer of a transformer is made of, element
 * by element, with sums in double.
 */
#include "kernels.h"

#include <math.h>
#include <string.h>

/* The element (i0, i1, i2, i3), where T repeats to reach it. */
static float *
at(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2, int64_t i3)
{
    return (float *)((char *)t->data +
                     (size_t)(i0 % t->ne[0]) * t->nb[0] +
                     (size_t)(i1 % t->ne[1]) * t->nb[1] +
                     (size_t)(i2 % t->ne[2]) * t->nb[2] +
                     (size_t)(i3 % t->ne[3]) * t->nb[3]);
}

static float
param(const struct ggml_tensor *node, int i)
{
    float value;

    memcpy(&value, &node->op_params[i], sizeof(value));
    return value;
}

/* Each gets a row of the result: its place in dimensions 1 to 3. */
typedef void (*row_fn)(
    struct ggml_tensor *d, int64_t i1, int64_t i2, int64_t i3);

static void
add_row(struct ggml_tensor *d, int64_t i1, int64_t i2, int64_t i3)
{
    for (int64_t i = 0; i < d->ne[0]; i++)
        *at(d, i, i1, i2, i3) =
            *at(d->src[0], i, i1, i2, i3) + *at(d->src[1], i, i1, i2, i3);
}

static void
mul_row(struct ggml_tensor *d, int64_t i1, int64_t i2, int64_t i3)
{
    for (int64_t i = 0; i < d->ne[0]; i++)
        *at(d, i, i1, i2, i3) =
            *at(d->src[0], i, i1, i2, i3) * *at(d->src[1], i, i1, i2, i3);
}

/* The source may have another shape: elements keep their order. */
static void
cont_row(struct ggml_tensor *d, int64_t i1, int64_t i2, int64_t i3)
{
    const struct ggml_tensor *s = d->src[0];
    const int64_t row = (i3 * d->ne[2] + i2) * d->ne[1] + i1;

    for (int64_t i = 0; i < d->ne[0]; i++) {
        const int64_t k0 = row * d->ne[0] + i;
        const int64_t k1 = k0 / s->ne[0], k2 = k1 / s->ne[1];

        *at(d, i, i1, i2, i3) = *at(s, k0, k1, k2, k2 / s->ne[2]);
    }
}

static void
silu_row(struct ggml_tensor *d, int64_t i1, int64_t i2, int64_t i3)
{
    for (int64_t i = 0; i < d->ne[0]; i++) {
        const double x = *at(d->src[0], i, i1, i2, i3);

        *at(d, i, i1, i2, i3) = (float)(x / (1 + exp(-x)));
    }
}

static void
rms_norm_row(struct ggml_tensor *d, int64_t i1, int64_t i2, int64_t i3)
{
    double sum = 0;

    for (int64_t i = 0; i < d->ne[0]; i++)
        sum += pow(*at(d->src[0], i, i1, i2, i3), 2);
    for (int64_t i = 0; i < d->ne[0]; i++)
        *at(d, i, i1, i2, i3) =
            (float)(*at(d->src[0], i, i1, i2, i3) /
                    sqrt(sum / (double)d->ne[0] + param(d, 0)));
}

/* Without position bias; the mask repeats over the heads. */
static void
soft_max_row(struct ggml_tensor *d, int64_t i1, int64_t i2, int64_t i3)
{
    const struct ggml_tensor *mask = d->src[1];
    double max = -INFINITY, sum = 0;

    for (int64_t i = 0; i < d->ne[0]; i++) {
        float *y = at(d, i, i1, i2, i3);

        *y = *at(d->src[0], i, i1, i2, i3) * param(d, 0) +
             (mask != NULL ? *at(mask, i, i1, 0, 0) : 0);
        max = *y > max ? *y : max;
    }
    for (int64_t i = 0; i < d->ne[0]; i++)
        sum += exp(*at(d, i, i1, i2, i3) - max);
    for (int64_t i = 0; i < d->ne[0]; i++)
        *at(d, i, i1, i2, i3) =
            (float)(exp(*at(d, i, i1, i2, i3) - max) / sum);
}

/* Neighbours are rotated; the row's place in dimension 2 is its position. */
static void
rope_row(struct ggml_tensor *d, int64_t i1, int64_t i2, int64_t i3)
{
    const int n_dims = d->op_params[1];
    const int position = ((const int32_t *)d->src[1]->data)[i2];

    for (int i = 0; i < n_dims; i += 2) {
        const double angle = position * pow(param(d, 5), -(double)i / n_dims);
        const double x = *at(d->src[0], i, i1, i2, i3);
        const double y = *at(d->src[0], i + 1, i1, i2, i3);

        *at(d, i, i1, i2, i3) = (float)(x * cos(angle) - y * sin(angle));
        *at(d, i + 1, i1, i2, i3) = (float)(x * sin(angle) + y * cos(angle));
    }
}

static void
mul_mat_row(struct ggml_tensor *d, int64_t i1, int64_t i2, int64_t i3)
{
    const struct ggml_tensor *a = d->src[0], *b = d->src[1];
    const int64_t per2 = b->ne[2] / a->ne[2], per3 = b->ne[3] / a->ne[3];

    for (int64_t i = 0; i < d->ne[0]; i++) {
        double sum = 0;

        for (int64_t k = 0; k < a->ne[0]; k++)
            sum += (double)*at(a, k, i, i2 / per2, i3 / per3) *
                   *at(b, k, i1, i2, i3);
        *at(d, i, i1, i2, i3) = (float)sum;
    }
}

static row_fn
row_of(const struct ggml_tensor *node)
{
    switch (node->op) {
    case GGML_OP_ADD:
        return add_row;
    case GGML_OP_MUL:
        return mul_row;
    case GGML_OP_CONT:
        return cont_row;
    case GGML_OP_RMS_NORM:
        return rms_norm_row;
    case GGML_OP_MUL_MAT:
        return mul_mat_row;
    case GGML_OP_SOFT_MAX:
        return param(node, 1) == 0 ? soft_max_row : NULL;
    case GGML_OP_ROPE:
        return node->op_params[2] == 0 && node->op_params[1] == node->ne[0]
                   ? rope_row
                   : NULL;
    case GGML_OP_UNARY:
        return ggml_get_unary_op(node) == GGML_UNARY_OP_SILU ? silu_row : NULL;
    default:
        return NULL;
    }
}

bool
can_run_node(const struct ggml_tensor *node)
{
    for (int i = 0; i < GGML_MAX_SRC; i++) {
        const bool is_positions = node->op == GGML_OP_ROPE && i == 1;

        if (node->src[i] != NULL && !is_positions &&
            node->src[i]->type != GGML_TYPE_F32)
            return false;
    }
    return node->type == GGML_TYPE_F32 && row_of(node) != NULL;
}

void
run_node(struct ggml_tensor *node)
{
    const row_fn row = row_of(node);

    for (int64_t i3 = 0; row != NULL && i3 < node->ne[3]; i3++)
        for (int64_t i2 = 0; i2 < node->ne[2]; i2++)
            for (int64_t i1 = 0; i1 < node->ne[1]; i1++)
                row(node, i1, i2, i3);
}
