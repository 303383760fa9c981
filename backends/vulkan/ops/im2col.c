/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/im2col.c - the windows of an image as rows (im2col), and the
 * gradient.
 *
 * Parameters: strides s0, s1, paddings p0, p1, dilations d0, d1, and 1 for the
 * two-dimensional form.  In the one-dimensional form tensors lack their
 * dimension for y, those behind it move down by one, and the parameters for y
 * mean nothing.
 */
#include "backends/vulkan/ops/counts.h"
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-im2col.h"

#include <stdlib.h>

static bool
is_2d(const struct ggml_tensor *node)
{
    return gb_vk_param_i32(node, 6) == 1;
}

/* Counts and strides of four dimensions. */
struct shape {
    int64_t ne[4];
    size_t nb[4];
};

/* Those of T; of what has one dimension with one of a single element before
 * dimension AT, the last one, which is 1, left out. */
static struct shape
shape_of(const struct ggml_tensor *node, const struct ggml_tensor *t, int at)
{
    const int height = is_2d(node) ? GGML_MAX_DIMS : at;
    struct shape shape;

    for (int i = 0; i < GGML_MAX_DIMS; i++) {
        const int from = i > height ? i - 1 : i;

        shape.ne[i] = i == height ? 1 : t->ne[from];
        shape.nb[i] = t->nb[from];
    }
    return shape;
}

/* Strides, paddings, dilations along dimension D; what has no height does not
 * move along it. */
static int32_t
step_of(const struct ggml_tensor *node, int first, int d, int32_t flat)
{
    return d == 1 && !is_2d(node) ? flat : gb_vk_param_i32(node, first + d);
}

static int32_t
stride_of(const struct ggml_tensor *node, int d)
{
    return step_of(node, 0, d, 1);
}

static int32_t
padding_of(const struct ggml_tensor *node, int d)
{
    return step_of(node, 2, d, 0);
}

static int32_t
dilation_of(const struct ggml_tensor *node, int d)
{
    return step_of(node, 4, d, 1);
}

static int64_t
kernel_size(
    const struct ggml_tensor *node, const struct ggml_tensor *kernel, int d)
{
    return d == 1 && !is_2d(node) ? 1 : kernel->ne[d];
}

/* Does each place along dimension D that N windows of K elements reach, or that
 * an image of LENGTH has, fit an int32_t? */
static bool
are_places_good(const struct ggml_tensor *node, int d, int64_t n, int64_t k,
                int64_t length)
{
    const int64_t stride = stride_of(node, d);
    const int64_t reach = llabs((int64_t)dilation_of(node, d));
    const int64_t padding = llabs((int64_t)padding_of(node, d));
    const int64_t most = INT32_MAX / 4;

    return stride > 0 && n <= INT32_MAX && k <= INT32_MAX &&
           length <= most && padding <= most && n <= most / stride &&
           (reach == 0 || k <= most / reach);
}

/* Do the shapes agree?  Windows may be more or fewer than fit the image:
 * positions outside of it are 0. */
static bool
are_consistent(
    const struct ggml_tensor *node, const struct ggml_tensor *kernel,
    const struct ggml_tensor *image, const struct ggml_tensor *windows)
{
    const struct shape from = shape_of(node, image, 1);
    const struct shape to = shape_of(node, windows, 2);
    const int64_t k0 = kernel_size(node, kernel, 0);
    const int64_t k1 = kernel_size(node, kernel, 1);

    return are_places_good(node, 0, to.ne[1], k0, from.ne[0]) &&
           are_places_good(node, 1, to.ne[2], k1, from.ne[1]) &&
           gb_vk_is_product(to.ne[0], k0 * k1, from.ne[2]) &&
           to.ne[3] == from.ne[3] &&
           (is_2d(node) || (windows->ne[3] == 1 && image->ne[3] == 1));
}

/* The parameters of a node of those shapes, but for what it makes of which. */
static struct gb_vk_im2col_params
params_of(const struct ggml_tensor *node, const struct ggml_tensor *kernel,
          const struct shape *image, const struct shape *windows)
{
    return (struct gb_vk_im2col_params){
        .windows_nb = GB_VK_NB(windows),
        .image_nb = GB_VK_NB(image),
        .s = { stride_of(node, 0), stride_of(node, 1) },
        .pad = { padding_of(node, 0), padding_of(node, 1) },
        .d = { dilation_of(node, 0), dilation_of(node, 1) },
        .k = { (uint32_t)kernel_size(node, kernel, 0),
               (uint32_t)kernel_size(node, kernel, 1) },
        .n = (uint32_t)ggml_nelements(node),
    };
}

static void
set_counts(uint32_t counts[4], const struct shape *shape)
{
    for (int i = 0; i < GGML_MAX_DIMS; i++)
        counts[i] = (uint32_t)shape->ne[i];
}

static bool
im2col_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return gb_vk_has_sources(node, 2) &&
           node->src[1]->type == GGML_TYPE_F32 &&
           gb_vk_is_float(node->type) &&
           are_consistent(node, node->src[0], node->src[1], node);
}

static void
im2col_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct shape image = shape_of(node, node->src[1], 1);
    const struct shape windows = shape_of(node, node, 2);
    struct gb_vk_im2col_params params =
        params_of(node, node->src[0], &image, &windows);

    set_counts(params.ne, &windows);
    params.src_ne[0] = (uint32_t)image.ne[0];
    params.src_ne[1] = (uint32_t)image.ne[1];
    params.type = gb_vk_float_of(node->type);
    params.is_dense = ggml_is_contiguous(node);
    GB_VK_DISPATCH(emit, im2col, gb_vk_groups(params.n, 2 * 256), &params,
                   gb_vk_write(node), gb_vk_read_or(node->src[1], node));
}

/* Images are cut from each other. */
static bool
im2col_may(const struct ggml_tensor *node, int dim)
{
    return dim == (is_2d(node) ? 3 : 2);
}

static const struct gb_vk_parts im2col_parts = {
    .dims = { [2] = true, [3] = true },
    .sources = { GB_VK_WHOLE, GB_VK_ALIKE },
    .may = im2col_may,
};

const struct gb_vk_op gb_vk_op_im2col = {
    .supports = im2col_supports,
    .parts = &im2col_parts,
    .emit = im2col_emit,
};

/* src0 has the windows, src1 is the kernel, the node the image. */
static bool
im2col_back_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return gb_vk_has_sources(node, 2) &&
           node->src[0]->type == GGML_TYPE_F32 && gb_vk_has_f32_rows(node) &&
           are_consistent(node, node->src[1], node, node->src[0]);
}

/* A kernel of width 0 has no elements, and may have any height. */
static void
im2col_back_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct shape image = shape_of(node, node, 1);
    const struct shape windows = shape_of(node, node->src[0], 2);
    struct gb_vk_im2col_params params =
        params_of(node, node->src[1], &image, &windows);

    set_counts(params.ne, &image);
    params.src_ne[0] = (uint32_t)windows.ne[1];
    params.src_ne[1] = (uint32_t)windows.ne[2];
    params.k[1] = params.k[0] == 0 ? 0 : params.k[1];
    GB_VK_DISPATCH(emit, im2col_back, gb_vk_groups(params.n, 256), &params,
                   gb_vk_write(node), gb_vk_read_or(node->src[0], node));
}

static const struct gb_vk_parts im2col_back_parts = {
    .dims = { [2] = true, [3] = true },
    .sources = { GB_VK_ALIKE },
    .may = im2col_may,
};

const struct gb_vk_op gb_vk_op_im2col_back = {
    .supports = im2col_back_supports,
    .parts = &im2col_back_parts,
    .emit = im2col_back_emit,
};
