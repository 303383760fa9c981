/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/matmulid.c - products with matrices that are chosen for each
 * column (MUL_MAT_ID: the feed-forward layers of a mixture of experts).
 *
 * D[:, x, y] = the matrix A[:, :, ids[x, y]] times B[:, x % u, y], u being B's
 * rows for each y.  The host does not know the ids: a few pairs (x, y) are
 * multiplied one by one, more are first sorted by expert, and there are as many
 * tiles as any ids could need.  An id that is no expert's makes a column of
 * zeros. Experts of which bindings cannot show all go in ranges, each of which
 * leaves out the columns of others.
 */
#include "backends/vulkan/ops/formats.h"
#include "backends/vulkan/ops/matmul.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-experts.h"

/* So many pairs of an expert, on average, are worth sorting. */
#define SORTED 4

/* How a product is computed, and what lies where in scratch. */
struct plan {
    struct gb_vk_tiling tiling;
    int64_t n_pairs;
    int64_t n_tiles; /* of columns */
    bool is_sorted;
    size_t tiles, counts, columns, parts, end; /* offsets; pairs are first */
};

/* Bytes of an expert's weights. */
static size_t
expert_size(const struct ggml_tensor *a)
{
    return (size_t)(a->ne[1] - 1) * a->nb[1] + ggml_row_size(a->type, a->ne[0]);
}

/* How many experts of A a binding shows. */
static int64_t
experts_shown(const struct gb_vk_limits *limits, const struct ggml_tensor *a)
{
    const size_t room = gb_vk_room(limits), size = expert_size(a);
    size_t n;

    if (size > room)
        return 0;
    if (a->ne[2] == 1)
        return 1; /* and its stride means nothing */
    if (a->nb[2] > room)
        return 0;
    n = a->nb[2] > 0 ? (room - size) / a->nb[2] + 1 : SIZE_MAX;
    return n > (size_t)a->ne[2] ? a->ne[2] : (int64_t)n;
}

static struct plan
plan_of(const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const int64_t experts = a->ne[2];
    struct plan plan = { .n_pairs = ggml_nelements(node->src[2]) };
    struct gb_vk_product_shape shape = {
        .limits = limits,
        .weights = a->type,
        .columns = node->src[1]->type,
        .m = a->ne[1],
        .k = a->ne[0],
        .is_cut = experts_shown(limits, a) < experts,
        .is_wide = gb_vk_is_wide(a, node->src[1]),
        .columns_size = gb_vk_columns_size(limits, node->src[1]),
    };

    plan.is_sorted = plan.n_pairs > SORTED * experts && plan.n_pairs > 8;
    if (!plan.is_sorted) {
        shape.cols = 1;
        shape.matrices = plan.n_pairs;
        plan.tiling = gb_vk_tile_product(&shape, true);
        plan.n_tiles = plan.n_pairs;
    } else {
        /* At least 9, for the GEMM. */
        shape.cols = 9 + gb_vk_groups(plan.n_pairs, experts);
        shape.matrices = experts;
        plan.tiling = gb_vk_tile_product(&shape, false);
        /* Each expert may have a tile that is not full; so may what is no
         * expert's. */
        plan.n_tiles = plan.n_pairs / plan.tiling.cols + experts + 1;
        plan.tiles = gb_vk_scratch_up((size_t)plan.n_pairs * 4);
        plan.counts =
            plan.tiles + gb_vk_scratch_up((size_t)plan.n_tiles * 12);
        plan.columns =
            plan.counts + gb_vk_scratch_up((size_t)(experts + 1) * 4);
    }
    plan.parts = plan.columns + gb_vk_scratch_up(plan.tiling.columns_size);
    plan.end = plan.parts + gb_vk_product_parts_size(&plan.tiling, node);
    return plan;
}

static bool
mul_mat_id_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    return gb_node_has_f32_rows(node) && gb_vk_is_aligned(node->src[2]) &&
           ggml_nbytes(node) <= gb_vk_room(limits) &&
           ggml_nbytes(b) <= gb_vk_room(limits) &&
           experts_shown(limits, a) > 0 && gb_vk_can_multiply(a, b);
}

static size_t
mul_mat_id_scratch(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    return plan_of(limits, node).end;
}

/* Pairs sorted by expert, and their tiles, into the scratch. */
static void
sort(struct gb_vk_emit *emit, const struct ggml_tensor *node,
     const struct plan *plan)
{
    const struct ggml_tensor *ids = node->src[2];
    struct gb_vk_experts_params params = {
        .ids_nb = { (uint32_t)ids->nb[0], (uint32_t)ids->nb[1] },
        .n = (uint32_t)ids->ne[0],
        .n_pairs = (uint32_t)plan->n_pairs,
        .n_experts = (uint32_t)node->src[0]->ne[2],
        .tiles_at = (uint32_t)plan->tiles,
        .n_tiles = (uint32_t)plan->n_tiles,
        .cols = (uint32_t)plan->tiling.cols,
    };

    GB_VK_DISPATCH(emit, experts, 1, &params,
                   gb_vk_scratch(0, plan->counts, true),
                   gb_vk_scratch(plan->counts, plan->columns - plan->counts,
                                 true),
                   gb_vk_read(ids));
}

static void
mul_mat_id_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct plan plan = plan_of(emit->limits, node);
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    const struct ggml_tensor *ids = node->src[2];
    const int64_t shown = experts_shown(emit->limits, a);
    struct gb_vk_product product = {
        .tiling = plan.tiling,
        .node = node,
        .dst = gb_vk_write(node),
        .weights = gb_vk_read(a),
        .columns = gb_vk_read(b),
        .chosen = gb_vk_read(ids),
        .parts = plan.parts,
        .params = {
            .m = (uint32_t)a->ne[1],
            .k = (uint32_t)a->ne[0],
            .n_cols = (uint32_t)plan.n_pairs,
            .dst_nb = GB_VK_NB_FROM_1(node),
            .weights_ne2 = (uint32_t)a->ne[2],
            .n = (uint32_t)ids->ne[0],
            .r2 = (uint32_t)b->ne[1],
            .column_type = gb_vk_float_of(b->type),
            .ids_nb = { (uint32_t)ids->nb[0], (uint32_t)ids->nb[1] },
            .has_ids = GB_VK_BY_PAIR,
            .weights_nb = GB_VK_NB_FROM_1(a),
            .columns_nb = GB_VK_NB_FROM_1(b),
        },
    };

    if (plan.is_sorted) {
        sort(emit, node, &plan);
        product.chosen = gb_vk_scratch(0, plan.counts, false);
        product.params.has_ids = GB_VK_BY_TILE;
        product.params.ids_nb[0] = (uint32_t)plan.tiles;
    }
    if (plan.tiling.columns_size > 0) {
        gb_vk_pack_columns(emit, &product, plan.columns);
        gb_vk_take_packed(&product, plan.columns);
    }
    for (int64_t first = 0; first < a->ne[2]; first += shown) {
        const int64_t n = a->ne[2] - first < shown ? a->ne[2] - first : shown;

        product.weights.offset = (size_t)first * a->nb[2];
        product.weights.size = (size_t)(n - 1) * a->nb[2] + expert_size(a);
        product.params.first_expert = (uint32_t)first;
        product.params.end_expert = (uint32_t)(first + n);
        gb_vk_multiply(emit, &product, plan.n_tiles);
    }
}

const struct gb_vk_op gb_vk_op_mul_mat_id = {
    .supports = mul_mat_id_supports,
    .cuts = true,
    .scratch = mul_mat_id_scratch,
    .emit = mul_mat_id_emit,
};
