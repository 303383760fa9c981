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

/* Is member I, a sum, without gaps, and one that the shader knows where it is
 * seen before the last one? */
static bool
can_be_written(const struct gb_fuse_group *group, int i)
{
    const bool is_inner = i < group->n_nodes - 1;

    return ggml_is_contiguous(group->nodes[i]) &&
           (!is_inner || i <= GB_VK_INNER_SUMS ||
            !gb_fuse_is_written(group, i));
}

static bool
slices_support(
    const struct gb_vk_limits *limits, const struct gb_fuse_group *group)
{
    if (!gb_vk_can_use(limits, GB_VK_slices) ||
        !gb_fuse_adds_slices(group, UINT8_MAX))
        return false;
    for (int i = 1; i < group->n_nodes; i++)
        if (!can_be_written(group, i))
            return false;
    return true;
}

static void
add_slices(struct gb_vk_slices_params *params,
           const struct gb_fuse_group *group, int i)
{
    const struct ggml_tensor *slices[2];
    const int n = gb_fuse_slices_of(group, i, slices);

    for (int j = 0; j < n; j++) {
        const uint32_t number = params->n_slices++;

        params->slices[number / 4] |=
            (uint32_t)gb_fuse_slice_index(slices[j], group->nodes[0])
            << 8 * (number % 4);
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
