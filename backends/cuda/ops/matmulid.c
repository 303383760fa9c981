/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/matmulid.c - products with matrices that are chosen for each column
 * (MUL_MAT_ID: the feed-forward layers of a mixture of experts).
 *
 * D[:, x, y] = the matrix A[:, :, ids[x, y]] times B[:, x % u, y], u being B's
 * rows for each y.  The host does not know the ids: a few pairs (x, y) are
 * multiplied one by one, more are first sorted by expert, once for products that
 * follow each other with the same ids, and there are as many tiles as any ids could
 * need.  An id that is no expert's makes a column of zeros.
 */
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/matmul.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/shape.h"

/* How a product is computed, and what lies where in scratch. */
struct plan {
    struct gb_cuda_tiling tiling;
    int64_t n_pairs;
    int64_t n_tiles; /* of columns */
    bool is_sorted;
    size_t pairs, tiles, parts, end; /* offsets; counts are first */
};

static struct plan
plan_of(const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const int64_t experts = a->ne[2];
    struct plan plan = { .n_pairs = ggml_nelements(node->src[2]) };
    const struct gb_cuda_product_shape shape = {
        .weights = a->type,
        .activations = node->src[1]->type,
        .m = a->ne[1],
        .k = a->ne[0],
        .cols = (plan.n_pairs + experts - 1) / experts,
        .matrices = plan.n_pairs < experts ? plan.n_pairs : experts,
        .is_in_pieces = gb_cuda_is_in_pieces(a),
    };

    plan.tiling = gb_cuda_matmul_dispatch(limits, &shape);
    plan.is_sorted = plan.tiling.col_step > 1;
    /* Each expert that has columns may have a tile that is not full; so may
     * what is no expert's. */
    plan.n_tiles = plan.n_pairs;
    if (plan.is_sorted)
        plan.n_tiles = plan.n_pairs / plan.tiling.col_step +
                       (plan.n_pairs <= experts ? plan.n_pairs : experts + 1);

    if (plan.is_sorted) {
        plan.pairs = gb_cuda_scratch_up((size_t)(experts + 1) * 4);
        plan.tiles =
            plan.pairs + gb_cuda_scratch_up((size_t)plan.n_pairs * 4);
        plan.parts =
            plan.tiles +
            gb_cuda_scratch_up((size_t)plan.n_tiles *
                               sizeof(struct gb_cuda_expert_tile));
    }
    plan.end = plan.parts + gb_cuda_parts_size(&plan.tiling, node);
    return plan;
}

static bool
has_tiles(const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    struct plan plan;
    int64_t n_tiles;

    if (ggml_is_empty(node))
        return true;
    plan = plan_of(limits, node);
    return gb_cuda_tiles(
        &plan.tiling, node->ne[0], plan.n_tiles, 1, &n_tiles);
}

static bool
mul_mat_id_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];

    return ggml_nelements(node->src[2]) < INT32_MAX / 2 &&
           a->ne[2] < INT32_MAX / 2 &&
           gb_cuda_can_multiply(a, node->src[1]) && has_tiles(limits, node);
}

static size_t
mul_mat_id_columns(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const struct plan plan = plan_of(limits, node);

    return gb_cuda_packed_size(plan.tiling.packing, node->src[1]);
}

static size_t
mul_mat_id_scratch(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    return plan_of(limits, node).end;
}

/* Are the pairs of NODE sorted already, by a product before it?  If not, they
 * will be. */
static bool
is_sorted(struct gb_cuda_emit *emit, const struct ggml_tensor *node,
          const struct plan *plan)
{
    const struct gb_cuda_sorted before = emit->sorted;

    emit->sorted = (struct gb_cuda_sorted){
        .ids = node->src[2],
        .n_experts = (int)node->src[0]->ne[2],
        .col_step = plan->tiling.col_step,
        .n_tiles = (int)plan->n_tiles,
    };
    return before.ids != NULL &&
           before.n_experts == emit->sorted.n_experts &&
           before.col_step == emit->sorted.col_step &&
           before.n_tiles == emit->sorted.n_tiles &&
           gb_cuda_are_the_same(before.ids, node->src[2]);
}

static void
sort(struct gb_cuda_emit *emit, const struct ggml_tensor *node,
     const struct plan *plan, struct gb_cuda_product_args *args)
{
    const struct gb_cuda_experts_args sort = {
        .ids = args->ids,
        .n_experts = (int32_t)node->src[0]->ne[2],
        .col_step = plan->tiling.col_step,
        .n_tiles = (int32_t)plan->n_tiles,
        .counts = (int32_t *)emit->scratch,
        .pairs = (int32_t *)(emit->scratch + plan->pairs),
        .tiles = (struct gb_cuda_expert_tile *)(emit->scratch + plan->tiles),
    };

    if (!is_sorted(emit, node, plan))
        GB_CUDA_LAUNCH(emit, gb_sort_by_expert, 1, 0, &sort);
    args->pairs = sort.pairs;
    args->tiles = sort.tiles;
}

static void
mul_mat_id_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const struct plan plan = plan_of(emit->limits, node);
    struct gb_cuda_product_args args = {
        .weights = gb_cuda_arg(node->src[0]),
        .ids = gb_cuda_arg(node->src[2]),
        .n_cols = (int32_t)plan.n_pairs,
        .col_tiles = (int32_t)plan.n_tiles,
    };

    if (plan.is_sorted)
        sort(emit, node, &plan, &args);
    else
        emit->sorted.ids = NULL; /* its parts lie there */
    gb_cuda_pack(emit, plan.tiling.packing, node->src[1], &args.columns);
    gb_cuda_multiply(emit, &plan.tiling, node, 1, emit->scratch + plan.parts,
                     &args);
}

const struct gb_cuda_op gb_cuda_op_mul_mat_id = {
    .supports = mul_mat_id_supports,
    .columns = mul_mat_id_columns,
    .scratch = mul_mat_id_scratch,
    .emit = mul_mat_id_emit,
};
