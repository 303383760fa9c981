/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/outprod.c - sums of outer products (OUT_PROD).
 */
#include "backends/vulkan/ops/formats.h"
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/rows.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-outprod.h"

static bool
out_prod_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return gb_vk_can_read(node->src[0]);
}

static const enum gb_vk_pipeline pipelines[GGML_TYPE_COUNT] = {
#define GB_VK_FORMAT(TYPE, name, table) \
    [GGML_TYPE_##TYPE] = GB_VK_out_prod_##name,
#include "backends/vulkan/shaders/formats.def"
#undef GB_VK_FORMAT
};

static struct gb_vk_out_prod_params
params_of(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    return (struct gb_vk_out_prod_params){
        .ne = GB_VK_NE(node),
        .dst_nb = GB_VK_NB(node),
        .a_nb = GB_VK_ROW_NB(a),
        .b_nb = GB_VK_NB(b),
        .n_k = (uint32_t)a->ne[1],
        .share = { (uint32_t)(b->ne[2] / a->ne[2]),
                   (uint32_t)(b->ne[3] / a->ne[3]) },
        .n_tiles = {
            (uint32_t)gb_vk_groups(node->ne[0], GB_VK_OUT_PROD_TILE),
            (uint32_t)gb_vk_groups(node->ne[1], GB_VK_OUT_PROD_TILE),
        },
    };
}

static void
out_prod_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    const enum gb_vk_table table = gb_vk_table_of(a->type);
    struct gb_vk_out_prod_params params = params_of(node);
    const int64_t n_groups = (int64_t)params.n_tiles[0] * params.n_tiles[1] *
                             node->ne[2] * node->ne[3];

    emit->operations = 2 * (uint64_t)(ggml_nelements(node) * a->ne[1]);
    if (table == GB_VK_TABLE_NONE)
        GB_VK_DISPATCH_ONE_OF(emit, pipelines[a->type], n_groups, &params,
                              gb_vk_write(node), gb_vk_read_or(a, node),
                              gb_vk_read_or(b, node));
    else
        GB_VK_DISPATCH_ONE_OF(emit, pipelines[a->type], n_groups, &params,
                              gb_vk_write(node), gb_vk_read_or(a, node),
                              gb_vk_read_or(b, node),
                              gb_vk_read_table(table));
}

/* Do as many matrices of A and of B meet? */
static bool
out_prod_may(const struct ggml_tensor *node, int dim)
{
    return dim < 2 || node->src[0]->ne[dim] == 1 ||
           node->src[0]->ne[dim] == node->ne[dim];
}

/* Columns of the node are those of A, its rows the columns of B. */
static const struct gb_vk_parts out_prod_parts = {
    .dims = { true, true, true, true },
    .sources = { { 1, 0, 3, 4 }, { 0, 1, 3, 4 } },
    .may = out_prod_may,
};

const struct gb_vk_op gb_vk_op_out_prod = {
    .supports = out_prod_supports,
    .parts = &out_prod_parts,
    .emit = out_prod_emit,
};
