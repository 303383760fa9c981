/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/accumulate.c - a tensor with a part of it replaced or added to:
 * ACC of F32, SET of any type without blocks.
 *
 * dst becomes src0 first, then src1 is written into a view of dst that the
 * parameters describe, or added to it.
 */
#include "backends/vulkan/ops/move.h"
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-accumulate.h"

/* The part as a tensor: the shape of src1, elements of a row next to each
 * other, strides of the parameters. */
static struct ggml_tensor
part_of(const struct ggml_tensor *node)
{
    struct ggml_tensor part = *node->src[1];

    part.type = node->type;
    part.nb[0] = ggml_type_size(node->type);
    for (int d = 1; d < GGML_MAX_DIMS; d++)
        part.nb[d] = (size_t)gb_vk_param_i32(node, d - 1);
    return part;
}

/* Are offset and strides those of elements, and all bytes of the part in dst?
 * What is LEFT of dst's bytes behind the offset must hold the steps from the
 * first to the last element, and that one. */
static bool
part_is_inside(const struct ggml_tensor *node)
{
    const struct ggml_tensor part = part_of(node);
    const size_t size = ggml_type_size(node->type);
    size_t left = ggml_nbytes(node);

    for (int i = 0; i < 4; i++)
        if (gb_vk_param_i32(node, i) < 0)
            return false;
    if ((size_t)gb_vk_param_i32(node, 3) % size != 0 ||
        (size_t)gb_vk_param_i32(node, 3) > left)
        return false;
    if (ggml_is_empty(&part))
        return true;
    left -= (size_t)gb_vk_param_i32(node, 3);
    for (int d = 0; d < GGML_MAX_DIMS; d++) {
        const size_t steps = (size_t)part.ne[d] - 1;

        if (steps > 0 && part.nb[d] % size != 0)
            return false;
        if (part.nb[d] > 0 && steps > left / part.nb[d])
            return false;
        left -= steps * part.nb[d];
    }
    return left >= size;
}

static bool
accumulate_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return gb_vk_has_sources(node, 2) && node->src[0]->type == node->type &&
           node->src[1]->type == node->type &&
           ggml_blck_size(node->type) == 1 &&
           (node->op == GGML_OP_SET || node->type == GGML_TYPE_F32) &&
           ggml_are_same_shape(node->src[0], node) &&
           gb_vk_can_be_moved(node->src[0]) &&
           gb_vk_can_be_moved(node->src[1]) && ggml_is_contiguous(node) &&
           part_is_inside(node);
}

/* Have no two rows of the part a byte in common?  So it is if in each dimension
 * a stride is at least the bytes that the dimensions before it span. */
static bool
rows_are_apart(const struct ggml_tensor *part)
{
    size_t below = (size_t)part->ne[0] * part->nb[0];

    for (int d = 1; d < GGML_MAX_DIMS; d++) {
        if (part->ne[d] > 1 && part->nb[d] < below)
            return false;
        below += (size_t)(part->ne[d] - 1) * part->nb[d];
    }
    return true;
}

/* Rows that overlap are left to a single work group, which takes them in
 * order. */
static void
accumulate_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor part = part_of(node);
    struct gb_vk_accumulate_params params = {
        .ne = GB_VK_NE(&part),
        .dst_nb = GB_VK_NB(&part),
        .src_nb = GB_VK_NB(node->src[1]),
        .rows = (uint32_t)ggml_nrows(&part),
        .rows_of_group = rows_are_apart(&part) ? 1 : UINT32_MAX,
        .first = (uint32_t)gb_vk_param_i32(node, 3),
        .size = (uint32_t)ggml_type_size(node->type),
        .is_sum = node->op == GGML_OP_ACC,
    };

    if (node->data != node->src[0]->data)
        gb_vk_emit_copy(emit, node, node->src[0]);
    if (ggml_is_empty(&part))
        return;
    GB_VK_DISPATCH(emit, accumulate,
                   params.rows_of_group == 1 ? params.rows : 1, &params,
                   gb_vk_write(node), gb_vk_read(node->src[1]));
}

const struct gb_vk_op gb_vk_op_accumulate = {
    .supports = accumulate_supports,
    .emit = accumulate_emit,
};
