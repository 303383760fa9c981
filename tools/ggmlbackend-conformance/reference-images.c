/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-conformance/reference-images.c - convolution and pooling.
 */
#include "tools/ggmlbackend-conformance/reference.h"

#include <float.h>
#include <math.h>

/* How an image and the columns made of it belong together. */
struct columns {
    bool is_2d;
    int64_t s0, s1, p0, p1, d0, d1;
    int64_t kw, kh;
};

static struct columns
columns_of(const struct ggml_tensor *node, const struct values *kernel)
{
    struct columns c = {
        param_i(node, 6) != 0, param_i(node, 0), param_i(node, 1),
        param_i(node, 2),      param_i(node, 3), param_i(node, 4),
        param_i(node, 5),      kernel->ne[0],    1,
    };

    if (c.is_2d) {
        c.kh = kernel->ne[1];
    } else {
        c.s1 = c.p1 = c.d1 = 0;
    }
    return c;
}

/*
 * The image's element behind element (K, ow, oh, n) of the columns; NULL in the
 * padding.  In 1D an image is [width, channels, n] and columns are [., ow, n].
 */
static double *
image_at(const struct columns *c, const struct values *image, struct index i)
{
    const int64_t kw = i.i0 % c->kw, kh = i.i0 / c->kw % c->kh;
    const int64_t channel = i.i0 / c->kw / c->kh;
    const int64_t x = i.i1 * c->s0 + kw * c->d0 - c->p0;
    const int64_t y = i.i2 * c->s1 + kh * c->d1 - c->p1;

    if (x < 0 || x >= image->ne[0])
        return NULL;
    if (!c->is_2d)
        return at(image, x, channel, i.i2, 0);
    if (y < 0 || y >= image->ne[1])
        return NULL;
    return at(image, x, y, channel, i.i3);
}

static void
im2col(const struct ggml_tensor *node, const struct values *src,
       struct values *out)
{
    const struct columns c = columns_of(node, &src[0]);

    for (struct index i = index_first(); index_inside(out, &i);
         index_next(out, &i)) {
        const double *from = image_at(&c, &src[1], i);

        *at(out, i.i0, i.i1, i.i2, i.i3) = from != NULL ? *from : 0;
    }
}

static void
im2col_back(const struct ggml_tensor *node, const struct values *src,
            struct values *out)
{
    const struct columns c = columns_of(node, &src[1]);

    for (struct index i = index_first(); index_inside(&src[0], &i);
         index_next(&src[0], &i)) {
        double *to = image_at(&c, out, i);

        if (to != NULL)
            *to += *at(&src[0], i.i0, i.i1, i.i2, i.i3);
    }
}

static void
conv_transpose_1d(const struct ggml_tensor *node, const struct values *src,
                  struct values *out)
{
    const struct values *a = &src[0], *b = &src[1];

    for (int64_t l = 0; l < b->ne[0]; l++)
        for (int64_t k = 0; k < a->ne[0]; k++)
            for (int64_t o = 0; o < a->ne[1]; o++)
                for (int64_t c = 0; c < a->ne[2]; c++)
                    *at(out, l * param_i(node, 0) + k, o, 0, 0) +=
                        *at(a, k, o, c, 0) * *at(b, l, c, 0, 0);
}

static void
conv_transpose_2d(const struct ggml_tensor *node, const struct values *src,
                  struct values *out)
{
    const struct values *a = &src[0], *b = &src[1];
    const int64_t s = param_i(node, 0);

    for (struct index i = index_first(); index_inside(b, &i); index_next(b, &i))
        for (int64_t o = 0; o < a->ne[2]; o++)
            for (int64_t kh = 0; kh < a->ne[1]; kh++)
                for (int64_t kw = 0; kw < a->ne[0]; kw++)
                    *at(out, i.i0 * s + kw, i.i1 * s + kh, o, i.i3) +=
                        *at(a, kw, kh, o, i.i2) *
                        *at(b, i.i0, i.i1, i.i2, i.i3);
}

/* Window, stride and padding of a pooling operation. */
struct pooling {
    bool is_max;
    int64_t k0, k1, s0, s1, p0, p1;
};

static struct pooling
pooling_of(const struct ggml_tensor *node)
{
    const bool is_max = param_i(node, 0) == GGML_OP_POOL_MAX;

    if (node->op == GGML_OP_POOL_1D) {
        const struct pooling p = {
            is_max, param_i(node, 1), 1, param_i(node, 2), 1,
            param_i(node, 3), 0,
        };

        return p;
    } else {
        const struct pooling p = {
            is_max,           param_i(node, 1), param_i(node, 2),
            param_i(node, 3), param_i(node, 4), param_i(node, 5),
            param_i(node, 6),
        };

        return p;
    }
}

/* The element at (dx, dy) of output (x, y)'s window; NULL outside the image. */
static double *
window_at(const struct pooling *p, const struct values *image,
          const struct index *i, int64_t dx, int64_t dy)
{
    const int64_t x = i->i0 * p->s0 - p->p0 + dx;
    const int64_t y = i->i1 * p->s1 - p->p1 + dy;

    if (x < 0 || x >= image->ne[0] || y < 0 || y >= image->ne[1])
        return NULL;
    return at(image, x, y, i->i2, i->i3);
}

static void
pool(const struct ggml_tensor *node, const struct values *src,
     struct values *out)
{
    const struct pooling p = pooling_of(node);

    for (struct index i = index_first(); index_inside(out, &i);
         index_next(out, &i)) {
        double result = p.is_max ? -FLT_MAX : 0;

        for (int64_t dy = 0; dy < p.k1; dy++)
            for (int64_t dx = 0; dx < p.k0; dx++) {
                const double *x = window_at(&p, &src[0], &i, dx, dy);

                if (x == NULL)
                    continue;
                result = p.is_max ? fmax(result, *x) : result + *x;
            }
        *at(out, i.i0, i.i1, i.i2, i.i3) =
            p.is_max ? result : result / (double)(p.k0 * p.k1);
    }
}

static void
pool_back(const struct ggml_tensor *node, const struct values *src,
          struct values *out)
{
    const struct pooling p = pooling_of(node);

    for (struct index i = index_first(); index_inside(&src[0], &i);
         index_next(&src[0], &i)) {
        const double g = *at(&src[0], i.i0, i.i1, i.i2, i.i3);
        double max = -FLT_MAX;
        double *best = NULL;

        for (int64_t dy = 0; dy < p.k1; dy++)
            for (int64_t dx = 0; dx < p.k0; dx++) {
                const double *x = window_at(&p, &src[1], &i, dx, dy);
                double *to = window_at(&p, out, &i, dx, dy);

                if (to == NULL)
                    continue;
                if (!p.is_max) {
                    *to += g / (double)(p.k0 * p.k1);
                } else if (*x > max) {
                    max = *x;
                    best = to;
                }
            }
        if (best != NULL)
            *best += g;
    }
}

const struct reference_row reference_images[] = {
    { GGML_OP_IM2COL, im2col, NULL },
    { GGML_OP_IM2COL_BACK, im2col_back, NULL },
    { GGML_OP_CONV_TRANSPOSE_1D, conv_transpose_1d, NULL },
    { GGML_OP_CONV_TRANSPOSE_2D, conv_transpose_2d, NULL },
    { GGML_OP_POOL_1D, pool, NULL },
    { GGML_OP_POOL_2D, pool, NULL },
    { GGML_OP_POOL_2D_BACK, pool_back, NULL },
    { GGML_OP_NONE, NULL, NULL },
};
