/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/rope.c - rotary position embedding and its gradient.
 *
 * Parameters of a node: 1 n_dims, the elements that are rotated, with vision
 * half of them; 2 mode; 4 the context that the model was trained with; 5 base
 * and 6 scale of the frequencies; 7 ext_factor, 8 attn_factor, 9 and 10 beta of
 * YaRN; 11 to 14 sections.
 */
#include "backends/vulkan/ops/rope.h"

#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-rope.h"

#include <math.h>

/* Streams of positions: time, height, width, extra. */
#define STREAMS 4

static int
mode_of(const struct ggml_tensor *node)
{
    return gb_vk_param_i32(node, 2);
}

static bool
is_vision(const struct ggml_tensor *node)
{
    return mode_of(node) == GGML_ROPE_TYPE_VISION;
}

/* Has each token four positions, and each pair a section that says which? */
static bool
has_streams(const struct ggml_tensor *node)
{
    return (mode_of(node) & GGML_ROPE_TYPE_MROPE) != 0;
}

static bool
is_split(const struct ggml_tensor *node)
{
    return (mode_of(node) & GGML_ROPE_TYPE_NEOX) != 0 || has_streams(node);
}

static int64_t
pair_count(const struct ggml_tensor *node)
{
    const int n_dims = gb_vk_param_i32(node, 1);

    return is_vision(node) ? n_dims : n_dims / 2;
}

static int64_t
section_of(const struct ggml_tensor *node, int stream)
{
    return has_streams(node) ? gb_vk_param_i32(node, 11 + stream) : 0;
}

/* Each section has 16 bits, all together are no more than a row, and one of the
 * first three has a pair. */
static bool
are_sections_good(const struct ggml_tensor *node)
{
    int64_t sum = 0;

    for (int i = 0; i < STREAMS; i++) {
        if (section_of(node, i) < 0 || section_of(node, i) > UINT16_MAX)
            return false;
        sum += section_of(node, i);
    }
    return sum <= node->ne[0] && sum > section_of(node, STREAMS - 1);
}

static bool
are_dims_good(const struct ggml_tensor *node)
{
    const int64_t n_dims = gb_vk_param_i32(node, 1);

    if (n_dims < 0 || n_dims % 2 != 0 || n_dims > node->ne[0])
        return false;
    if (is_vision(node) && 2 * n_dims != node->ne[0])
        return false;
    return !has_streams(node) || are_sections_good(node);
}

static bool
are_positions_good(const struct ggml_tensor *node)
{
    const struct ggml_tensor *positions = node->src[1];
    const int64_t streams = has_streams(node) ? STREAMS : 1;

    return positions->type == GGML_TYPE_I32 && ggml_is_vector(positions) &&
           positions->ne[0] / streams >= node->ne[2];
}

static bool
are_factors_good(const struct ggml_tensor *node)
{
    const struct ggml_tensor *factors = node->src[2];

    return factors == NULL ||
           (factors->type == GGML_TYPE_F32 &&
            factors->ne[0] >= pair_count(node) &&
            (pair_count(node) == 0 || !ggml_is_empty(factors)));
}

static bool
rope_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return gb_vk_has_sources(node, 2) && gb_vk_is_float(node->src[0]->type) &&
           gb_vk_is_float(node->type) &&
           ggml_are_same_shape(node->src[0], node) && are_dims_good(node) &&
           are_positions_good(node) && are_factors_good(node);
}

/* The quotient of neighbouring pairs' frequencies, and how YaRN changes
 * them. */
static void
set_frequencies(
    struct gb_vk_rope_params *params, const struct ggml_tensor *node)
{
    const int n_dims = gb_vk_param_i32(node, 1);
    const float base = gb_vk_param_f32(node, 5);
    const double power = n_dims > 0 ? pow(base, -2.0 / n_dims) : 1.0;

    params->power[0] = (float)power;
    params->power[1] = (float)(power - params->power[0]);
    params->freq_scale = gb_vk_param_f32(node, 6);
    params->ext_factor = gb_vk_param_f32(node, 7);
    params->factor = gb_vk_param_f32(node, 8);
    if (params->ext_factor == 0.0f)
        return;
    ggml_rope_yarn_corr_dims(
        n_dims, gb_vk_param_i32(node, 4), base, gb_vk_param_f32(node, 9),
        gb_vk_param_f32(node, 10), params->corr);
    params->factor *= 1.0f + 0.1f * logf(1.0f / params->freq_scale);
}

/* Do two neighbours of a row of N values of TO, of two bytes and without gaps,
 * make a word? */
static bool
has_words(const struct ggml_tensor *to, int64_t n)
{
    return ggml_type_size(to->type) == 2 && ggml_is_contiguous(to) &&
           n % 2 == 0 && (uintptr_t)to->data % 4 == 0;
}

static uint32_t
flags_of(const struct ggml_tensor *node, const struct ggml_tensor *to)
{
    uint32_t flags =
        gb_vk_float_of(to->type) | gb_vk_float_of(node->src[0]->type) << 2;

    flags |= is_split(node) ? GB_VK_ROPE_SPLIT : 0;
    flags |= is_vision(node) ? GB_VK_ROPE_VISION : 0;
    flags |= has_streams(node) ? GB_VK_ROPE_STREAMS : 0;
    flags |= node->src[2] != NULL ? GB_VK_ROPE_FACTORS : 0;
    flags |= has_words(to, node->ne[0]) ? GB_VK_ROPE_WORDS : 0;
    return flags | (node->op == GGML_OP_ROPE_BACK ? GB_VK_ROPE_BACK : 0);
}

/* Invocations that a large device is busy with, about. */
#define MANY_ITEMS 65536

/* As many heads an invocation as leave so many of them; N columns of heads. */
static uint32_t
heads_of_item(int64_t columns, int64_t heads)
{
    const int64_t n = columns * heads / MANY_ITEMS;

    return (uint32_t)(n < 1 ? 1 : n > heads ? heads : n);
}

/* Rotate as NODE does, into TO, whose strides are NB, and also into NODE if that
 * is another one and IS_WRITTEN. */
static void
emit_rope(struct gb_vk_emit *emit, const struct ggml_tensor *node,
          const struct ggml_tensor *to, const uint32_t nb[4], bool is_written)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *positions = node->src[1];
    const struct ggml_tensor *factors = node->src[2];
    const int64_t n_pairs = pair_count(node);
    const int64_t n_slots = n_pairs + (a->ne[0] - 2 * n_pairs + 1) / 2;
    const int64_t columns = n_slots * a->ne[2] * a->ne[3];
    const bool has_halves = to->type != GGML_TYPE_F32 &&
                            gb_vk_can_use(emit->limits, GB_VK_rope_halves);
    struct gb_vk_rope_params params = {
        .ne = { (uint32_t)a->ne[0], (uint32_t)a->ne[1], (uint32_t)a->ne[2] },
        .dst_nb = { nb[0], nb[1], nb[2], nb[3] },
        .src_nb = GB_VK_NB(a),
        .position_nb = (uint32_t)positions->nb[0],
        .factor_nb = factors == NULL ? 0 : (uint32_t)factors->nb[0],
        .flags = flags_of(node, to) |
                 (is_written ? GB_VK_ROPE_HAS_INNER : 0),
        .n_pairs = (uint32_t)n_pairs,
        .per_item = heads_of_item(columns, a->ne[1]),
        .sections = {
            (uint32_t)(section_of(node, 0) | section_of(node, 1) << 16),
            (uint32_t)(section_of(node, 2) | section_of(node, 3) << 16),
        },
    };

    set_frequencies(&params, node);
    params.n_items =
        (uint32_t)(columns * gb_vk_groups(a->ne[1], params.per_item));
    GB_VK_DISPATCH_ONE_OF(
        emit, has_halves ? GB_VK_rope_halves : GB_VK_rope,
        gb_vk_groups(params.n_items, 256), &params, gb_vk_write(to),
        gb_vk_read(a), gb_vk_read(positions),
        gb_vk_read_or(factors == NULL ? positions : factors, positions),
        gb_vk_write(is_written ? node : to));
}

static void
rope_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const uint32_t nb[] = GB_VK_NB(node);

    emit_rope(emit, node, node, nb, false);
}

/* Streams of positions lie one behind the other. */
static bool
rope_may(const struct ggml_tensor *node, int dim)
{
    return dim != 2 || !has_streams(node);
}

/* Each token, in dimension 2, has a position. */
static const struct gb_vk_parts rope_parts = {
    .dims = { [1] = true, [2] = true, [3] = true },
    .sources = { GB_VK_ALIKE, { [2] = 1 } },
    .may = rope_may,
};

const struct gb_vk_op gb_vk_op_rope = {
    .supports = rope_supports,
    .parts = &rope_parts,
    .emit = rope_emit,
};

/* ---- with the copy of it ---- */

bool
gb_vk_can_store_rope(
    const struct ggml_tensor *rope, const struct ggml_tensor *copy)
{
    return copy->src[0] == rope && rope->type == GGML_TYPE_F32 &&
           gb_vk_is_float(copy->type) && ggml_is_contiguous(rope) &&
           ggml_is_contiguous(copy);
}

void
gb_vk_emit_rope_store(
    struct gb_vk_emit *emit, const struct ggml_tensor *rope,
    const struct ggml_tensor *copy, bool is_written)
{
    uint32_t nb[4] = { (uint32_t)ggml_type_size(copy->type) };

    for (int i = 1; i < GGML_MAX_DIMS; i++)
        nb[i] = nb[i - 1] * (uint32_t)rope->ne[i - 1];
    emit_rope(emit, rope, copy, nb, is_written);
}
