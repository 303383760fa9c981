/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/rope.c - rotary position embedding and its gradient.
 */
#include "backends/vulkan/ops/rope.h"

#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-rope.h"

#include "lib/node/rope.h"

/* Each section has 16 bits. */
static bool
rope_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct gb_node_rope rope = gb_node_rope_of(node);

    (void)limits;
    for (int i = 0; i < GB_NODE_ROPE_STREAMS; i++)
        if (rope.sections[i] > UINT16_MAX)
            return false;
    return true;
}

/* The quotient of neighbouring pairs' frequencies, and how YaRN changes
 * them. */
static void
set_frequencies(
    struct gb_vk_rope_params *params, const struct ggml_tensor *node)
{
    const struct gb_node_frequencies of = gb_node_frequencies_of(node);

    params->power[0] = (float)of.power;
    params->power[1] = (float)(of.power - params->power[0]);
    params->freq_scale = of.scale;
    params->ext_factor = of.ext_factor;
    params->corr[0] = of.corr[0];
    params->corr[1] = of.corr[1];
    params->factor = of.factor;
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
flags_of(const struct ggml_tensor *node, const struct gb_node_rope *rope,
         const struct ggml_tensor *to)
{
    uint32_t flags =
        gb_vk_float_of(to->type) | gb_vk_float_of(node->src[0]->type) << 2;

    flags |= rope->is_split ? GB_VK_ROPE_SPLIT : 0;
    flags |= rope->is_vision ? GB_VK_ROPE_VISION : 0;
    flags |= rope->has_streams ? GB_VK_ROPE_STREAMS : 0;
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
    const struct gb_node_rope rope = gb_node_rope_of(node);
    const int64_t n_pairs = rope.n_pairs;
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
        .flags = flags_of(node, &rope, to) |
                 (is_written ? GB_VK_ROPE_HAS_INNER : 0),
        .n_pairs = (uint32_t)n_pairs,
        .per_item = heads_of_item(columns, a->ne[1]),
        .sections = {
            (uint32_t)rope.sections[0] | (uint32_t)rope.sections[1] << 16,
            (uint32_t)rope.sections[2] | (uint32_t)rope.sections[3] << 16,
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
    return dim != 2 || !gb_node_rope_of(node).has_streams;
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
           gb_node_is_float(copy->type) && ggml_is_contiguous(rope) &&
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
