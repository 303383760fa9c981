/* SPDX-License-Identifier: MIT */
/*
 * node/recurrent.h - linear attention, which carries a state from token to
 * token.
 *
 * RWKV_WKV6           k v r bonus decay state
 * GATED_LINEAR_ATTN   k v q decay state
 *
 * k, v, r or q and decay are [Z, H, T], bonus [Z, H]; the state, [.., S], has
 * Z * Z numbers for each head and sequence.
 */
#ifndef GB_NODE_RECURRENT_H
#define GB_NODE_RECURRENT_H

#include "ggml.h"

#include <stdbool.h>

static inline bool
gb_node_has_bonus(const struct ggml_tensor *node)
{
    return node->op == GGML_OP_RWKV_WKV6;
}

static inline int
gb_node_linear_sources(const struct ggml_tensor *node)
{
    return gb_node_has_bonus(node) ? 6 : 5;
}

static inline const struct ggml_tensor *
gb_node_decay_of(const struct ggml_tensor *node)
{
    return node->src[gb_node_linear_sources(node) - 2];
}

static inline const struct ggml_tensor *
gb_node_state_of(const struct ggml_tensor *node)
{
    return node->src[gb_node_linear_sources(node) - 1];
}

#endif
