/* SPDX-License-Identifier: MIT */
/*
 * node/im2col.h - the windows of an image as rows (im2col), and the gradient.
 */
#ifndef GB_NODE_IM2COL_H
#define GB_NODE_IM2COL_H

#include "ggml.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * An image [x, y, channel, batch] and its windows [element, x, y, batch]; what
 * has one dimension has a height of 1.  Along x (0) and y (1): the kernel's
 * sizes, and how windows step, begin before the image, and are spread.
 */
struct gb_node_im2col {
    bool is_2d;
    struct ggml_tensor image, windows;
    int64_t kernel[2];
    int32_t stride[2], padding[2], dilation[2];
};

/* That of NODE, whose sources are there: an IM2COL, which makes windows, or an
 * IM2COL_BACK, which makes an image. */
struct gb_node_im2col gb_node_im2col_of(const struct ggml_tensor *node);

#endif
