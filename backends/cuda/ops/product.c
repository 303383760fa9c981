/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/product.c - the launches of which products of matrices are made.
 */
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/formats.h"
#include "backends/cuda/ops/matmul.h"
#include "backends/cuda/ops/shape.h"

#include "ggml-cpu.h"

#define THREADS 256
#define JOINED  4 /* values that a thread of gb_join_splits has at a time */

/* By type of the columns; 0 where there are none, and never asked for. */
static const enum gb_cuda_kernel
    pack_kernels[GB_CUDA_PACK_COUNT][GGML_TYPE_COUNT] = {
#define GB_CUDA_PACKING(PACKING, packing, TYPE, name, type, VARIANT) \
    [GB_CUDA_PACK_##PACKING][GGML_TYPE_##TYPE] =                     \
        GB_CUDA_KERNEL_gb_pack_##packing##_##name,
#include "backends/cuda/kernels/packings.def"
#undef GB_CUDA_PACKING
};

/* Can columns of TYPE meet WEIGHTS: F32, or what that is converted to for
 * them on the host? */
static bool
is_met_by(enum ggml_type weights, enum ggml_type type)
{
    return type == GGML_TYPE_F32 ||
           type == ggml_get_type_traits_cpu(weights)->vec_dot_type;
}

/* Columns are counted through in kernels, and rows of weights are cut into
 * tiles; neither may come near what an int64_t counts. */
static bool
is_countable(const struct ggml_tensor *t)
{
    return t->ne[0] <= INT64_MAX / 64 && ggml_nrows(t) <= INT32_MAX;
}

bool
gb_cuda_can_multiply(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    return gb_cuda_has_format(a->type) && is_met_by(a->type, b->type) &&
           gb_node_has_dense_rows(a) && gb_node_has_dense_rows(b) &&
           gb_cuda_is_aligned(a) && gb_cuda_is_aligned(b) &&
           is_countable(a) && is_countable(b);
}

bool
gb_cuda_is_in_pieces(const struct ggml_tensor *a)
{
    const size_t places = (size_t)(uintptr_t)a->data | a->nb[1] | a->nb[2] |
                          a->nb[3];

    return places % 16 == 0 && a->ne[0] % GB_CUDA_K_STEP == 0;
}

/* From a column of K values to the next: bytes, or blocks of q8. */
static int64_t
column_step(enum gb_cuda_packing packing, int64_t k)
{
    const int64_t steps = (k + GB_CUDA_K_STEP - 1) / GB_CUDA_K_STEP;

    switch (packing) {
    case GB_CUDA_PACK_F32:
        return k * (int64_t)sizeof(float);
    case GB_CUDA_PACK_Q8:
        return k / 32;
    case GB_CUDA_PACK_F16:
    case GB_CUDA_PACK_BF16:
        return GB_CUDA_HALVES_HEAD + steps * GB_CUDA_K_STEP * 2;
    case GB_CUDA_IN_PLACE:
        break;
    }
    return 0;
}

size_t
gb_cuda_packed_size(
    enum gb_cuda_packing packing, const struct ggml_tensor *b)
{
    const int64_t size = ggml_nrows(b) * column_step(packing, b->ne[0]);
    const int64_t groups = (size + GB_CUDA_Q8_GROUP - 1) / GB_CUDA_Q8_GROUP;

    return packing == GB_CUDA_PACK_Q8
               ? (size_t)groups * sizeof(struct gb_cuda_q8_group)
               : (size_t)size;
}

bool
gb_cuda_are_the_same(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    return a->data == b->data && a->type == b->type &&
           ggml_are_same_shape(a, b) && ggml_are_same_stride(a, b);
}

/* Are columns of B there already?  If not, they will be. */
static bool
is_kept(struct gb_cuda_emit *emit, enum gb_cuda_packing packing,
        const struct ggml_tensor *b)
{
    const struct gb_cuda_kept kept = emit->kept;

    emit->kept = (struct gb_cuda_kept){ .b = b, .packing = (int)packing };
    return kept.b != NULL && kept.packing == (int)packing &&
           gb_cuda_are_the_same(kept.b, b);
}

void
gb_cuda_pack(struct gb_cuda_emit *emit, enum gb_cuda_packing packing,
             const struct ggml_tensor *b, struct gb_cuda_tensor *columns_out)
{
    struct gb_cuda_pack_args args = { .src = gb_cuda_arg(b) };
    const bool by_column =
        packing == GB_CUDA_PACK_F16 || packing == GB_CUDA_PACK_BF16;

    *columns_out = args.src;
    if (packing == GB_CUDA_IN_PLACE)
        return;
    columns_out->data = emit->columns;
    columns_out->nb[0] = 0;
    columns_out->nb[1] = column_step(packing, b->ne[0]);
    for (int i = 2; i < GGML_MAX_DIMS; i++)
        columns_out->nb[i] = columns_out->nb[i - 1] * b->ne[i - 1];
    if (is_kept(emit, packing, b))
        return;
    args.dst = *columns_out;
    args.n = by_column ? ggml_nrows(b) : ggml_nelements(b);
    emit->add(emit, pack_kernels[packing][b->type],
              gb_cuda_blocks(args.n, by_column ? 1 : THREADS), 0, &args,
              sizeof(args));
}

size_t
gb_cuda_parts_size(
    const struct gb_cuda_tiling *tiling, const struct ggml_tensor *node)
{
    if (tiling->n_splits == 1)
        return 0;
    return (size_t)(tiling->n_splits * ggml_nelements(node)) * sizeof(float);
}

/* The first part of NODE: the same counts, dense. */
static struct gb_cuda_tensor
part_of(const struct ggml_tensor *node, char *parts)
{
    struct gb_cuda_tensor part = gb_cuda_arg(node);

    part.data = parts;
    part.nb[0] = sizeof(float);
    for (int i = 1; i < GGML_MAX_DIMS; i++)
        part.nb[i] = part.nb[i - 1] * part.ne[i - 1];
    return part;
}

/*
 * Are the columns that meet one matrix rows that follow each other, and few and
 * near enough for TMA?  Of a mixture of experts they are anywhere.
 */
static bool
can_be_mapped(const struct gb_cuda_product_args *args)
{
    const struct gb_cuda_tensor *columns = &args->columns;

    return args->ids.data == NULL &&
           (args->r3 == 1 || args->weights.ne[2] == 1) &&
           columns->ne[0] > 0 && columns->ne[0] < INT32_MAX / 2 &&
           columns->nb[1] < (int64_t)1 << 40;
}

static void
map_columns(struct gb_cuda_emit *emit, const struct gb_cuda_tensor *columns,
            struct gb_cuda_tensor_map *map)
{
    const int64_t bytes = columns->nb[1] - GB_CUDA_HALVES_HEAD;
    const struct gb_cuda_mapped mapped = {
        .data = columns->data + GB_CUDA_HALVES_HEAD,
        .n = (uint64_t)bytes / 2,
        .rows = (uint64_t)(columns->ne[1] * columns->ne[2] * columns->ne[3]),
        .stride = (uint64_t)columns->nb[1],
        .box_rows = GB_CUDA_WGMMA_COLS,
    };

    emit->map(emit, &mapped, map);
}

bool
gb_cuda_tiles(const struct gb_cuda_tiling *tiling, int64_t m, int64_t col_tiles,
              int64_t matrices, int64_t *tiles_out)
{
    const int64_t row_tiles = (m + tiling->row_step - 1) / tiling->row_step;
    const int64_t a = row_tiles * tiling->n_splits;

    /* Rows and columns are below 2^31, splits few: no product overflows. */
    if (col_tiles > INT32_MAX || matrices > INT32_MAX ||
        a > INT32_MAX || a * col_tiles > INT32_MAX ||
        a * col_tiles * matrices > INT32_MAX)
        return false;
    *tiles_out = a * col_tiles * matrices;
    return true;
}

/* Set what ARGS has of tiles, and dst; the number of thread blocks. */
static unsigned
set_tiles(const struct gb_cuda_tiling *tiling, const struct ggml_tensor *node,
          int64_t matrices, char *parts, struct gb_cuda_product_args *args)
{
    const bool is_split = tiling->n_splits > 1;
    const int64_t m = args->weights.ne[1];
    int64_t n_tiles = 0;

    gb_cuda_tiles(tiling, m, args->col_tiles, matrices, &n_tiles);
    args->dst = is_split ? part_of(node, parts) : gb_cuda_arg(node);
    args->row_step = tiling->row_step;
    args->col_step = tiling->col_step;
    args->row_tiles = (int32_t)((m + tiling->row_step - 1) / tiling->row_step);
    args->n_splits = (int32_t)tiling->n_splits;
    args->split_k = tiling->split_k;
    args->split_bytes = args->dst.nb[3] * args->dst.ne[3];
    return (unsigned)n_tiles;
}

/* ---- a launch ---- */

/* Where k is split the kernel adds nothing: what joins the parts does. */
static void
add_join(struct gb_cuda_products *products, const struct ggml_tensor *node,
         char *parts, struct gb_cuda_product_args *args)
{
    struct gb_cuda_join_args *joins = &products->joins;

    joins->of[products->n_joins++] = (struct gb_cuda_join){
        .dst = gb_cuda_arg(node),
        .parts = (const float *)parts,
        .n = ggml_nelements(node),
        .n_splits = args->n_splits,
    };
    joins->n += ggml_nelements(node);
    joins->more = args->more;
    args->more.n = 0;
}

void
gb_cuda_add_product(struct gb_cuda_products *products,
                    const struct gb_cuda_tiling *tiling,
                    const struct ggml_tensor *node, int64_t matrices,
                    char *parts, const struct gb_cuda_product_args *args)
{
    const int i = products->args.n++;
    struct gb_cuda_product_args *of = &products->args.of[i];

    *of = *args;
    products->args.first[i] = products->n_blocks;
    products->n_blocks += set_tiles(tiling, node, matrices, parts, of);
    if (tiling->n_splits > 1)
        add_join(products, node, parts, of);
}

static void
launch_by_warp_groups(struct gb_cuda_emit *emit, enum gb_cuda_kernel kernel,
                      const struct gb_cuda_products *products)
{
    struct gb_cuda_wgmma_args wgmma = {
        .products = products->args, .has_map = 1
    };

    for (int i = 0; i < products->args.n; i++)
        wgmma.has_map &= can_be_mapped(&products->args.of[i]);
    if (wgmma.has_map)
        map_columns(emit, &products->args.of[0].columns, &wgmma.map);
    emit->add(emit, kernel, products->n_blocks, GB_CUDA_WGMMA_SHARED, &wgmma,
              sizeof(wgmma));
}

static void
launch_gemv(struct gb_cuda_emit *emit, enum gb_cuda_kernel kernel,
            const struct gb_cuda_products *products)
{
    const struct gb_cuda_gemv_args gemv = {
        .products = products->args,
        .weights_stay = !products->may_be_written,
    };

    emit->add(emit, kernel, products->n_blocks, 0, &gemv, sizeof(gemv));
}

void
gb_cuda_launch_products(struct gb_cuda_emit *emit,
                        const struct gb_cuda_tiling *tiling,
                        const struct gb_cuda_products *products)
{
    if (tiling->by_warp_groups)
        launch_by_warp_groups(emit, tiling->kernel, products);
    else if (tiling->is_gemv)
        launch_gemv(emit, tiling->kernel, products);
    else
        emit->add(emit, tiling->kernel, products->n_blocks, 0,
                  &products->args.of[0], sizeof(products->args.of[0]));
    if (products->n_joins > 0)
        GB_CUDA_LAUNCH(emit, gb_join_splits,
                       gb_cuda_blocks((products->joins.n + JOINED - 1) / JOINED,
                                      THREADS),
                       0,
                       &products->joins);
}

void
gb_cuda_multiply(struct gb_cuda_emit *emit,
                 const struct gb_cuda_tiling *tiling,
                 const struct ggml_tensor *node, int64_t matrices, char *parts,
                 const struct gb_cuda_product_args *args)
{
    struct gb_cuda_products products = {
        .may_be_written = !gb_cuda_may_read_ahead(emit->limits, node)
    };

    gb_cuda_add_product(&products, tiling, node, matrices, parts, args);
    gb_cuda_launch_products(emit, tiling, &products);
}
