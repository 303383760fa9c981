/* SPDX-License-Identifier: MIT */
/*
 * node/rope.c - rotary position embedding and its gradient.
 *
 * Parameters of a node: 1 n_dims, the elements that are rotated, with vision
 * half of them; 2 mode; 4 the context that the model was trained with; 5 base
 * and 6 scale of the frequencies; 7 ext_factor, 8 attn_factor, 9 and 10 beta of
 * YaRN; 11 to 14 sections.
 */
#include "lib/node/rope.h"

#include "lib/node/node.h"
#include "lib/node/shape.h"

#include <math.h>

struct gb_node_rope
gb_node_rope_of(const struct ggml_tensor *node)
{
    const int n_dims = gb_node_param_i32(node, 1);
    const int mode = gb_node_param_i32(node, 2);
    const bool is_vision = mode == GGML_ROPE_TYPE_VISION;
    const bool has_streams = (mode & GGML_ROPE_TYPE_MROPE) != 0;
    struct gb_node_rope rope = {
        .n_pairs = is_vision ? n_dims : n_dims / 2,
        .is_split = (mode & GGML_ROPE_TYPE_NEOX) != 0 || has_streams,
        .is_vision = is_vision,
        .has_streams = has_streams,
    };

    for (int i = 0; has_streams && i < GB_NODE_ROPE_STREAMS; i++)
        rope.sections[i] = gb_node_param_i32(node, 11 + i);
    return rope;
}

/* YaRN (arXiv 2309.00071, section 3.4) blends frequencies, and results grow by
 * a factor. */
struct gb_node_frequencies
gb_node_frequencies_of(const struct ggml_tensor *node)
{
    const int n_dims = gb_node_param_i32(node, 1);
    const float base = gb_node_param_f32(node, 5);
    struct gb_node_frequencies of = {
        .power = n_dims > 0 ? pow(base, -2.0 / n_dims) : 1.0,
        .scale = gb_node_param_f32(node, 6),
        .ext_factor = gb_node_param_f32(node, 7),
        .factor = gb_node_param_f32(node, 8),
    };

    if (of.ext_factor == 0.0f)
        return of;
    ggml_rope_yarn_corr_dims(
        n_dims, gb_node_param_i32(node, 4), base, gb_node_param_f32(node, 9),
        gb_node_param_f32(node, 10), of.corr);
    of.factor *= 1.0f + 0.1f * logf(1.0f / of.scale);
    return of;
}

/* No section is negative, all together are no more than a row, and one of the
 * first three has a pair. */
static bool
are_sections_good(
    const struct gb_node_rope *rope, const struct ggml_tensor *node)
{
    int64_t sum = 0;

    for (int i = 0; i < GB_NODE_ROPE_STREAMS; i++) {
        if (rope->sections[i] < 0)
            return false;
        sum += rope->sections[i];
    }
    return sum <= node->ne[0] &&
           sum > rope->sections[GB_NODE_ROPE_STREAMS - 1];
}

static bool
are_dims_good(const struct gb_node_rope *rope, const struct ggml_tensor *node)
{
    const int64_t n_dims = gb_node_param_i32(node, 1);

    if (n_dims < 0 || n_dims % 2 != 0 || n_dims > node->ne[0])
        return false;
    if (rope->is_vision && 2 * n_dims != node->ne[0])
        return false;
    return !rope->has_streams || are_sections_good(rope, node);
}

static bool
are_positions_good(
    const struct gb_node_rope *rope, const struct ggml_tensor *node)
{
    const struct ggml_tensor *positions = node->src[1];
    const int64_t streams = rope->has_streams ? GB_NODE_ROPE_STREAMS : 1;

    return positions->type == GGML_TYPE_I32 && ggml_is_vector(positions) &&
           positions->ne[0] / streams >= node->ne[2];
}

static bool
are_factors_good(
    const struct gb_node_rope *rope, const struct ggml_tensor *node)
{
    const struct ggml_tensor *factors = node->src[2];

    return factors == NULL ||
           (factors->type == GGML_TYPE_F32 &&
            factors->ne[0] >= rope->n_pairs &&
            (rope->n_pairs == 0 || !ggml_is_empty(factors)));
}

bool
gb_node_valid_rope(const struct ggml_tensor *node)
{
    const struct gb_node_rope rope = gb_node_rope_of(node);

    return gb_node_is_float(node->src[0]->type) &&
           gb_node_is_float(node->type) &&
           ggml_are_same_shape(node->src[0], node) &&
           are_dims_good(&rope, node) && are_positions_good(&rope, node) &&
           are_factors_good(&rope, node);
}
