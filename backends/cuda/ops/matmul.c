/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/matmul.c - products of matrices (MUL_MAT): the dispatch, and rows of
 * the table.
 *
 * D[m, n, p, q] = the sum over k of A[k, m, p / r2, q / r3] * B[k, n, p, q].
 * All columns of B that meet the same matrix of A are taken together.
 */
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/fused.h"
#include "backends/cuda/ops/matmul.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/shape.h"

#include "ggml-backend.h"

#define GEMV_COLS    8   /* the largest tile of columns of the GEMV */
#define GEMM_TILE    64  /* rows, and columns */

/* Warps of a thread block share k where each has as many stages of it, of which a
 * warp takes 32 values a lane at a time.  With fewer, what a warp does once, some
 * 300 instructions, is more than what it does for weights. */
#define GEMV_STAGE(warp) (32 * (int64_t)(warp))
#define GEMV_STAGES      4

/* A split has at least so many values of k, a multiple of any block; a product
 * is cut until each multiprocessor has so many thread blocks, or one of warp
 * groups. */
#define SPLIT_STEP    256
#define SPLIT_MIN     1024
#define SPLITS_MAX    16
#define BLOCKS_PER_SM 2

/* GEMV by type of the weights and columns: up to 1, 4, 8. */
static const enum gb_cuda_kernel gemv_kernels[3][GGML_TYPE_COUNT] = {
#define GB_CUDA_BLOCKS(TYPE, name)                                \
    [0][GGML_TYPE_##TYPE] = GB_CUDA_KERNEL_gb_gemv_##name##_1,    \
    [1][GGML_TYPE_##TYPE] = GB_CUDA_KERNEL_gb_gemv_##name##_4,    \
    [2][GGML_TYPE_##TYPE] = GB_CUDA_KERNEL_gb_gemv_##name##_8,
#define GB_CUDA_FLOATS(TYPE, name, type) GB_CUDA_BLOCKS(TYPE, name)
#include "backends/cuda/kernels/formats.def"
#undef GB_CUDA_FLOATS
#undef GB_CUDA_BLOCKS
};

static const enum gb_cuda_kernel gemm_kernels[GGML_TYPE_COUNT] = {
#define GB_CUDA_BLOCKS(TYPE, name)
#define GB_CUDA_FLOATS(TYPE, name, type) \
    [GGML_TYPE_##TYPE] = GB_CUDA_KERNEL_gb_gemm_##name,
#include "backends/cuda/kernels/formats.def"
#undef GB_CUDA_FLOATS
#undef GB_CUDA_BLOCKS
};

/* On tensor cores, or on AMD's matrix cores. */
struct mma_kernel {
    enum gb_cuda_kernel kernel;
    enum gb_cuda_packing packing;
    bool is_there;
};

static const struct mma_kernel mma_kernels[GGML_TYPE_COUNT] = {
#define GB_CUDA_FLOATS(TYPE, name, type)
#define GB_CUDA_BLOCKS(TYPE, name)                               \
    [GGML_TYPE_##TYPE] = { GB_CUDA_KERNEL_gb_mma_gemm_##name,    \
                           GB_CUDA_PACK_F16, true },
#include "backends/cuda/kernels/formats.def"
    GB_CUDA_BLOCKS(F16, f16)
#undef GB_CUDA_FLOATS
#undef GB_CUDA_BLOCKS
};

static const struct mma_kernel matrix_kernels[GGML_TYPE_COUNT] = {
#define GB_CUDA_FLOATS(TYPE, name, type)
#define GB_CUDA_BLOCKS(TYPE, name)                               \
    [GGML_TYPE_##TYPE] = { GB_CUDA_KERNEL_gb_matrix_gemm_##name, \
                           GB_CUDA_PACK_F16, true },
#include "backends/cuda/kernels/formats.def"
    GB_CUDA_BLOCKS(F16, f16)
#undef GB_CUDA_FLOATS
#undef GB_CUDA_BLOCKS
    [GGML_TYPE_BF16] = { GB_CUDA_KERNEL_gb_matrix_gemm_bf16,
                         GB_CUDA_PACK_BF16, true },
};

/* On MFMA, by large tiles. */
static const struct mma_kernel mfma_kernels[GGML_TYPE_COUNT] = {
#define GB_CUDA_FLOATS(TYPE, name, type)
#define GB_CUDA_BLOCKS(TYPE, name)                               \
    [GGML_TYPE_##TYPE] = { GB_CUDA_KERNEL_gb_mfma_gemm_##name,   \
                           GB_CUDA_PACK_F16, true },
#include "backends/cuda/kernels/formats.def"
    GB_CUDA_BLOCKS(F16, f16)
#undef GB_CUDA_FLOATS
#undef GB_CUDA_BLOCKS
    [GGML_TYPE_BF16] = { GB_CUDA_KERNEL_gb_mfma_gemm_bf16,
                         GB_CUDA_PACK_BF16, true },
};

static const struct mma_kernel mma8_kernels[GGML_TYPE_COUNT] = {
#define GB_CUDA_FLOATS(TYPE, name, type)
#define GB_CUDA_BLOCKS(TYPE, name)                               \
    [GGML_TYPE_##TYPE] = { GB_CUDA_KERNEL_gb_mma8_gemm_##name,   \
                           GB_CUDA_PACK_F16, true },
#include "backends/cuda/kernels/formats.def"
    GB_CUDA_BLOCKS(F16, f16)
#undef GB_CUDA_FLOATS
#undef GB_CUDA_BLOCKS
    [GGML_TYPE_BF16] = { GB_CUDA_KERNEL_gb_mma8_gemm_bf16,
                         GB_CUDA_PACK_BF16, true },
};

static const struct mma_kernel wgmma_kernels[GGML_TYPE_COUNT] = {
#define GB_CUDA_FLOATS(TYPE, name, type)
#define GB_CUDA_BLOCKS(TYPE, name)                               \
    [GGML_TYPE_##TYPE] = { GB_CUDA_KERNEL_gb_wgmma_gemm_##name,  \
                           GB_CUDA_PACK_F16, true },
#include "backends/cuda/kernels/formats.def"
    GB_CUDA_BLOCKS(F16, f16)
#undef GB_CUDA_FLOATS
#undef GB_CUDA_BLOCKS
    [GGML_TYPE_BF16] = { GB_CUDA_KERNEL_gb_wgmma_gemm_bf16,
                         GB_CUDA_PACK_BF16, true },
};

static int64_t
ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* Warps of a thread block that have rows of their own; the others share their k.
 * By k alone, so that bits do not depend on the number of rows. */
static int
gemv_rows_of_warps(const struct gb_cuda_limits *limits, int64_t k)
{
    const int warps = GB_CUDA_GEMV_THREADS / limits->warp;
    int sharing = 1;

    while (sharing < warps &&
           k >= 2 * sharing * GEMV_STAGES * GEMV_STAGE(limits->warp))
        sharing *= 2;
    return warps / sharing;
}

bool
gb_cuda_may_read_ahead(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *weights = node->src[0];

    return limits->weights_stay && node->op == GGML_OP_MUL_MAT &&
           weights->op == GGML_OP_NONE && weights->buffer != NULL &&
           ggml_backend_buffer_get_usage(weights->buffer) ==
               GGML_BACKEND_BUFFER_USAGE_WEIGHTS;
}

static void
tile_gemv(const struct gb_cuda_limits *limits,
          const struct gb_cuda_product_shape *shape,
          struct gb_cuda_tiling *tiling)
{
    const int size = shape->cols <= 1 ? 0 : shape->cols <= 4 ? 1 : 2;
    static const int cols[] = { 1, 4, GEMV_COLS };

    tiling->kernel = gemv_kernels[size][shape->weights];
    tiling->row_step =
        GB_CUDA_GEMV_ROWS * gemv_rows_of_warps(limits, shape->k);
    tiling->col_step = cols[size];
    tiling->is_gemv = true;
}

static bool
has_warp_groups(const struct gb_cuda_limits *limits)
{
    return limits->variant >= GB_CUDA_WGMMA &&
           limits->shared >= GB_CUDA_WGMMA_SHARED;
}

/* Those that a card may have, the best first. */
static const struct mma_kernel *
mma_kernels_of(const struct gb_cuda_limits *limits)
{
    if (gb_cuda_has_variant(limits, GB_CUDA_MFMA))
        return matrix_kernels;
    if (limits->warp != 32)
        return NULL;
    return has_warp_groups(limits)                  ? wgmma_kernels
           : limits->variant >= GB_CUDA_MMA8 ? mma8_kernels
           : limits->variant >= GB_CUDA_MMA  ? mma_kernels
                                             : NULL;
}

/* The kernel on tensor cores for weights of TYPE; NULL for none. */
static const struct mma_kernel *
mma_kernel_of(const struct gb_cuda_limits *limits, enum ggml_type type)
{
    const struct mma_kernel *kernels = mma_kernels_of(limits);

    return kernels != NULL && kernels[type].is_there ? &kernels[type] : NULL;
}

static void
tile_gemm(const struct gb_cuda_product_shape *shape,
          struct gb_cuda_tiling *tiling)
{
    tiling->kernel = gemm_kernels[shape->weights];
    tiling->row_step = GEMM_TILE;
    tiling->col_step = GEMM_TILE;
}

/* Tiles that a product has. */
static int64_t
tiles_of(const struct gb_cuda_product_shape *shape, int row_step, int col_step)
{
    return shape->matrices * ceil_div(shape->m, row_step) *
           ceil_div(shape->cols, col_step);
}

/* Most parts that k is cut into, however few tiles there are. */
static int64_t
most_splits(const struct gb_cuda_product_shape *shape)
{
    const int64_t n = shape->k / SPLIT_MIN;

    return n < 1 ? 1 : n > SPLITS_MAX ? SPLITS_MAX : n;
}

/*
 * Has a card with MFMA kernels of large tiles, are there more rows and columns than
 * those of small tiles, and enough large ones for all multiprocessors?  Steps are
 * counted by an int there.
 */
static bool
fills_large_tiles(const struct gb_cuda_limits *limits,
                  const struct gb_cuda_product_shape *shape)
{
    return limits->variant == GB_CUDA_MFMA && limits->warp == 64 &&
           shape->m > GEMM_TILE && shape->cols > GEMM_TILE &&
           shape->k < INT32_MAX &&
           (shape->is_in_pieces || !gb_node_is_float(shape->weights)) &&
           tiles_of(shape, GB_CUDA_MFMA_TILE, GB_CUDA_MFMA_TILE) *
                   most_splits(shape) >=
               limits->n_sms;
}

static void
tile_mma(const struct gb_cuda_limits *limits, const struct mma_kernel *mma,
         const struct gb_cuda_product_shape *shape,
         struct gb_cuda_tiling *tiling)
{
    tiling->kernel = mma->kernel;
    tiling->packing = mma->packing;
    tiling->by_warp_groups = has_warp_groups(limits);
    tiling->row_step = GEMM_TILE;
    tiling->col_step = GEMM_TILE;
    if (tiling->by_warp_groups) {
        tiling->row_step = GB_CUDA_WGMMA_ROWS;
        tiling->col_step = GB_CUDA_WGMMA_COLS;
        /* Few tiles whose k is too short to be cut: two for one. */
        if (shape->k < 2 * SPLIT_MIN &&
            2 * tiles_of(shape, GB_CUDA_WGMMA_ROWS, GB_CUDA_WGMMA_COLS) <=
                limits->n_sms)
            tiling->col_step /= 2;
    } else if (fills_large_tiles(limits, shape)) {
        tiling->kernel = mfma_kernels[shape->weights].kernel;
        tiling->row_step = GB_CUDA_MFMA_TILE;
        tiling->col_step = GB_CUDA_MFMA_TILE;
    }
}

/* Rows that count when tiles are: a GEMV with more of them a thread block, since
 * its warps do not share k, is not cut for it. */
static int
rows_of_block(const struct gb_cuda_tiling *tiling)
{
    return tiling->is_gemv ? GB_CUDA_GEMV_ROWS : tiling->row_step;
}

/* Cut k where tiles are too few to fill the card. */
static void
split(const struct gb_cuda_limits *limits,
      const struct gb_cuda_product_shape *shape, struct gb_cuda_tiling *tiling)
{
    const int64_t tiles =
        tiles_of(shape, rows_of_block(tiling), tiling->col_step);
    const int64_t resident = tiling->by_warp_groups ? 1 : BLOCKS_PER_SM;
    const int64_t wanted = resident * (int64_t)limits->n_sms / tiles;
    const int64_t most = most_splits(shape);
    const int64_t n = wanted < 1 ? 1 : wanted < most ? wanted : most;

    tiling->split_k = ceil_div(ceil_div(shape->k, n), SPLIT_STEP) * SPLIT_STEP;
    tiling->n_splits = shape->k == 0 ? 1 : ceil_div(shape->k, tiling->split_k);
}

struct gb_cuda_tiling
gb_cuda_matmul_dispatch(const struct gb_cuda_limits *limits,
                        const struct gb_cuda_product_shape *shape)
{
    const bool is_float = gb_node_is_float(shape->weights);
    const struct mma_kernel *mma = mma_kernel_of(limits, shape->weights);
    struct gb_cuda_tiling tiling = { .by_warp_groups = false };

    tiling.packing = !is_float                               ? GB_CUDA_PACK_Q8
                     : shape->activations == GGML_TYPE_F32 ? GB_CUDA_IN_PLACE
                                                             : GB_CUDA_PACK_F32;
    if (shape->cols > GEMV_COLS && mma != NULL)
        tile_mma(limits, mma, shape, &tiling);
    else if (shape->cols > GEMV_COLS && is_float)
        tile_gemm(shape, &tiling);
    else
        tile_gemv(limits, shape, &tiling);
    split(limits, shape, &tiling);
    return tiling;
}

static struct gb_cuda_tiling
tiling_of(const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    const struct gb_cuda_product_shape shape = {
        .weights = a->type,
        .activations = b->type,
        .m = a->ne[1],
        .k = a->ne[0],
        .cols = ggml_nrows(b) / (a->ne[2] * a->ne[3]),
        .matrices = a->ne[2] * a->ne[3],
        .is_in_pieces = gb_cuda_is_in_pieces(a),
    };

    return gb_cuda_matmul_dispatch(limits, &shape);
}

/* Is NODE empty, or are its tiles not too many? */
static bool
has_tiles(const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const int64_t matrices = a->ne[2] * a->ne[3];
    struct gb_cuda_tiling tiling;
    int64_t n_tiles;

    if (ggml_is_empty(node))
        return true;
    tiling = tiling_of(limits, node);
    return gb_cuda_tiles(
        &tiling, a->ne[1],
        ceil_div(ggml_nrows(node) / matrices, tiling.col_step), matrices,
        &n_tiles);
}

static bool
mul_mat_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    return gb_cuda_can_multiply(node->src[0], node->src[1]) &&
           has_tiles(limits, node);
}

enum gb_cuda_packing
gb_cuda_packing_of(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    return tiling_of(limits, node).packing;
}

static size_t
mul_mat_columns(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const struct gb_cuda_tiling tiling = tiling_of(limits, node);

    return gb_cuda_packed_size(tiling.packing, node->src[1]);
}

static size_t
mul_mat_scratch(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const struct gb_cuda_tiling tiling = tiling_of(limits, node);
    const size_t parts = gb_cuda_parts_size(&tiling, node);
    const size_t workspace = gb_cuda_blas_scratch(limits, &tiling, node);

    /* Both are not made at once. */
    return parts > workspace ? parts : workspace;
}

static int64_t
matrices_of(const struct ggml_tensor *node)
{
    return node->src[0]->ne[2] * node->src[0]->ne[3];
}

/* The operands of NODE; columns are packed at the latest now. */
static struct gb_cuda_product_args
args_of(struct gb_cuda_emit *emit, const struct gb_cuda_tiling *tiling,
        const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    struct gb_cuda_product_args args = {
        .weights = gb_cuda_arg(a),
        .n_cols = (int32_t)(ggml_nrows(b) / matrices_of(node)),
        .r2 = (int32_t)(b->ne[2] / a->ne[2]),
        .r3 = (int32_t)(b->ne[3] / a->ne[3]),
    };

    args.col_tiles = (int32_t)ceil_div(args.n_cols, tiling->col_step);
    gb_cuda_pack(emit, tiling->packing, b, &args.columns);
    return args;
}

/* NODE and what MORE adds to it, into TO. */
static void
emit_product(struct gb_cuda_emit *emit, const struct ggml_tensor *node,
             const struct gb_cuda_addends *more, const struct ggml_tensor *to)
{
    const struct gb_cuda_tiling tiling = tiling_of(emit->limits, node);
    struct gb_cuda_product_args args = args_of(emit, &tiling, node);
    bool is_offered;

    args.more = *more;
    is_offered = more->n == 0 &&
                 gb_cuda_offer_blas(emit, &tiling, node, &args.columns,
                                    emit->scratch);
    gb_cuda_multiply(emit, &tiling, to, matrices_of(node), emit->scratch,
                     &args);
    if (is_offered)
        gb_cuda_complete_blas(emit, &tiling, node, &args.columns);
}

static void
mul_mat_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    static const struct gb_cuda_addends none;

    emit_product(emit, node, &none, node);
}

const struct gb_cuda_op gb_cuda_op_mul_mat = {
    .supports = mul_mat_supports,
    .columns = mul_mat_columns,
    .scratch = mul_mat_scratch,
    .emit = mul_mat_emit,
};

/* ---- with what is added to it ---- */

static struct gb_cuda_places
places_of(const struct ggml_tensor *t)
{
    const struct gb_cuda_tensor arg = gb_cuda_arg_repeated(t);

    return (struct gb_cuda_places){
        arg.data, { arg.nb[0], arg.nb[1], arg.nb[2], arg.nb[3] }
    };
}

static const struct ggml_tensor *
addend(const struct gb_fuse_group *group, int i)
{
    return gb_fuse_operand(group->nodes[i], group->nodes[i - 1]);
}

static bool
can_be_added(const struct ggml_tensor *t, const struct ggml_tensor *product)
{
    return t->type == GGML_TYPE_F32 && gb_node_repeats_for(t, product);
}

static bool
fused_product_supports(const struct gb_cuda_limits *limits,
                       const struct gb_fuse_group *group)
{
    const struct ggml_tensor *product = group->nodes[0];
    const struct gb_cuda_tiling tiling = tiling_of(limits, product);

    /* A trial of the BLAS would add more than once. */
    if (!tiling.is_gemv &&
        ((tiling.n_splits == 1 && !tiling.by_warp_groups) ||
         limits->blas_workspace > 0))
        return false;
    for (int i = 1; i < group->n_nodes; i++) {
        const struct ggml_tensor *sum = group->nodes[i];

        if (sum->type != GGML_TYPE_F32 || !ggml_are_same_shape(sum, product) ||
            !can_be_added(addend(group, i), product))
            return false;
    }
    return true;
}

static void
fused_product_emit(struct gb_cuda_emit *emit, const struct gb_fuse_group *group)
{
    struct gb_cuda_addends more = { .n = group->n_nodes - 1 };

    for (int i = 1; i < group->n_nodes; i++) {
        more.addends[i - 1] = places_of(addend(group, i));
        if (gb_fuse_is_written(group, i - 1))
            more.before[i - 1] = places_of(group->nodes[i - 1]);
    }
    emit_product(emit, group->nodes[0], &more,
                 group->nodes[group->n_nodes - 1]);
}

const struct gb_cuda_fused gb_cuda_fused_product = {
    .supports = fused_product_supports,
    .emit = fused_product_emit,
};

/* ---- with others that have the same right side ---- */

_Static_assert(GB_CUDA_MAX_PRODUCTS >= GB_FUSE_MAX_PARTS,
               "a launch makes the products of a group");

/*
 * One kernel makes them all, each by the tiles and splits that it has alone.
 * The other GEMMs would take more registers, and with them thread blocks of a
 * multiprocessor.  A trial of the BLAS is one of a product.
 */
static bool
products_support(const struct gb_cuda_limits *limits,
                 const struct gb_fuse_group *group)
{
    const struct gb_cuda_tiling first = tiling_of(limits, group->nodes[0]);
    int64_t n_blocks = 0;

    for (int i = 0; i < group->n_nodes; i++) {
        const struct ggml_tensor *node = group->nodes[i];
        const struct gb_cuda_tiling tiling = tiling_of(limits, node);
        int64_t n_tiles;

        if (!(tiling.is_gemv || tiling.by_warp_groups) ||
            tiling.kernel != first.kernel ||
            tiling.packing != first.packing ||
            gb_cuda_blas_scratch(limits, &tiling, node) > 0 ||
            !gb_cuda_tiles(&tiling, node->ne[0],
                           ceil_div(ggml_nrows(node) / matrices_of(node),
                                    tiling.col_step),
                           matrices_of(node), &n_tiles))
            return false;
        n_blocks += n_tiles;
    }
    return n_blocks <= INT32_MAX;
}

/* Parts of all products are there at once. */
static size_t
products_scratch(const struct gb_cuda_limits *limits,
                 const struct gb_fuse_group *group)
{
    size_t size = 0;

    for (int i = 0; i < group->n_nodes; i++) {
        const struct gb_cuda_tiling tiling =
            tiling_of(limits, group->nodes[i]);

        size += gb_cuda_scratch_up(
            gb_cuda_parts_size(&tiling, group->nodes[i]));
    }
    return size;
}

static void
products_emit(struct gb_cuda_emit *emit, const struct gb_fuse_group *group)
{
    const struct gb_cuda_tiling first =
        tiling_of(emit->limits, group->nodes[0]);
    struct gb_cuda_products products = { .n_joins = 0 };
    char *parts = emit->scratch;

    for (int i = 0; i < group->n_nodes; i++) {
        const struct ggml_tensor *node = group->nodes[i];
        const struct gb_cuda_tiling tiling = tiling_of(emit->limits, node);
        const struct gb_cuda_product_args args = args_of(emit, &tiling, node);

        if (!gb_cuda_may_read_ahead(emit->limits, node))
            products.may_be_written = true;
        gb_cuda_add_product(&products, &tiling, node, matrices_of(node), parts,
                            &args);
        parts += gb_cuda_scratch_up(gb_cuda_parts_size(&tiling, node));
    }
    gb_cuda_launch_products(emit, &first, &products);
}

const struct gb_cuda_fused gb_cuda_fused_products = {
    .supports = products_support,
    .scratch = products_scratch,
    .emit = products_emit,
};
