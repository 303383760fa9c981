/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/getrows.c - rows picked by their numbers (embeddings), and the
 * gradient.
 */
#include "backends/vulkan/ops/formats.h"
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-getrows.h"
#include "backends/vulkan/shaders/params-getrowsback.h"

static bool
get_rows_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *src = node->src[0];
    const struct ggml_tensor *ids = node->src[1];

    (void)limits;
    if (!gb_vk_has_sources(node, 2) || ids->type != GGML_TYPE_I32 ||
        ids->ne[3] != 1 || src->ne[2] != ids->ne[1] ||
        src->ne[3] != ids->ne[2])
        return false;
    if (src->type == GGML_TYPE_I32)
        return node->type == GGML_TYPE_I32;
    return node->type == GGML_TYPE_F32 && gb_vk_can_read(src) &&
           gb_vk_has_dense_rows(node);
}

/* Integers are moved as floats are. */
static const enum gb_vk_pipeline pipelines[GGML_TYPE_COUNT] = {
    [GGML_TYPE_I32] = GB_VK_getrows_f32,
#define GB_VK_FORMAT(TYPE, name, table) \
    [GGML_TYPE_##TYPE] = GB_VK_getrows_##name,
#include "backends/vulkan/shaders/formats.def"
#undef GB_VK_FORMAT
};

static void
get_rows_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *src = node->src[0];
    const struct ggml_tensor *ids = node->src[1];
    const enum gb_vk_pipeline pipeline = pipelines[src->type];
    const enum gb_vk_table table = gb_vk_table_of(src->type);
    const uint32_t values = ggml_is_quantized(src->type) ? 8 : 1;
    struct gb_vk_get_rows_params params = {
        .units = GB_VK_NE(node),
        .dst_nb = GB_VK_NB(node),
        .src_nb = GB_VK_NB(src),
        .ids_nb = { (uint32_t)ids->nb[0], (uint32_t)ids->nb[1],
                    (uint32_t)ids->nb[2] },
        .rows = (uint32_t)src->ne[1],
        .n = (uint32_t)ggml_nelements(node) / values,
    };
    const int64_t n_groups = gb_vk_groups(params.n, 256);

    params.units[0] /= values;
    params.dst_nb[0] *= values;
    if (table == GB_VK_TABLE_NONE)
        GB_VK_DISPATCH_ONE_OF(emit, pipeline, n_groups, &params,
                              gb_vk_write(node), gb_vk_read_or(src, ids),
                              gb_vk_read(ids));
    else
        GB_VK_DISPATCH_ONE_OF(emit, pipeline, n_groups, &params,
                              gb_vk_write(node), gb_vk_read_or(src, ids),
                              gb_vk_read(ids), gb_vk_read_table(table));
}

const struct gb_vk_op gb_vk_op_get_rows = {
    .supports = get_rows_supports,
    .emit = get_rows_emit,
};

static bool
get_rows_back_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *src = node->src[0];
    const struct ggml_tensor *ids = node->src[1];

    (void)limits;
    return gb_vk_has_sources(node, 2) && gb_vk_is_float(src->type) &&
           ids->type == GGML_TYPE_I32 && node->type == GGML_TYPE_F32 &&
           src->ne[0] == node->ne[0] && src->ne[1] >= ids->ne[0] &&
           ggml_is_matrix(src) && ggml_is_matrix(node) && ggml_is_vector(ids);
}

static void
get_rows_back_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *src = node->src[0];
    const struct ggml_tensor *ids = node->src[1];
    struct gb_vk_get_rows_back_params params = {
        .ne0 = (uint32_t)node->ne[0],
        .n = (uint32_t)ggml_nelements(node),
        .n_ids = (uint32_t)ids->ne[0],
        .dst_nb = { (uint32_t)node->nb[0], (uint32_t)node->nb[1] },
        .src_nb = { (uint32_t)src->nb[0], (uint32_t)src->nb[1] },
        .ids_nb = (uint32_t)ids->nb[0],
        .src_type = gb_vk_float_of(src->type),
    };

    GB_VK_DISPATCH(emit, getrowsback, gb_vk_groups(params.n, 256), &params,
                   gb_vk_write(node), gb_vk_read_or(src, node),
                   gb_vk_read_or(ids, node));
}

const struct gb_vk_op gb_vk_op_get_rows_back = {
    .supports = get_rows_back_supports,
    .emit = get_rows_back_emit,
};
