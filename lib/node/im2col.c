/* SPDX-License-Identifier: MIT */
/*
 * node/im2col.c - the windows of an image as rows (im2col), and the gradient.
 *
 * Parameters: strides s0, s1, paddings p0, p1, dilations d0, d1, and 1 for the
 * two-dimensional form.  In the one-dimensional form tensors lack their
 * dimension for y, those behind it move down by one, and the parameters for y
 * mean nothing.
 */
#include "lib/node/im2col.h"

#include "lib/node/node.h"
#include "lib/node/shape.h"

/* A node's tensors, in whichever role. */
struct operands {
    const struct ggml_tensor *kernel, *image, *windows;
};

static struct operands
operands_of(const struct ggml_tensor *node)
{
    if (node->op == GGML_OP_IM2COL)
        return (struct operands){ node->src[0], node->src[1], node };
    return (struct operands){ node->src[1], node, node->src[0] };
}

/* T with a dimension of one element before dimension AT, for which the last
 * one, which is 1, is left out. */
static struct ggml_tensor
with_dimension(const struct ggml_tensor *t, int at)
{
    struct ggml_tensor with = *t;

    for (int i = at; i < GGML_MAX_DIMS; i++) {
        const int from = i > at ? i - 1 : i;

        with.ne[i] = i == at ? 1 : t->ne[from];
        with.nb[i] = t->nb[from];
    }
    return with;
}

struct gb_node_im2col
gb_node_im2col_of(const struct ggml_tensor *node)
{
    const struct operands of = operands_of(node);
    const bool is_2d = gb_node_param_i32(node, 6) == 1;

    return (struct gb_node_im2col){
        .is_2d = is_2d,
        .image = with_dimension(of.image, is_2d ? GGML_MAX_DIMS : 1),
        .windows = with_dimension(of.windows, is_2d ? GGML_MAX_DIMS : 2),
        .kernel = { of.kernel->ne[0], is_2d ? of.kernel->ne[1] : 1 },
        .stride = { gb_node_param_i32(node, 0),
                    is_2d ? gb_node_param_i32(node, 1) : 1 },
        .padding = { gb_node_param_i32(node, 2),
                     is_2d ? gb_node_param_i32(node, 3) : 0 },
        .dilation = { gb_node_param_i32(node, 4),
                      is_2d ? gb_node_param_i32(node, 5) : 1 },
    };
}

/* Do the shapes agree?  Windows may be more or fewer than fit the image:
 * positions outside of it are 0. */
static bool
are_consistent(const struct ggml_tensor *node)
{
    const struct operands of = operands_of(node);
    const struct gb_node_im2col c = gb_node_im2col_of(node);

    return gb_node_is_countable(of.kernel) && gb_node_is_countable(of.image) &&
           gb_node_is_countable(of.windows) && c.stride[0] > 0 &&
           c.stride[1] > 0 &&
           gb_node_is_product(c.windows.ne[0], c.kernel[0] * c.kernel[1],
                              c.image.ne[2]) &&
           c.windows.ne[3] == c.image.ne[3] &&
           (c.is_2d || (of.windows->ne[3] == 1 && of.image->ne[3] == 1));
}

bool
gb_node_valid_im2col(const struct ggml_tensor *node)
{
    return node->src[1]->type == GGML_TYPE_F32 &&
           gb_node_is_float(node->type) && are_consistent(node);
}

bool
gb_node_valid_im2col_back(const struct ggml_tensor *node)
{
    return node->src[0]->type == GGML_TYPE_F32 && gb_node_has_f32_rows(node) &&
           are_consistent(node);
}
