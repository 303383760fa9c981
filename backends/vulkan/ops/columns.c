/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/columns.c - columns of products as blocks of bytes, for shaders that
 * multiply these: one behind the other in scratch, whatever strides they had.
 */
#include "backends/vulkan/ops/matmul.h"
#include "backends/vulkan/ops/parts.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-columns.h"

#define BLOCKS 32 /* that a work group makes */

/* Of a column of K values: codes, and the scales of blocks. */
static size_t
stride_of(int64_t k)
{
    const size_t bytes =
        (size_t)k + (size_t)k / GB_VK_DOT_BLOCK * sizeof(float);

    return (bytes + 15) & ~(size_t)15;
}

size_t
gb_vk_columns_size(
    const struct gb_vk_limits *limits, const struct ggml_tensor *b)
{
    const size_t size = stride_of(b->ne[0]) * (size_t)ggml_nrows(b);

    return b->ne[0] % GB_VK_DOT_BLOCK == 0 && size <= gb_vk_room(limits)
               ? size : 0;
}

void
gb_vk_pack_columns(struct gb_vk_emit *emit,
                   const struct gb_vk_product *product, size_t at)
{
    const struct ggml_tensor *b = product->node->src[1];
    const int64_t blocks = b->ne[0] / GB_VK_DOT_BLOCK;
    struct gb_vk_columns_params params = {
        .n = (uint32_t)(blocks * ggml_nrows(b)),
        .blocks = (uint32_t)blocks,
        .ne = { (uint32_t)b->ne[1], (uint32_t)b->ne[2] },
        .nb = GB_VK_NB_FROM_1(b),
        .column_type = gb_vk_float_of(b->type),
        .stride = (uint32_t)stride_of(b->ne[0]),
    };

    GB_VK_DISPATCH(emit, columns, gb_vk_groups(params.n, BLOCKS), &params,
                   gb_vk_scratch(at, product->tiling.columns_size, true),
                   gb_vk_read(b));
}

void
gb_vk_take_packed(struct gb_vk_product *product, size_t at)
{
    const struct ggml_tensor *b = product->node->src[1];
    size_t stride = stride_of(b->ne[0]);

    product->columns =
        gb_vk_scratch(at, product->tiling.columns_size, false);
    for (int i = 0; i < 3; i++) {
        product->params.columns_nb[i] = (uint32_t)stride;
        stride *= (size_t)b->ne[i + 1];
    }
}
