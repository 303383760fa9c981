/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/product.c - how products of matrices are cut into work groups, and
 * their dispatches.
 */
#include "backends/vulkan/ops/matmul.h"

#include "backends/vulkan/ops/formats.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-join.h"

#define GEMV_ROWS    4  /* of an invocation */
#define GEMV_COLS    8  /* at most */
#define GEMV_THREADS 64
#define PIECE        8  /* values of k that an invocation takes at a time */
#define WIDE_THREADS 128 /* of the wide GEMV with up to 4 columns */

#define NARROW_THREADS 16
#define NARROW_COLS    8
#define NARROW_STEP    32 /* values of k that are taken at a time */

/* A split has at least so many values of k, a multiple of any block; a product
 * is cut until there are so many work groups, or invocations. */
#define SPLIT_STEP 256
#define SPLIT_MIN  1024
#define SPLITS_MAX 16
#define GROUPS     256   /* of the GEMV */
#define THREADS    65536 /* of the GEMM, whose work groups are of several sizes */

/* Of a skinny GEMM at most: it has tiles of its own. */
#define SKINNY_COLS 16

/* So many tiles of 64 rows and columns, or smaller ones. */
#define LARGE_TILES 64

static const struct {
    enum gb_vk_pipeline gemv_1, gemv_4, gemv_8, gemm_16, gemm_32, gemm_64;
    enum gb_vk_pipeline narrow_1, narrow_8;
} pipelines[GGML_TYPE_COUNT] = {
#define GB_VK_FORMAT(TYPE, name, table)                                    \
    [GGML_TYPE_##TYPE] = { GB_VK_gemv_##name##_1, GB_VK_gemv_##name##_4,   \
                           GB_VK_gemv_##name##_8, GB_VK_gemm_##name##_16,  \
                           GB_VK_gemm_##name##_32, GB_VK_gemm_##name##_64, \
                           GB_VK_narrow_##name##_1,                        \
                           GB_VK_narrow_##name##_8 },
#include "backends/vulkan/shaders/formats.def"
#undef GB_VK_FORMAT
};

/* Those with wide reads. */
static const struct {
    enum gb_vk_pipeline of_1, of_4, of_8;
} wide[GGML_TYPE_COUNT] = {
#define GB_VK_FORMAT(TYPE, name, table)                                        \
    [GGML_TYPE_##TYPE] = { GB_VK_gemvwide_##name##_1, GB_VK_gemvwide_##name##_4, \
                           GB_VK_gemvwide_##name##_8 },
#include "backends/vulkan/shaders/formats.def"
#undef GB_VK_FORMAT
};

/* Values that an invocation of theirs takes at a time, by
 * shaders/common/wideparts.glsl, where they are not 16. */
static const int units[GGML_TYPE_COUNT] = {
    [GGML_TYPE_F32] = 8,   [GGML_TYPE_F16] = 8,    [GGML_TYPE_BF16] = 8,
    [GGML_TYPE_Q2_K] = 32, [GGML_TYPE_Q3_K] = 32,  [GGML_TYPE_Q6_K] = 32,
    [GGML_TYPE_TQ1_0] = 8, [GGML_TYPE_TQ2_0] = 32,
};

/* By cooperative matrices.  Weights of F32 have more digits than these. */
static const struct {
    enum gb_vk_pipeline gemm_64, gemm_128;
} matrices[GGML_TYPE_COUNT] = {
#define GB_VK_gemmcoop_f32_64 GB_VK_PIPELINE_COUNT
#define GB_VK_gemmcoop_f32_128 GB_VK_PIPELINE_COUNT
#define GB_VK_FORMAT(TYPE, name, table)                     \
    [GGML_TYPE_##TYPE] = { GB_VK_gemmcoop_##name##_64,      \
                           GB_VK_gemmcoop_##name##_128 },
#include "backends/vulkan/shaders/formats.def"
#undef GB_VK_FORMAT
#undef GB_VK_gemmcoop_f32_64
#undef GB_VK_gemmcoop_f32_128
};

/* By dot products of bytes: of 16 columns, or of 64. */
static const struct {
    bool is_there;
    enum gb_vk_pipeline of_16, of_64;
} dots[GGML_TYPE_COUNT] = {
#define DOT(TYPE, name)                                    \
    [GGML_TYPE_##TYPE] = { true, GB_VK_gemmdot_##name##_16, \
                           GB_VK_gemmdot_##name##_64 }
    DOT(Q4_0, q4_0),
    DOT(Q4_1, q4_1),
    DOT(Q5_0, q5_0),
    DOT(Q5_1, q5_1),
    DOT(Q8_0, q8_0),
    DOT(Q2_K, q2_k),
    DOT(Q3_K, q3_k),
    DOT(Q4_K, q4_k),
    DOT(Q5_K, q5_k),
    DOT(Q6_K, q6_k),
    DOT(IQ4_NL, iq4_nl),
    DOT(IQ4_XS, iq4_xs),
#undef DOT
};

static int64_t
ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* As few of THREADS invocations share k as have UNIT values each, and the others
 * other rows: by k alone. */
static int64_t
gemv_lanes(int64_t k, int64_t threads, int64_t unit)
{
    int64_t lanes = threads;

    while (lanes > 8 && k <= lanes / 2 * unit)
        lanes /= 2;
    return lanes;
}

/* With wide reads; false for what its shader does not take. */
static bool
tile_wide(const struct gb_vk_product_shape *shape, int64_t cols,
          struct gb_vk_tiling *tiling)
{
    const enum ggml_type type = shape->weights;
    const int64_t threads = cols < GEMV_COLS ? WIDE_THREADS : GEMV_THREADS;

    tiling->pipeline = cols == 1   ? wide[type].of_1
                       : cols == 4 ? wide[type].of_4 : wide[type].of_8;
    tiling->lanes =
        gemv_lanes(shape->k, threads, units[type] > 0 ? units[type] : 16);
    tiling->rows = GEMV_ROWS * (threads / tiling->lanes);
    return shape->is_wide && gb_vk_can_use(shape->limits, tiling->pipeline);
}

static void
tile_gemv(const struct gb_vk_product_shape *shape, bool is_single,
          struct gb_vk_tiling *tiling)
{
    const enum ggml_type type = shape->weights;
    const int64_t cols = is_single || shape->cols <= 1 ? 1
                         : shape->cols <= 4            ? 4 : GEMV_COLS;

    tiling->has_epilogue = true;
    tiling->cols = cols;
    if (tile_wide(shape, cols, tiling))
        return;
    tiling->pipeline = cols == 1   ? pipelines[type].gemv_1
                       : cols == 4 ? pipelines[type].gemv_4
                                   : pipelines[type].gemv_8;
    tiling->lanes = gemv_lanes(shape->k, GEMV_THREADS, PIECE);
    tiling->rows = GEMV_ROWS * (GEMV_THREADS / tiling->lanes);
}

/* Are there enough tiles of SIDE rows and columns for large ones? */
static bool
fills(const struct gb_vk_product_shape *shape, int64_t side)
{
    return shape->matrices * ceil_div(shape->m, side) *
               ceil_div(shape->cols, side) >=
           LARGE_TILES;
}

static bool
has_matrices(const struct gb_vk_product_shape *shape)
{
    return shape->weights != GGML_TYPE_F32 &&
           gb_vk_can_use(shape->limits, matrices[shape->weights].gemm_64);
}

/* For the GEMM: has it wide reads? */
static bool
reads_wide(const struct gb_vk_product_shape *shape)
{
    return shape->is_wide && (shape->limits->features & GB_VK_HAS_WIDE) != 0;
}

static void
tile_matrices(
    const struct gb_vk_product_shape *shape, struct gb_vk_tiling *tiling)
{
    const bool is_large = fills(shape, 128);

    tiling->is_wide = reads_wide(shape);
    tiling->rows = tiling->cols = is_large ? 128 : 64;
    tiling->pipeline = is_large ? matrices[shape->weights].gemm_128
                                : matrices[shape->weights].gemm_64;
}

/* False where the device is not fast at that, or cannot do it. */
static bool
tile_dots(const struct gb_vk_product_shape *shape, struct gb_vk_tiling *tiling)
{
    const enum ggml_type type = shape->weights;
    const bool is_large = shape->cols > SKINNY_COLS && fills(shape, 64);

    if (!dots[type].is_there || shape->columns_size == 0 ||
        !gb_vk_can_use(shape->limits, dots[type].of_64) ||
        !gb_vk_can_use(shape->limits, dots[type].of_16) ||
        !gb_vk_can_use(shape->limits, GB_VK_columns))
        return false;
    tiling->columns_size = shape->columns_size;
    tiling->rows = 64;
    tiling->cols = is_large ? 64 : SKINNY_COLS;
    tiling->pipeline = is_large ? dots[type].of_64 : dots[type].of_16;
    return true;
}

static void
tile_gemm(const struct gb_vk_product_shape *shape, struct gb_vk_tiling *tiling)
{
    const enum ggml_type type = shape->weights;
    const bool is_large = fills(shape, 64);

    tiling->is_wide = reads_wide(shape);
    tiling->rows = tiling->cols = is_large ? 64 : 32;
    tiling->pipeline =
        is_large ? pipelines[type].gemm_64 : pipelines[type].gemm_32;
    if (shape->cols <= SKINNY_COLS) {
        tiling->rows = 64;
        tiling->cols = SKINNY_COLS;
        tiling->pipeline = pipelines[type].gemm_16;
    }
}

/* For a device that is a processor; false where it is none, and for what its
 * shader does not take.  Few work groups run at a time, so k is never cut. */
static bool
tile_narrow(const struct gb_vk_product_shape *shape, bool is_single,
            struct gb_vk_tiling *tiling)
{
    const bool is_one = is_single || shape->cols <= 1;

    tiling->pipeline = is_one ? pipelines[shape->weights].narrow_1
                              : pipelines[shape->weights].narrow_8;
    tiling->rows = NARROW_THREADS * (is_one ? 2 : 4);
    tiling->cols = is_one ? 1 : NARROW_COLS;
    tiling->n_splits = 1;
    return gb_vk_can_use(shape->limits, tiling->pipeline) &&
           shape->columns == GGML_TYPE_F32 && shape->k % NARROW_STEP == 0;
}

/* Cut k where there are few tiles, for so many work groups. */
static void
split(const struct gb_vk_product_shape *shape, int64_t groups,
      struct gb_vk_tiling *tiling)
{
    const int64_t tiles = shape->matrices * ceil_div(shape->m, tiling->rows) *
                          ceil_div(shape->cols, tiling->cols);
    const int64_t wanted = tiles > 0 ? groups / tiles : 1;
    const int64_t most = shape->k / SPLIT_MIN;
    int64_t n = wanted < most ? wanted : most;

    n = n < 1 ? 1 : n > SPLITS_MAX ? SPLITS_MAX : n;
    tiling->split_k = ceil_div(ceil_div(shape->k, n), SPLIT_STEP) * SPLIT_STEP;
    tiling->n_splits = ceil_div(shape->k, tiling->split_k);
}

struct gb_vk_tiling
gb_vk_tile_product(const struct gb_vk_product_shape *shape, bool is_single)
{
    struct gb_vk_tiling tiling = { 0 };
    int64_t groups = GROUPS;

    if (shape->k == 0)
        return (struct gb_vk_tiling){ .rows = 1, .cols = 1 };
    if (tile_narrow(shape, is_single, &tiling)) {
        /* To find what is added takes divisions, a lane at a time. */
        tiling.has_epilogue = tiling.cols == 1;
        return tiling;
    }
    if (is_single || shape->cols <= GEMV_COLS)
        tile_gemv(shape, is_single, &tiling);
    else if (has_matrices(shape))
        tile_matrices(shape, &tiling);
    else if (!tile_dots(shape, &tiling))
        tile_gemm(shape, &tiling);
    if (!is_single && shape->cols > GEMV_COLS)
        groups = THREADS / (tiling.cols == SKINNY_COLS ? 64 : 2 * tiling.rows);
    split(shape, shape->is_cut ? 1 : groups, &tiling);
    return tiling;
}

bool
gb_vk_can_read_rows(const struct ggml_tensor *t)
{
    return gb_vk_has_format(t->type) && gb_node_has_dense_rows(t) &&
           gb_vk_is_aligned(t);
}

bool
gb_vk_can_multiply(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    return gb_node_is_float(b->type) && a->ne[0] == b->ne[0] &&
           gb_vk_can_read_rows(a) && gb_vk_can_read_rows(b);
}

bool
gb_vk_is_wide(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    return b->type == GGML_TYPE_F32 && a->ne[0] % 8 == 0 &&
           gb_vk_has_rows_at(b, 16) &&
           (!gb_node_is_float(a->type) || gb_vk_has_rows_at(a, 16));
}

size_t
gb_vk_product_parts_size(
    const struct gb_vk_tiling *tiling, const struct ggml_tensor *node)
{
    if (tiling->n_splits <= 1)
        return 0;
    return (size_t)(tiling->n_splits * ggml_nelements(node)) * sizeof(float);
}

/* Where dst goes instead: the parts in scratch. */
static struct gb_vk_bind
write_parts(struct gb_vk_product *product)
{
    const struct ggml_tensor *node = product->node;
    struct gb_vk_matmul_params *params = &product->params;
    size_t size = sizeof(float);

    for (int i = 1; i < GGML_MAX_DIMS; i++) {
        size *= (size_t)node->ne[i - 1];
        params->dst_nb[i - 1] = (uint32_t)size;
    }
    params->split_bytes = (uint32_t)(size * (size_t)node->ne[3]);
    return gb_vk_scratch(product->parts,
                         gb_vk_product_parts_size(&product->tiling, node),
                         true);
}

void
gb_vk_join_product(
    struct gb_vk_emit *emit, const struct gb_vk_product *product)
{
    const struct ggml_tensor *node =
        product->sum != NULL ? product->sum : product->node;
    const struct ggml_tensor *addend =
        product->sum != NULL ? product->addend : node;
    const size_t size = gb_vk_product_parts_size(&product->tiling, node);
    struct gb_vk_join_params params = {
        .ne = GB_VK_NE(node),
        .dst_nb = GB_VK_NB(node),
        .addend_nb = GB_VK_NB_REPEATED(addend),
        .has_addend = product->sum != NULL,
        .n = (uint32_t)ggml_nelements(node),
        .n_parts = (uint32_t)product->tiling.n_splits,
    };

    if (product->tiling.n_splits == 1)
        return;
    GB_VK_DISPATCH(emit, join, gb_vk_groups(params.n, 256), &params,
                   product->dst,
                   size > 0 ? gb_vk_scratch(product->parts, size, false)
                            : product->dst,
                   product->sum != NULL ? gb_vk_read(addend) : product->dst);
}

/* Strides of what the GEMV adds, which it has in the place of ids. */
static void
set_addend(struct gb_vk_product *product)
{
    const uint32_t nb[] = GB_VK_NB_REPEATED(product->addend);
    struct gb_vk_matmul_params *params = &product->params;

    product->chosen = gb_vk_read(product->addend);
    params->has_ids = GB_VK_WITH_ADDEND;
    params->ids_nb[0] = nb[0];
    params->ids_nb[1] = nb[1];
    params->first_expert = nb[2];
    params->end_expert = nb[3];
}

void
gb_vk_multiply_parts(
    struct gb_vk_emit *emit, struct gb_vk_product *product, int64_t n_tiles)
{
    const struct gb_vk_tiling *tiling = &product->tiling;
    struct gb_vk_bind dst = product->dst;
    const enum gb_vk_table table =
        gb_vk_table_of(product->node->src[0]->type);
    struct gb_vk_matmul_params *params = &product->params;
    const int64_t n_groups =
        ceil_div(params->m, tiling->rows) * tiling->n_splits * n_tiles;

    if (tiling->n_splits == 0)
        return;
    if (tiling->n_splits > 1)
        dst = write_parts(product);
    else if (product->sum != NULL)
        set_addend(product);
    /* Push constants have one word for both. */
    params->lanes = tiling->is_wide ? 1 : (uint32_t)tiling->lanes;
    params->n_splits = (uint32_t)tiling->n_splits;
    params->split_k = (uint32_t)tiling->split_k;
    params->n_groups = (uint32_t)n_groups;
    emit->operations =
        2 * (uint64_t)params->m * params->k * (uint64_t)(n_tiles * tiling->cols);
    if (table == GB_VK_TABLE_NONE)
        GB_VK_DISPATCH_ONE_OF(emit, tiling->pipeline, n_groups, params, dst,
                              product->weights, product->columns,
                              product->chosen);
    else
        GB_VK_DISPATCH_ONE_OF(emit, tiling->pipeline, n_groups, params, dst,
                              product->weights, product->columns,
                              product->chosen, gb_vk_read_table(table));
}

void
gb_vk_multiply(struct gb_vk_emit *emit, struct gb_vk_product *product,
               int64_t n_tiles)
{
    gb_vk_multiply_parts(emit, product, n_tiles);
    gb_vk_join_product(emit, product);
}
