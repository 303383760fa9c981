/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/formats.c - which tensors shaders read as floats.
 */
#include "backends/vulkan/ops/formats.h"

#include "backends/vulkan/ops/shape.h"

struct format {
    bool is_there;
    uint8_t table;
};

static const struct format formats[GGML_TYPE_COUNT] = {
#define GB_VK_FORMAT(TYPE, name, table) \
    [GGML_TYPE_##TYPE] = { true, GB_VK_TABLE_##table },
#include "backends/vulkan/shaders/formats.def"
#undef GB_VK_FORMAT
};

bool
gb_vk_has_format(enum ggml_type type)
{
    return (unsigned)type < GGML_TYPE_COUNT && formats[type].is_there;
}

enum gb_vk_table
gb_vk_table_of(enum ggml_type type)
{
    return (enum gb_vk_table)formats[type].table;
}

bool
gb_vk_is_aligned(const struct ggml_tensor *tensor)
{
    const size_t size = ggml_type_size(tensor->type);
    const size_t unit = size & -size; /* the power of two in it */
    size_t bytes = tensor->view_offs | (size_t)(uintptr_t)tensor->data;

    for (int i = 0; i < GGML_MAX_DIMS; i++)
        bytes |= tensor->ne[i] > 1 ? tensor->nb[i] : 0;
    return bytes % (unit < 4 ? unit : 4) == 0;
}

bool
gb_vk_can_read(const struct ggml_tensor *tensor)
{
    return gb_vk_is_aligned(tensor) &&
           (gb_node_is_float(tensor->type) ||
            (gb_vk_has_format(tensor->type) &&
             gb_node_has_dense_rows(tensor)));
}
