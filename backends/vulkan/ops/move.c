/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/move.c - values moved to other places, as rows of units.
 *
 * A unit has 1, 2, 4, 8 or 16 bytes.  The larger it is, the fewer there are:
 * where the rows of all tensors are dense, and begin and end at multiples of
 * more bytes than an element has, several elements are one unit.  Units of
 * fewer bytes than a word make words where the rows of dst alone are dense.
 */
#include "backends/vulkan/ops/move.h"

#include "backends/vulkan/ops/formats.h"
#include "backends/vulkan/ops/shape.h"

bool
gb_vk_can_be_moved(const struct ggml_tensor *t)
{
    return ggml_type_size(t->type) > 0 && gb_vk_is_aligned(t) &&
           (ggml_blck_size(t->type) == 1 || gb_node_has_dense_rows(t));
}

/* May T be moved in units of SIZE bytes, its rows being dense? */
static bool
has_units(const struct ggml_tensor *t, size_t size)
{
    size_t all = ggml_row_size(t->type, t->ne[0]) | (uintptr_t)t->data;

    if (!gb_node_has_dense_rows(t))
        return false;
    for (int d = 1; d < GGML_MAX_DIMS; d++)
        if (t->ne[d] > 1)
            all |= t->nb[d];
    return all % size == 0;
}

/* The largest unit for A and B. */
static size_t
unit_of(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    size_t size = 16;

    if (ggml_blck_size(a->type) == 1 &&
        !(gb_node_has_dense_rows(a) && gb_node_has_dense_rows(b)))
        return ggml_type_size(a->type);
    while (size > 1 && !(has_units(a, size) && has_units(b, size)))
        size /= 2;
    return size;
}

/* The unit for DST from A and B; elements where places in rows count. */
static size_t
unit_for(const struct gb_vk_move *move, const struct ggml_tensor *dst,
         const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    size_t with_a, with_b;

    if (move->kind >= GB_VK_MOVE_PAD)
        return ggml_type_size(dst->type);
    with_a = unit_of(dst, a);
    with_b = b != NULL ? unit_of(dst, b) : with_a;
    return with_a < with_b ? with_a : with_b;
}

/* Counts and strides of T in units of SIZE bytes. */
static void
in_units(const struct ggml_tensor *t, size_t size, uint32_t *ne, uint32_t *nb)
{
    for (int d = 0; d < GGML_MAX_DIMS; d++) {
        ne[d] = (uint32_t)t->ne[d];
        nb[d] = (uint32_t)t->nb[d];
    }
    if (ggml_blck_size(t->type) == 1 && ggml_type_size(t->type) == size)
        return;
    ne[0] = (uint32_t)(ggml_row_size(t->type, t->ne[0]) / size);
    nb[0] = (uint32_t)size;
}

static void
set_more(const struct gb_vk_move *move, const struct ggml_tensor *b,
         size_t unit, uint32_t *more)
{
    uint32_t ne[4];

    if (b != NULL)
        in_units(b, unit, ne, more);
    else
        memcpy(more, move->factors, sizeof(move->factors));
}

void
gb_vk_emit_move(struct gb_vk_emit *emit, const struct gb_vk_move *move,
                const struct ggml_tensor *dst, const struct ggml_tensor *a,
                const struct ggml_tensor *b)
{
    const size_t unit = unit_for(move, dst, a, b);
    struct gb_vk_move_params params = {
        .kind = move->kind,
        .size = (uint32_t)unit,
        .parts = unit < 4 && has_units(dst, 4) ? 4 / (uint32_t)unit : 1,
        .dim = move->dim,
        .before = move->before,
    };

    in_units(dst, unit * params.parts, params.dst_ne, params.dst_nb);
    in_units(a, unit, params.a_ne, params.a_nb);
    set_more(move, b, unit, params.more);
    params.n = params.dst_ne[0] * params.dst_ne[1] * params.dst_ne[2] *
               params.dst_ne[3];
    GB_VK_DISPATCH(emit, move, gb_vk_groups(params.n, 256), &params,
                   gb_vk_write(dst), gb_vk_read_or(a, dst),
                   gb_vk_read_or(b != NULL ? b : a, dst));
}

void
gb_vk_emit_copy(struct gb_vk_emit *emit, const struct ggml_tensor *dst,
                const struct ggml_tensor *src)
{
    const struct gb_vk_move move = {
        .kind = ggml_are_same_shape(dst, src) ? GB_VK_MOVE_SAME
                                              : GB_VK_MOVE_COPY,
    };

    gb_vk_emit_move(emit, &move, dst, src, NULL);
}
