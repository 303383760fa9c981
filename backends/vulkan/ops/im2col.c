/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/im2col.c - the windows of an image as rows (im2col), and the
 * gradient.
 */
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-im2col.h"

#include "lib/node/im2col.h"

#include <stdlib.h>

/* Does each place along dimension D that N windows reach, or that an image of
 * LENGTH has, fit an int32_t? */
static bool
are_places_good(
    const struct gb_node_im2col *c, int d, int64_t n, int64_t length)
{
    const int64_t reach = llabs((int64_t)c->dilation[d]);
    const int64_t padding = llabs((int64_t)c->padding[d]);
    const int64_t most = INT32_MAX / 4;

    return length <= most && padding <= most && n <= most / c->stride[d] &&
           (reach == 0 || c->kernel[d] <= most / reach);
}

static bool
im2col_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct gb_node_im2col c = gb_node_im2col_of(node);

    (void)limits;
    return are_places_good(&c, 0, c.windows.ne[1], c.image.ne[0]) &&
           are_places_good(&c, 1, c.windows.ne[2], c.image.ne[1]);
}

/* The parameters, but for what is made of which. */
static struct gb_vk_im2col_params
params_of(const struct ggml_tensor *node, const struct gb_node_im2col *c)
{
    return (struct gb_vk_im2col_params){
        .windows_nb = GB_VK_NB(&c->windows),
        .image_nb = GB_VK_NB(&c->image),
        .s = { c->stride[0], c->stride[1] },
        .pad = { c->padding[0], c->padding[1] },
        .d = { c->dilation[0], c->dilation[1] },
        .k = { (uint32_t)c->kernel[0], (uint32_t)c->kernel[1] },
        .n = (uint32_t)ggml_nelements(node),
    };
}

static void
set_counts(uint32_t counts[4], const struct ggml_tensor *t)
{
    for (int i = 0; i < GGML_MAX_DIMS; i++)
        counts[i] = (uint32_t)t->ne[i];
}

static void
im2col_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct gb_node_im2col c = gb_node_im2col_of(node);
    struct gb_vk_im2col_params params = params_of(node, &c);

    set_counts(params.ne, &c.windows);
    params.src_ne[0] = (uint32_t)c.image.ne[0];
    params.src_ne[1] = (uint32_t)c.image.ne[1];
    params.type = gb_vk_float_of(node->type);
    params.is_dense = ggml_is_contiguous(node);
    GB_VK_DISPATCH(emit, im2col, gb_vk_groups(params.n, 2 * 256), &params,
                   gb_vk_write(node), gb_vk_read_or(node->src[1], node));
}

/* Images are cut from each other. */
static bool
im2col_may(const struct ggml_tensor *node, int dim)
{
    return dim == (gb_node_im2col_of(node).is_2d ? 3 : 2);
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

/* A kernel of width 0 has no elements, and may have any height. */
static void
im2col_back_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct gb_node_im2col c = gb_node_im2col_of(node);
    struct gb_vk_im2col_params params = params_of(node, &c);

    set_counts(params.ne, &c.image);
    params.src_ne[0] = (uint32_t)c.windows.ne[1];
    params.src_ne[1] = (uint32_t)c.windows.ne[2];
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
    .supports = im2col_supports,
    .parts = &im2col_back_parts,
    .emit = im2col_back_emit,
};
