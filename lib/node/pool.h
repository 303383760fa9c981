/* SPDX-License-Identifier: MIT */
/*
 * node/pool.h - the largest or the mean of windows over rows and planes, and
 * the gradient.
 */
#ifndef GB_NODE_POOL_H
#define GB_NODE_POOL_H

#include "ggml.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Windows of kernel[0] x kernel[1] elements of a plane, the one of result
 * (x, y) beginning at (x stride[0] - padding[0], y stride[1] - padding[1]).
 * With one dimension each row is a plane with a height of 1, and stride[1] is
 * 0.
 */
struct gb_node_pool {
    bool is_1d, is_max;
    int32_t kernel[2], stride[2], padding[2];
};

struct gb_node_pool gb_node_pool_of(const struct ggml_tensor *node);

#endif
