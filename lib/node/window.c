/* SPDX-License-Identifier: MIT */
/*
 * node/window.c - images divided into windows, and positions inside of them.
 */
#include "lib/node/node.h"
#include "lib/node/shape.h"

/* Rows are moved as they are: any type without blocks. */
static bool
moves_rows(const struct ggml_tensor *node)
{
    return node->src[0]->type == node->type &&
           ggml_blck_size(node->type) == 1 && gb_node_is_dense(node) &&
           node->src[0]->ne[0] == node->ne[0];
}

/* Parameters: windows across and down, and their side. */
bool
gb_node_valid_win_part(const struct ggml_tensor *node)
{
    return moves_rows(node) && node->src[0]->ne[3] == 1 &&
           gb_node_is_countable(node) && gb_node_param_i32(node, 0) > 0 &&
           gb_node_param_i32(node, 2) > 0;
}

/* Windows of N positions that LENGTH positions take. */
static int64_t
window_count(int64_t length, int64_t n)
{
    return (length + n - 1) / n;
}

/* Parameter: the side of a window. */
bool
gb_node_valid_win_unpart(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const int64_t w = gb_node_param_i32(node, 0);

    return moves_rows(node) && w > 0 && a->ne[1] == w && a->ne[2] == w &&
           node->ne[3] == 1 &&
           window_count(node->ne[1], w) * window_count(node->ne[2], w) <=
               a->ne[3];
}

/* The table has a row for each distance of two positions. */
bool
gb_node_valid_get_rel_pos(const struct ggml_tensor *node)
{
    return moves_rows(node) && node->type == GGML_TYPE_F16 &&
           node->ne[3] == 1 && ggml_is_matrix(node->src[0]) &&
           node->ne[1] + node->ne[2] - 1 <= node->src[0]->ne[1];
}

/* src1 is added to the columns, src2 to the rows of the positions that a row of
 * src0 has. */
bool
gb_node_valid_add_rel_pos(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *columns = node->src[1];
    const struct ggml_tensor *rows = node->src[2];

    return gb_node_is_flat(node) && gb_node_is_flat(a) &&
           gb_node_is_flat(columns) && gb_node_is_flat(rows) &&
           ggml_are_same_shape(a, node) &&
           ggml_are_same_shape(columns, rows) &&
           gb_node_is_product(a->ne[0], columns->ne[0], columns->ne[0]) &&
           ggml_nrows(a) == ggml_nrows(columns);
}
