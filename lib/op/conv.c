/* SPDX-License-Identifier: MIT */
/*
 * op/conv.c - builders of convolutions.
 *
 * Only im2col and the transposed convolutions are operations; the others are
 * products of a matrix with im2col's.
 */
#include "config.h"

#include "lib/op/build.h"

/* How a kernel walks over an image, as it lies in the node's parameters. */
struct walk {
    int32_t s0, s1; /* stride */
    int32_t p0, p1; /* padding on both sides */
    int32_t d0, d1; /* distance of the kernel's elements */
    int32_t is_2d;
};

/*
 * Places of a kernel of K elements on IN elements:
 * floor((in + 2p - d(k - 1) - 1) / s) + 1, or 0 when it does not fit; -1 when
 * that cannot be computed.
 */
static int64_t
places(int64_t in, int64_t k, int32_t s, int32_t p, int32_t d)
{
    const int64_t reach = gb_dim_mul(k, d);
    int64_t room;

    /* Room for all that is added below. */
    if (s < 1 || d < 1 || reach < 0 || reach > INT64_MAX / 4 ||
        in > INT64_MAX / 4)
        return -1;
    room = in + 2 * (int64_t)p - (reach - d + 1);
    return room < 0 ? 0 : room / s + 1;
}

/* Do strides and paddings as large as the kernel fit their parameters? */
static bool
is_small(const struct ggml_tensor *kernel)
{
    return kernel->ne[0] <= INT32_MAX && kernel->ne[1] <= INT32_MAX;
}

/* The shape of im2col's result; false when kernel and image do not fit. */
static bool
im2col_shape(const struct walk *walk, const int64_t kernel[GGML_MAX_DIMS],
             const int64_t image[GGML_MAX_DIMS], int64_t ne[GGML_MAX_DIMS])
{
    const int channels = walk->is_2d ? 2 : 1;

    if (kernel[channels] != image[channels] ||
        (!walk->is_2d && image[3] != 1))
        return false;
    ne[0] = gb_dim_mul(kernel[0], kernel[1]);
    ne[1] = places(image[0], kernel[0], walk->s0, walk->p0, walk->d0);
    ne[2] = image[2];
    ne[3] = 1;
    if (walk->is_2d) {
        ne[0] = gb_dim_mul(ne[0], kernel[2]);
        ne[2] = places(image[1], kernel[1], walk->s1, walk->p1, walk->d1);
        ne[3] = image[3];
    }
    return ne[1] > 0 && (!walk->is_2d || ne[2] > 0);
}

static struct ggml_tensor *
im2col(struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
       const struct walk *walk, enum ggml_type type)
{
    int64_t ne[GGML_MAX_DIMS];
    struct ggml_tensor *node;

    GB_NEED(ctx, im2col_shape(walk, a->ne, b->ne, ne),
            "im2col: a kernel %s with strides %d, %d, paddings %d, %d and "
            "dilations %d, %d does not walk over an image %s in %dD",
            GB_SHAPE(a), walk->s0, walk->s1, walk->p0, walk->p1, walk->d0,
            walk->d1, GB_SHAPE(b), walk->is_2d ? 2 : 1);
    node = gb_op_new(ctx, GGML_OP_IM2COL, type, ne, GB_SRC(a, b));
    gb_op_set_bytes(node, walk, sizeof(*walk));
    return node;
}

struct ggml_tensor *
ggml_im2col(struct ggml_context *ctx, struct ggml_tensor *a,
            struct ggml_tensor *b, int s0, int s1, int p0, int p1, int d0,
            int d1, bool is_2D, enum ggml_type dst_type)
{
    const struct walk walk = { s0, s1, p0, p1, d0, d1, is_2D };

    GB_NEED_SOURCES(ctx, "im2col", a, b);
    return im2col(ctx, a, b, &walk, dst_type);
}

struct ggml_tensor *
ggml_im2col_back(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b, int64_t *ne, int s0, int s1, int p0,
                 int p1, int d0, int d1, bool is_2D)
{
    const struct walk walk = { s0, s1, p0, p1, d0, d1, is_2D };
    int64_t forward[GGML_MAX_DIMS];
    struct ggml_tensor *node;
    bool fits;

    GB_NEED_SOURCES(ctx, "im2col_back", a, b);
    GB_NEED(ctx, ne != NULL, "im2col_back: the shape of the image is NULL");
    fits = gb_op_elements(ne) >= 0 && im2col_shape(&walk, b->ne, ne, forward);
    for (int i = 0; fits && i < GGML_MAX_DIMS; i++)
        fits = forward[i] == a->ne[i];
    GB_NEED(ctx, fits,
            "im2col_back: a %s does not come from a kernel %s and an image %s",
            GB_SHAPE(a), GB_SHAPE(b), gb_op_shape(ne).text);
    node = gb_op_new(ctx, GGML_OP_IM2COL_BACK, GGML_TYPE_F32, ne, GB_SRC(a, b));
    gb_op_set_bytes(node, &walk, sizeof(walk));
    return node;
}

struct ggml_tensor *
ggml_conv_1d(struct ggml_context *ctx, struct ggml_tensor *a,
             struct ggml_tensor *b, int s0, int p0, int d0)
{
    struct ggml_tensor *columns, *rows, *kernel;

    GB_NEED_SOURCES(ctx, "conv_1d", a, b);
    columns = im2col(ctx, a, b, &(const struct walk){ s0, 0, p0, 0, d0, 0, 0 },
                     GGML_TYPE_F16);
    rows = ggml_reshape_2d(ctx, columns, columns->ne[0],
                           gb_dim_mul(columns->ne[1], columns->ne[2]));
    kernel = ggml_reshape_2d(ctx, a, gb_dim_mul(a->ne[0], a->ne[1]), a->ne[2]);
    return ggml_reshape_3d(ctx, ggml_mul_mat(ctx, rows, kernel),
                           columns->ne[1], a->ne[2], columns->ne[2]);
}

struct ggml_tensor *
ggml_conv_1d_ph(struct ggml_context *ctx, struct ggml_tensor *a,
                struct ggml_tensor *b, int s, int d)
{
    GB_NEED_SOURCES(ctx, "conv_1d", a, b);
    GB_NEED(ctx, is_small(a), "conv_1d: a kernel %s is too large",
            GB_SHAPE(a));
    return ggml_conv_1d(ctx, a, b, s, (int)(a->ne[0] / 2), d);
}

/*
 * Depthwise: each channel has a kernel and an image of its own.  To im2col that
 * is a stack of images of one channel, in which channels take the place of
 * images; the product then goes matrix by matrix, one for each channel.
 */

/* T [length, channels, images] with one channel, as lines of 1D. */
static struct ggml_tensor *
lines_of(struct ggml_context *ctx, struct ggml_tensor *t)
{
    return ggml_reshape_4d(ctx, t, t->ne[0], 1, t->ne[1], t->ne[2]);
}

/* T [width, height, channels, images] with one channel, as planes of 2D. */
static struct ggml_tensor *
planes_of(struct ggml_context *ctx, struct ggml_tensor *t)
{
    return ggml_reshape_4d(ctx, t, t->ne[0], t->ne[1], 1,
                           gb_dim_mul(t->ne[2], t->ne[3]));
}

struct ggml_tensor *
ggml_conv_1d_dw(struct ggml_context *ctx, struct ggml_tensor *a,
                struct ggml_tensor *b, int s0, int p0, int d0)
{
    struct ggml_tensor *node;

    GB_NEED_SOURCES(ctx, "conv_1d_dw", a, b);
    node = lines_of(ctx, a);
    node = ggml_im2col(ctx, node, lines_of(ctx, b), s0, 0, p0, 0, d0, 0, false,
                       GGML_TYPE_F16);
    node = ggml_mul_mat(ctx, node, a);
    /* As long as B; where it is not, there is no such shape. */
    return ggml_reshape_2d(ctx, node, b->ne[0], b->ne[1]);
}

struct ggml_tensor *
ggml_conv_1d_dw_ph(struct ggml_context *ctx, struct ggml_tensor *a,
                   struct ggml_tensor *b, int s0, int d0)
{
    GB_NEED_SOURCES(ctx, "conv_1d_dw", a, b);
    GB_NEED(ctx, is_small(a), "conv_1d_dw: a kernel %s is too large",
            GB_SHAPE(a));
    return ggml_conv_1d_dw(ctx, a, b, s0, (int)(a->ne[0] / 2), d0);
}

struct ggml_tensor *
ggml_conv_2d(struct ggml_context *ctx, struct ggml_tensor *a,
             struct ggml_tensor *b, int s0, int s1, int p0, int p1, int d0,
             int d1)
{
    struct ggml_tensor *columns, *rows, *kernel, *product;
    int64_t n_places, n_weights;

    GB_NEED_SOURCES(ctx, "conv_2d", a, b);
    columns = im2col(ctx, a, b,
                     &(const struct walk){ s0, s1, p0, p1, d0, d1, 1 },
                     a->type);
    n_places = gb_dim_mul(gb_dim_mul(columns->ne[1], columns->ne[2]),
                          columns->ne[3]);
    n_weights = gb_dim_mul(gb_dim_mul(a->ne[0], a->ne[1]), a->ne[2]);
    rows = ggml_reshape_2d(ctx, columns, columns->ne[0], n_places);
    kernel = ggml_reshape_2d(ctx, a, n_weights, a->ne[3]);
    product = ggml_reshape_4d(ctx, ggml_mul_mat(ctx, rows, kernel),
                              columns->ne[1], columns->ne[2], columns->ne[3],
                              a->ne[3]);
    return ggml_cont(ctx, ggml_permute(ctx, product, 0, 1, 3, 2));
}

struct ggml_tensor *
ggml_conv_2d_sk_p0(struct ggml_context *ctx, struct ggml_tensor *a,
                   struct ggml_tensor *b)
{
    GB_NEED_SOURCES(ctx, "conv_2d", a, b);
    GB_NEED(ctx, is_small(a), "conv_2d: a kernel %s is too large",
            GB_SHAPE(a));
    return ggml_conv_2d(ctx, a, b, (int)a->ne[0], (int)a->ne[1], 0, 0, 1, 1);
}

struct ggml_tensor *
ggml_conv_2d_s1_ph(struct ggml_context *ctx, struct ggml_tensor *a,
                   struct ggml_tensor *b)
{
    GB_NEED_SOURCES(ctx, "conv_2d", a, b);
    GB_NEED(ctx, is_small(a), "conv_2d: a kernel %s is too large",
            GB_SHAPE(a));
    return ggml_conv_2d(ctx, a, b, 1, 1, (int)(a->ne[0] / 2),
                        (int)(a->ne[1] / 2), 1, 1);
}

struct ggml_tensor *
ggml_conv_2d_dw(struct ggml_context *ctx, struct ggml_tensor *a,
                struct ggml_tensor *b, int s0, int s1, int p0, int p1, int d0,
                int d1)
{
    struct ggml_tensor *kernel, *columns, *taps, *rows;
    int64_t width, height;

    GB_NEED_SOURCES(ctx, "conv_2d_dw", a, b);
    kernel = planes_of(ctx, a);
    columns = ggml_im2col(ctx, kernel, planes_of(ctx, b), s0, s1, p0, p1, d0,
                          d1, true, GGML_TYPE_F16);
    width = columns->ne[1];
    height = columns->ne[2];
    /* The planes of B become its channels and images again. */
    rows = ggml_reshape_4d(ctx, columns, columns->ne[0],
                           gb_dim_mul(width, height), b->ne[2], b->ne[3]);
    taps = ggml_reshape_3d(ctx, kernel,
                           gb_dim_mul(kernel->ne[0], kernel->ne[1]), 1,
                           kernel->ne[3]);
    return ggml_reshape_4d(ctx, ggml_mul_mat(ctx, taps, rows), width,
                           height, b->ne[2], b->ne[3]);
}

/* What IN elements become when each is spread to K at a distance of S. */
static int64_t
spread(int64_t in, int64_t k, int s)
{
    return in < 1 || s < 1 ? -1 : gb_dim_add(gb_dim_mul(in - 1, s), k);
}

struct ggml_tensor *
ggml_conv_transpose_1d(struct ggml_context *ctx, struct ggml_tensor *a,
                       struct ggml_tensor *b, int s0, int p0, int d0)
{
    struct ggml_tensor *node;
    int64_t ne0;

    GB_NEED_SOURCES(ctx, "conv_transpose_1d", a, b);
    GB_NEED(ctx, ggml_is_matrix(b) && a->ne[2] == b->ne[1] && a->ne[3] == 1,
            "conv_transpose_1d: a kernel %s does not spread b %s", GB_SHAPE(a),
            GB_SHAPE(b));
    GB_NEED(ctx, s0 > 0 && p0 == 0 && d0 == 1,
            "conv_transpose_1d: stride %d, padding %d, dilation %d", s0, p0,
            d0);
    ne0 = spread(b->ne[0], a->ne[0], s0);
    node = gb_op_new(ctx, GGML_OP_CONV_TRANSPOSE_1D, GGML_TYPE_F32,
                     (const int64_t[]){ ne0, a->ne[1], b->ne[2], 1 },
                     GB_SRC(a, b));
    gb_op_set_i32(node, 0, s0);
    gb_op_set_i32(node, 1, p0);
    gb_op_set_i32(node, 2, d0);
    return node;
}

struct ggml_tensor *
ggml_conv_transpose_2d_p0(struct ggml_context *ctx, struct ggml_tensor *a,
                          struct ggml_tensor *b, int stride)
{
    struct ggml_tensor *node;

    GB_NEED_SOURCES(ctx, "conv_transpose_2d", a, b);
    GB_NEED(ctx, a->ne[3] == b->ne[2],
            "conv_transpose_2d: a kernel %s does not spread b %s", GB_SHAPE(a),
            GB_SHAPE(b));
    GB_NEED(ctx, stride > 0, "conv_transpose_2d: stride %d", stride);
    node = gb_op_new(ctx, GGML_OP_CONV_TRANSPOSE_2D, GGML_TYPE_F32,
                     (const int64_t[]){ spread(b->ne[0], a->ne[0], stride),
                                        spread(b->ne[1], a->ne[1], stride),
                                        a->ne[2], b->ne[3] },
                     GB_SRC(a, b));
    gb_op_set_i32(node, 0, stride);
    return node;
}
