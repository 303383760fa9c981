/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/slices.c - a product element by element, and the sum of slices of
 * it, by one dispatch: of a mixture of experts, what they made by their weights.
 */
#include "backends/vulkan/ops/fused.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-slices.h"

_Static_assert(GB_VK_MOST_SLICES >= GB_FUSE_MAX_NODES,
               "a dispatch makes the sum of a group");

/* The slices of the product that member I of GROUP, a sum, adds: two of the
 * first one, or one. */
static int
slices_of(const struct gb_fuse_group *group, int i,
          const struct ggml_tensor *slices[2])
{
    const struct ggml_tensor *sum = group->nodes[i];

    if (i > 1) {
        slices[0] = gb_vk_other_operand(sum, group->nodes[i - 1]);
        return 1;
    }
    slices[0] = sum->src[0];
    slices[1] = sum->src[1];
    return 2;
}

/* Has T rows of a matrix, as many as PRODUCT has along dimension 2? */
static bool
has_sums_of(const struct ggml_tensor *t, const struct ggml_tensor *product)
{
    return t->type == GGML_TYPE_F32 && t->ne[0] == product->ne[0] &&
           t->ne[1] == product->ne[2] && t->ne[2] == 1 && t->ne[3] == 1;
}

/* Which one along dimension 1 of PRODUCT it is; -1: none, or not a whole one. */
static int64_t
index_of(const struct ggml_tensor *slice, const struct ggml_tensor *product)
{
    const size_t offset =
        (size_t)((const char *)slice->data - (const char *)product->data);

    if (!has_sums_of(slice, product) || slice->nb[0] != product->nb[0] ||
        offset % product->nb[1] != 0 ||
        (slice->ne[1] > 1 && slice->nb[1] != product->nb[2]) ||
        offset / product->nb[1] >= (size_t)product->ne[1])
        return -1;
    return (int64_t)(offset / product->nb[1]);
}

static bool
is_product_good(const struct ggml_tensor *product)
{
    const struct ggml_tensor *a = product->src[0], *weights = product->src[1];

    return product->type == GGML_TYPE_F32 && ggml_is_contiguous(product) &&
           product->ne[1] <= UINT8_MAX && product->ne[3] == 1 &&
           a->type == GGML_TYPE_F32 && ggml_are_same_shape(a, product) &&
           weights->type == GGML_TYPE_F32 &&
           gb_vk_repeats_for(weights, product);
}

/* Is member I a sum that can be written where it is? */
static bool
is_sum_good(const struct gb_fuse_group *group, int i)
{
    const struct ggml_tensor *sum = group->nodes[i];
    const bool is_inner = i < group->n_nodes - 1;

    return has_sums_of(sum, group->nodes[0]) && ggml_is_contiguous(sum) &&
           (!is_inner || i <= GB_VK_INNER_SUMS ||
            !gb_fuse_is_written(group, i));
}

static bool
slices_support(
    const struct gb_vk_limits *limits, const struct gb_fuse_group *group)
{
    const struct ggml_tensor *product = group->nodes[0], *slices[2];

    if (!gb_vk_can_use(limits, GB_VK_slices) || !is_product_good(product))
        return false;
    for (int i = 1; i < group->n_nodes; i++) {
        const int n = slices_of(group, i, slices);

        if (!is_sum_good(group, i))
            return false;
        for (int j = 0; j < n; j++)
            if (index_of(slices[j], product) < 0)
                return false;
    }
    return true;
}

static void
add_slices(struct gb_vk_slices_params *params,
           const struct gb_fuse_group *group, int i)
{
    const struct ggml_tensor *slices[2];
    const int n = slices_of(group, i, slices);

    for (int j = 0; j < n; j++) {
        const uint32_t number = params->n_slices++;

        params->slices[number / 4] |=
            (uint32_t)index_of(slices[j], group->nodes[0]) << 8 * (number % 4);
    }
}

static void
slices_emit(struct gb_vk_emit *emit, const struct gb_fuse_group *group)
{
    const int last = group->n_nodes - 1;
    const struct ggml_tensor *product = group->nodes[0];
    const struct ggml_tensor *a = product->src[0], *weights = product->src[1];
    const uint32_t nb[] = GB_VK_NB_REPEATED(weights);
    struct gb_vk_bind binds[4 + GB_VK_INNER_SUMS] = {
        gb_vk_write(group->nodes[last]), gb_vk_read(a), gb_vk_read(weights),
        gb_vk_write_if(group, 0, group->nodes[last])
    };
    struct gb_vk_slices_params params = {
        .ne = { (uint32_t)product->ne[0], (uint32_t)product->ne[1],
                (uint32_t)product->ne[2] },
        .src_nb = { (uint32_t)a->nb[0], (uint32_t)a->nb[1],
                    (uint32_t)a->nb[2] },
        .weights_nb = { nb[0], nb[1], nb[2] },
        .n = (uint32_t)(product->ne[0] * product->ne[2]),
        .written = group->written & ((1u << last) - 1),
    };

    for (int i = 1; i <= last; i++)
        add_slices(&params, group, i);
    for (int i = 1; i <= GB_VK_INNER_SUMS; i++)
        binds[3 + i] = i < last ? gb_vk_write_if(group, i, group->nodes[last])
                                : gb_vk_write(group->nodes[last]);
    emit->add(emit, GB_VK_slices, gb_vk_groups(params.n, 256), binds,
              4 + GB_VK_INNER_SUMS, &params, sizeof(params));
}

const struct gb_vk_fused gb_vk_fused_slices = {
    .supports = slices_support,
    .emit = slices_emit,
};
