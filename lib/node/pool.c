/* SPDX-License-Identifier: MIT */
/*
 * node/pool.c - the largest or the mean of windows over rows and planes, and
 * the gradient.
 *
 * Parameters: the function, then window, stride and padding: k0 s0 p0 in one
 * dimension, k0 k1 s0 s1 p0 p1 in two.
 */
#include "lib/node/pool.h"

#include "lib/node/node.h"
#include "lib/node/shape.h"

struct gb_node_pool
gb_node_pool_of(const struct ggml_tensor *node)
{
    const int dims = node->op == GGML_OP_POOL_1D ? 1 : 2;
    struct gb_node_pool pool = {
        .is_1d = dims == 1,
        .is_max = gb_node_param_i32(node, 0) == GGML_OP_POOL_MAX,
        .kernel = { 1, 1 },
    };

    for (int d = 0; d < dims; d++) {
        pool.kernel[d] = gb_node_param_i32(node, 1 + d);
        pool.stride[d] = gb_node_param_i32(node, 1 + dims + d);
        pool.padding[d] = gb_node_param_i32(node, 1 + 2 * dims + d);
    }
    return pool;
}

/* A known function, and a window that is not empty. */
static bool
is_usable(const struct ggml_tensor *node)
{
    const struct gb_node_pool pool = gb_node_pool_of(node);

    return (uint32_t)gb_node_param_i32(node, 0) < GGML_OP_POOL_COUNT &&
           pool.kernel[0] > 0 && pool.kernel[1] > 0;
}

bool
gb_node_valid_pool(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];

    return gb_node_is_float(a->type) && gb_node_has_f32_rows(node) &&
           is_usable(node) && gb_node_is_countable(node) &&
           gb_node_is_countable(a) &&
           gb_node_same_from(node, a, node->op == GGML_OP_POOL_1D ? 1 : 2);
}

/* src0 is the gradient of the result, src1 what had been pooled. */
bool
gb_node_valid_pool_back(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    return a->type == GGML_TYPE_F32 && gb_node_is_float(b->type) &&
           gb_node_has_f32_rows(node) && ggml_are_same_shape(b, node) &&
           gb_node_same_from(a, node, 2) && gb_node_is_countable(a) &&
           gb_node_is_countable(node) && is_usable(node);
}
