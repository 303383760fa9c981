/* SPDX-License-Identifier: MIT */
/*
 * node/recurrent.c - operations that carry a state from token to token.
 *
 * N numbers of state a channel, R channels, T tokens, S sequences, H heads of Z
 * elements.  Results are contiguous: the outputs of all tokens, then the last
 * states.
 */
#include "lib/node/recurrent.h"

#include "lib/node/node.h"
#include "lib/node/shape.h"

/* The first N sources are F32 with dense rows. */
static bool
are_float_rows(const struct ggml_tensor *node, int n)
{
    for (int i = 0; i < n; i++)
        if (!gb_node_has_f32_rows(node->src[i]))
            return false;
    return gb_node_is_flat(node);
}

/* src0 [K - 1 + T, R, S], src1 [K, R], the node [R, T, S]. */
bool
gb_node_valid_ssm_conv(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    return are_float_rows(node, 2) && ggml_is_contiguous(b) &&
           ggml_is_matrix(b) && b->ne[1] == a->ne[1] &&
           a->ne[0] == b->ne[0] - 1 + node->ne[1] && a->ne[3] == 1 &&
           gb_node_has_shape(node, a->ne[1], node->ne[1], a->ne[2], 1);
}

/* Sources: the first states [N, R, S], x and dt [R, T, S], A [N, R], B and C
 * [N, T, S]. */
bool
gb_node_valid_ssm_scan(const struct ggml_tensor *node)
{
    const struct ggml_tensor *s = node->src[0];
    const struct ggml_tensor *x = node->src[1];
    const int64_t n = s->ne[0], r = s->ne[1], n_seqs = s->ne[2];
    const int64_t t = x->ne[1];

    return are_float_rows(node, 6) && s->ne[3] == 1 &&
           gb_node_has_shape(x, r, t, n_seqs, 1) &&
           gb_node_has_shape(node->src[2], r, t, n_seqs, 1) &&
           gb_node_has_shape(node->src[3], n, r, 1, 1) &&
           gb_node_has_shape(node->src[4], n, t, n_seqs, 1) &&
           gb_node_has_shape(node->src[5], n, t, n_seqs, 1) &&
           ggml_nelements(node) == ggml_nelements(x) + ggml_nelements(s);
}

/* ---- linear attention ---- */

static bool
has_linear_shape(const struct ggml_tensor *node, int i)
{
    const struct ggml_tensor *k = node->src[0];

    if (gb_node_has_bonus(node) && i == 3)
        return gb_node_has_shape(node->src[i], k->ne[0], k->ne[1], 1, 1);
    return node->src[i] == gb_node_state_of(node) ||
           ggml_are_same_shape(node->src[i], k);
}

/* The states have Z * Z * H * S numbers, and are as many as the node has behind
 * the outputs. */
static bool
are_states_good(const struct ggml_tensor *node)
{
    const struct ggml_tensor *k = node->src[0];
    const struct ggml_tensor *state = gb_node_state_of(node);
    const int64_t n_state = ggml_nelements(state);
    const int64_t rows = k->ne[0] * k->ne[1];
    const int64_t n_seqs = state->ne[1];

    return n_seqs > 0 && k->ne[2] % n_seqs == 0 && n_state % n_seqs == 0 &&
           gb_node_is_product(n_state / n_seqs, rows, k->ne[0]) &&
           ggml_nelements(node) == ggml_nelements(k) + n_state;
}

bool
gb_node_valid_linear(const struct ggml_tensor *node)
{
    const int n = gb_node_linear_sources(node);

    if (!are_float_rows(node, n))
        return false;
    for (int i = 0; i < n; i++)
        if (!ggml_is_contiguous(node->src[i]) || !has_linear_shape(node, i))
            return false;
    return node->src[0]->ne[3] == 1 && are_states_good(node);
}
