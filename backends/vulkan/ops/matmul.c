/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/matmul.c - products of matrices (MUL_MAT).
 *
 * D[m, n, p, q] = the sum over k of A[k, m, p / r2, q / r3] * B[k, n, p, q].
 * All columns of B that meet the same matrix of A are taken together, unless
 * bindings cannot show all of an operand: then each matrix of B goes alone, in
 * ranges of rows and columns.
 */
#include "backends/vulkan/ops/fused.h"
#include "backends/vulkan/ops/matmul.h"
#include "backends/vulkan/ops/shape.h"

/* The rows of the weights and columns of a dispatch where operands are cut. */
struct cut {
    int64_t rows, cols;
};

static struct cut
cut_of(const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0], *b = node->src[1];
    const int64_t of_b = gb_vk_rows_shown(limits, b);
    const int64_t of_node = gb_vk_rows_shown(limits, node);

    return (struct cut){
        .rows = gb_vk_rows_shown(limits, a),
        .cols = of_b < of_node ? of_b : of_node,
    };
}

static bool
fits(const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct cut cut = cut_of(limits, node);

    return !gb_vk_is_cut(limits, node) ||
           (cut.rows > 0 && cut.cols > 0 && node->src[0]->ne[0] > 0);
}

static bool
mul_mat_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    return gb_node_has_f32_rows(node) &&
           gb_vk_can_multiply(node->src[0], node->src[1]) &&
           fits(limits, node);
}

static struct gb_vk_tiling
tiling_of(const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const int64_t matrices = a->ne[2] * a->ne[3];
    const struct gb_vk_product_shape shape = {
        .limits = limits,
        .weights = a->type,
        .columns = node->src[1]->type,
        .m = a->ne[1],
        .k = a->ne[0],
        .cols = ggml_nrows(node) / matrices,
        .matrices = matrices,
        .is_wide = gb_vk_is_wide(a, node->src[1]),
        .columns_size = gb_vk_columns_size(limits, node->src[1]),
    };

    return gb_vk_tile_product(&shape, false);
}

static size_t
mul_mat_scratch(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct gb_vk_tiling tiling = tiling_of(limits, node);

    return gb_vk_is_cut(limits, node)
               ? 0
               : gb_vk_scratch_up(tiling.columns_size) +
                     gb_vk_product_parts_size(&tiling, node);
}

/* NODE, where bindings show all of its operands. */
static struct gb_vk_product
whole_product(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    const int64_t cols = ggml_nrows(node) / (a->ne[2] * a->ne[3]);

    return (struct gb_vk_product){
        .tiling = tiling_of(limits, node),
        .node = node,
        .dst = gb_vk_write(node),
        .weights = gb_vk_read(a),
        .columns = gb_vk_read(b),
        .chosen = gb_vk_read(b),
        .params = {
            .m = (uint32_t)a->ne[1],
            .k = (uint32_t)a->ne[0],
            .n_cols = (uint32_t)cols,
            .weights_nb = GB_VK_NB_FROM_1(a),
            .columns_nb = GB_VK_NB_FROM_1(b),
            .dst_nb = GB_VK_NB_FROM_1(node),
            .weights_ne2 = (uint32_t)a->ne[2],
            .n = (uint32_t)b->ne[1],
            .r2 = (uint32_t)(b->ne[2] / a->ne[2]),
            .r3 = (uint32_t)(b->ne[3] / a->ne[3]),
            .column_type = gb_vk_float_of(b->type),
        },
    };
}

/* Tiles of columns over all matrices. */
static int64_t
tiles_of(const struct gb_vk_product *product)
{
    const struct ggml_tensor *a = product->node->src[0];

    return a->ne[2] * a->ne[3] *
           gb_vk_groups(product->params.n_cols, product->tiling.cols);
}

/* PRODUCT's, and what it makes of columns before. */
static void
multiply_whole(struct gb_vk_emit *emit, struct gb_vk_product *product)
{
    if (product->tiling.columns_size > 0) {
        gb_vk_pack_columns(emit, product, 0);
        gb_vk_take_packed(product, 0);
        product->parts = gb_vk_scratch_up(product->tiling.columns_size);
    }
    gb_vk_multiply(emit, product, tiles_of(product));
}

/* N rows from FIRST on of a matrix of T, of which LENGTH bytes are needed each.
 * */
static struct gb_vk_bind
rows_of(const struct ggml_tensor *t, int64_t i2, int64_t i3, int64_t first,
        int64_t n, size_t length)
{
    return (struct gb_vk_bind){
        .tensor = t,
        .offset = (size_t)i3 * t->nb[3] + (size_t)i2 * t->nb[2] +
                  (size_t)first * t->nb[1],
        .size = (size_t)(n - 1) * t->nb[1] + length,
    };
}

/* Matrix (I2, I3) of NODE: CUT's rows from ROW on, and columns from COL on. */
static void
emit_part(struct gb_vk_emit *emit, const struct ggml_tensor *node, int64_t i2,
          int64_t i3, int64_t row, int64_t col, const struct cut *cut)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    const int64_t m = a->ne[1] - row < cut->rows ? a->ne[1] - row : cut->rows;
    const int64_t n = b->ne[1] - col < cut->cols ? b->ne[1] - col : cut->cols;
    const struct gb_vk_product_shape shape = {
        .limits = emit->limits,
        .weights = a->type,
        .columns = b->type,
        .m = m,
        .k = a->ne[0],
        .cols = n,
        .matrices = 1,
        .is_cut = true,
        .is_wide = gb_vk_is_wide(node->src[0], node->src[1]),
    };
    struct gb_vk_product product = {
        .tiling = gb_vk_tile_product(&shape, false),
        .node = node,
        .dst = rows_of(node, i2, i3, col, n, (size_t)m * sizeof(float)),
        .weights = rows_of(a, i2 / (b->ne[2] / a->ne[2]),
                           i3 / (b->ne[3] / a->ne[3]), row, m,
                           ggml_row_size(a->type, a->ne[0])),
        .columns =
            rows_of(b, i2, i3, col, n, ggml_row_size(b->type, b->ne[0])),
        .params = {
            .m = (uint32_t)m,
            .k = (uint32_t)a->ne[0],
            .n_cols = (uint32_t)n,
            .weights_nb = { (uint32_t)a->nb[1] },
            .columns_nb = { (uint32_t)b->nb[1] },
            .dst_nb = { (uint32_t)node->nb[1] },
            .weights_ne2 = 1,
            .n = (uint32_t)n,
            .r2 = 1,
            .r3 = 1,
            .column_type = gb_vk_float_of(b->type),
        },
    };

    product.chosen = product.columns;
    product.dst.offset += (size_t)row * sizeof(float);
    product.dst.is_written = true;
    gb_vk_multiply(emit, &product, gb_vk_groups(n, product.tiling.cols));
}

static void
mul_mat_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct cut cut = cut_of(emit->limits, node);

    if (!gb_vk_is_cut(emit->limits, node)) {
        struct gb_vk_product product = whole_product(emit->limits, node);

        multiply_whole(emit, &product);
        return;
    }
    for (int64_t i3 = 0; i3 < node->ne[3]; i3++)
        for (int64_t i2 = 0; i2 < node->ne[2]; i2++)
            for (int64_t col = 0; col < node->ne[1]; col += cut.cols)
                for (int64_t row = 0; row < node->ne[0]; row += cut.rows)
                    emit_part(emit, node, i2, i3, row, col, &cut);
}

const struct gb_vk_op gb_vk_op_mul_mat = {
    .supports = mul_mat_supports,
    .cuts = true,
    .scratch = mul_mat_scratch,
    .emit = mul_mat_emit,
};

/* ---- with what is added to it ---- */

/* There is one place for an addend, and none for the product by itself. */
static bool
product_supports(
    const struct gb_vk_limits *limits, const struct gb_fuse_group *group)
{
    const struct ggml_tensor *node = group->nodes[0], *sum = group->nodes[1];
    const struct ggml_tensor *addend = gb_fuse_operand(sum, node);
    const struct gb_vk_tiling tiling = tiling_of(limits, node);

    return group->n_nodes == 2 && !gb_fuse_is_written(group, 0) &&
           !gb_vk_is_cut(limits, node) && gb_vk_can_add(&tiling) &&
           gb_node_has_f32_rows(sum) && ggml_are_same_shape(sum, node) &&
           addend->type == GGML_TYPE_F32 && gb_node_repeats_for(addend, node);
}

static void
product_emit(struct gb_vk_emit *emit, const struct gb_fuse_group *group)
{
    const struct ggml_tensor *sum = group->nodes[1];
    const uint32_t nb[] = GB_VK_NB_FROM_1(sum);
    struct gb_vk_product product =
        whole_product(emit->limits, group->nodes[0]);

    product.dst = gb_vk_write(sum);
    memcpy(product.params.dst_nb, nb, sizeof(nb));
    product.sum = sum;
    product.addend = gb_fuse_operand(sum, group->nodes[0]);
    multiply_whole(emit, &product);
}

const struct gb_vk_fused gb_vk_fused_product = {
    .supports = product_supports,
    .emit = product_emit,
};

/* ---- with others that have the same right side ---- */

static bool
products_support(
    const struct gb_vk_limits *limits, const struct gb_fuse_group *group)
{
    for (int i = 0; i < group->n_nodes; i++)
        if (gb_vk_is_cut(limits, group->nodes[i]))
            return false;
    return true;
}

static size_t
parts_of(const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct gb_vk_tiling tiling = tiling_of(limits, node);

    return gb_vk_scratch_up(gb_vk_product_parts_size(&tiling, node));
}

/* Columns as blocks, of which all that want some have the same. */
static size_t
columns_of(
    const struct gb_vk_limits *limits, const struct gb_fuse_group *group)
{
    size_t size = 0;

    for (int i = 0; i < group->n_nodes && size == 0; i++)
        size = tiling_of(limits, group->nodes[i]).columns_size;
    return gb_vk_scratch_up(size);
}

/* Parts of all products are there at once. */
static size_t
products_scratch(
    const struct gb_vk_limits *limits, const struct gb_fuse_group *group)
{
    size_t size = columns_of(limits, group);

    for (int i = 0; i < group->n_nodes; i++)
        size += parts_of(limits, group->nodes[i]);
    return size;
}

/* First all products, and then all sums of parts: one barrier parts them. */
static void
products_emit(struct gb_vk_emit *emit, const struct gb_fuse_group *group)
{
    struct gb_vk_product products[GB_FUSE_MAX_PARTS];
    size_t parts = columns_of(emit->limits, group);
    bool is_packed = false;

    for (int i = 0; i < group->n_nodes; i++) {
        products[i] = whole_product(emit->limits, group->nodes[i]);
        products[i].parts = parts;
        if (products[i].tiling.columns_size > 0) {
            if (!is_packed)
                gb_vk_pack_columns(emit, &products[i], 0);
            is_packed = true;
            gb_vk_take_packed(&products[i], 0);
        }
        parts += parts_of(emit->limits, group->nodes[i]);
        gb_vk_multiply_parts(emit, &products[i], tiles_of(&products[i]));
    }
    for (int i = 0; i < group->n_nodes; i++)
        gb_vk_join_product(emit, &products[i]);
}

const struct gb_vk_fused gb_vk_fused_products = {
    .supports = products_support,
    .scratch = products_scratch,
    .emit = products_emit,
};
