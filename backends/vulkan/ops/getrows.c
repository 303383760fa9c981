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

/* Rows of the weights that a dispatch shows where operands are cut, and rows of
 * the node, each with its number. */
struct cut {
    int64_t rows, ids;
};

static struct cut
cut_of(const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const int64_t of_node = gb_vk_rows_shown(limits, node);
    const int64_t of_ids =
        (int64_t)(gb_vk_room(limits) / (node->src[1]->nb[0] + 1));

    return (struct cut){
        .rows = gb_vk_rows_shown(limits, node->src[0]),
        .ids = of_ids < of_node ? of_ids : of_node,
    };
}

static bool
fits(const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct cut cut = cut_of(limits, node);

    return !gb_vk_is_cut(limits, node) ||
           (cut.rows > 0 && cut.ids > 0 && gb_node_has_dense_rows(node) &&
            gb_node_has_dense_rows(node->src[0]));
}

static bool
get_rows_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *src = node->src[0];

    return fits(limits, node) &&
           (src->type == GGML_TYPE_I32 || gb_vk_can_read(src));
}

/* Integers are moved as floats are. */
static const enum gb_vk_pipeline pipelines[GGML_TYPE_COUNT] = {
    [GGML_TYPE_I32] = GB_VK_getrows_f32,
#define GB_VK_FORMAT(TYPE, name, table) \
    [GGML_TYPE_##TYPE] = GB_VK_getrows_##name,
#include "backends/vulkan/shaders/formats.def"
#undef GB_VK_FORMAT
};

/* Dispatch what SHOWN shows, with params that have all of the tensors' own. */
static void
emit_shown(struct gb_vk_emit *emit, const struct ggml_tensor *node,
           struct gb_vk_get_rows_params *params,
           const struct gb_vk_bind shown[3])
{
    const enum gb_vk_pipeline pipeline = pipelines[node->src[0]->type];
    const enum gb_vk_table table = gb_vk_table_of(node->src[0]->type);
    const uint32_t values =
        ggml_is_quantized(node->src[0]->type) ? 8 : 1;
    int64_t n_groups;

    params->units[0] /= values;
    params->dst_nb[0] *= values;
    params->n = params->units[0] * params->units[1] * params->units[2] *
                params->units[3];
    n_groups = gb_vk_groups(params->n, 256);
    if (table == GB_VK_TABLE_NONE)
        GB_VK_DISPATCH_ONE_OF(emit, pipeline, n_groups, params, shown[0],
                              shown[1], shown[2]);
    else
        GB_VK_DISPATCH_ONE_OF(emit, pipeline, n_groups, params, shown[0],
                              shown[1], shown[2], gb_vk_read_table(table));
}

static void
emit_whole(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *src = node->src[0];
    const struct ggml_tensor *ids = node->src[1];
    struct gb_vk_get_rows_params params = {
        .units = GB_VK_NE(node),
        .dst_nb = GB_VK_NB(node),
        .src_nb = GB_VK_NB(src),
        .ids_nb = { (uint32_t)ids->nb[0], (uint32_t)ids->nb[1],
                    (uint32_t)ids->nb[2] },
        .rows = (uint32_t)src->ne[1],
        .all_rows = (uint32_t)src->ne[1],
    };
    const struct gb_vk_bind shown[] = { gb_vk_write(node),
                                        gb_vk_read_or(src, ids),
                                        gb_vk_read(ids) };

    emit_shown(emit, node, &params, shown);
}

/* N of T's elements along dimension DIM, a matrix of rows of LENGTH bytes, from
 * FIRST on. */
static struct gb_vk_bind
part_of(const struct ggml_tensor *t, int dim, int64_t i2, int64_t i3,
        int64_t first, int64_t n, size_t length)
{
    return (struct gb_vk_bind){
        .tensor = t,
        .offset = (size_t)first * t->nb[dim] + (size_t)i2 * t->nb[dim + 1] +
                  (size_t)i3 * t->nb[dim + 2],
        .size = (size_t)(n - 1) * t->nb[dim] + length,
    };
}

/* Matrix (I2, I3): CUT's rows of the weights from ROW on, as far as its numbers
 * from ID on want them. */
static void
emit_part(struct gb_vk_emit *emit, const struct ggml_tensor *node, int64_t i2,
          int64_t i3, int64_t row, int64_t id, const struct cut *cut)
{
    const struct ggml_tensor *src = node->src[0];
    const struct ggml_tensor *ids = node->src[1];
    const int64_t rows =
        src->ne[1] - row < cut->rows ? src->ne[1] - row : cut->rows;
    const int64_t n = ids->ne[0] - id < cut->ids ? ids->ne[0] - id : cut->ids;
    struct gb_vk_get_rows_params params = {
        .units = { (uint32_t)node->ne[0], (uint32_t)n, 1, 1 },
        .dst_nb = { (uint32_t)node->nb[0], (uint32_t)node->nb[1] },
        .src_nb = { (uint32_t)src->nb[0], (uint32_t)src->nb[1] },
        .ids_nb = { (uint32_t)ids->nb[0] },
        .first = (uint32_t)row,
        .rows = (uint32_t)rows,
        .all_rows = (uint32_t)src->ne[1],
    };
    struct gb_vk_bind shown[] = {
        part_of(node, 1, i2, i3, id, n,
                ggml_row_size(node->type, node->ne[0])),
        part_of(src, 1, i2, i3, row, rows,
                ggml_row_size(src->type, src->ne[0])),
        part_of(ids, 0, i2, i3, id, n, sizeof(int32_t)),
    };

    shown[0].is_written = true;
    emit_shown(emit, node, &params, shown);
}

static void
get_rows_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *src = node->src[0];
    const struct ggml_tensor *ids = node->src[1];
    const struct cut cut = cut_of(emit->limits, node);

    if (!gb_vk_is_cut(emit->limits, node)) {
        emit_whole(emit, node);
        return;
    }
    for (int64_t i3 = 0; i3 < node->ne[3]; i3++)
        for (int64_t i2 = 0; i2 < node->ne[2]; i2++)
            for (int64_t id = 0; id < ids->ne[0]; id += cut.ids)
                for (int64_t row = 0; row < src->ne[1]; row += cut.rows)
                    emit_part(emit, node, i2, i3, row, id, &cut);
}

const struct gb_vk_op gb_vk_op_get_rows = {
    .supports = get_rows_supports,
    .cuts = true,
    .emit = get_rows_emit,
};

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
    .emit = get_rows_back_emit,
};
