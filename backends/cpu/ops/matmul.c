/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/matmul.c - products of matrices.
 */
#include "backends/cpu/kernels/api/divide.h"
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/activations.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/rows.h"
#include "lib/base/checked.h"

/*
 * D[m, n, p, q] = the sum over k of A[k, m, p / r2, q / r3] * B[k, n, p, q],
 * r2 and r3 saying how many matrices of B share one of A.
 *
 *   src0   weights of any type; rows dense, any other strides
 *   src1   F32, or what the weights' type is multiplied with; likewise
 *   dst    F32, rows dense
 *
 * Quantised weights are multiplied with activations of 8 bits, some of 16 (see
 * kernels/api/packing.h), in integers and with float scales; float weights with F32.
 *
 * For float weights columns that lie badly are first packed, in the step's
 * shared memory.
 *
 * Threads   tiles of rows by columns, cut by the shape alone, never a sum.
 * Accuracy  float sums in the order of k (few columns: in lanes).
 */

/* A tile's extent.  Rows are unpacked for each tile, so it has many columns.
 * These are a multiple of what any level's kernels take at a time; few of them
 * go by rows. */
#define TILE_ROWS     32
#define TILE_COLS     528
#define TILE_COLS_MIN 66
#define TILES_WANTED  32

/* The same for float weights: a strip of rows, of short ones several, and many
 * columns, since strips are unpacked for each tile; multiples of what packs
 * begin at.  Where rows are few it does not pay to pack columns beforehand. */
#define FLOAT_ROWS       32
#define FLOAT_COLS       (48 * GB_PACKED_COLS)
#define FLOAT_COLS_MIN   (10 * GB_PACKED_COLS)
#define FLOAT_COLS_IN_PLACE (20 * GB_PACKED_COLS)
#define FLOAT_LENGTH     512 /* of a row that is not short */
#define FEW_ROWS        128

#define MAX_COLS (FLOAT_COLS > TILE_COLS ? FLOAT_COLS : TILE_COLS)

/* How a product is cut into tiles.  All columns of B that meet the same matrix of A are
 * taken together. */
struct tiling {
    int64_t cols;      /* for each matrix of A */
    int64_t row_step;  /* of a tile */
    int64_t col_step;
    int64_t row_tiles; /* in a matrix */
    int64_t col_tiles;
    int64_t matrices;  /* of A */
    enum gb_path path;
    bool is_packed;    /* are they, for float weights? */
};

/* Quantised weights: fewer columns where there would be too few tiles. */
static void
tile_int8(struct tiling *tiling, const struct ggml_tensor *a)
{
    tiling->row_step = TILE_ROWS;
    tiling->row_tiles = gb_cpu_ceil_div(a->ne[1], TILE_ROWS);
    tiling->col_step = TILE_COLS;
    while (tiling->col_step > TILE_COLS_MIN &&
           tiling->matrices * tiling->row_tiles *
                   gb_cpu_ceil_div(tiling->cols, tiling->col_step) <
               TILES_WANTED)
        tiling->col_step /= 2;
    tiling->col_tiles = gb_cpu_ceil_div(tiling->cols, tiling->col_step);
}

/* The same for float weights: fewer columns, then fewer rows, where there would
 * be too few tiles.  All tiles have about as many columns. */
static void
tile_floats(struct tiling *tiling, const struct ggml_tensor *a, int64_t rows,
          int64_t cols)
{
    const int64_t fewest = gb_cpu_ceil_div(tiling->cols, cols);
    const int64_t most = gb_cpu_ceil_div(tiling->cols, FLOAT_COLS_MIN);
    const int64_t row_tiles = tiling->matrices * gb_cpu_ceil_div(a->ne[1], rows);
    int64_t wanted = gb_cpu_ceil_div(TILES_WANTED, row_tiles);

    wanted = wanted > most ? most : wanted < fewest ? fewest : wanted;
    tiling->col_step =
        gb_cpu_ceil_div(gb_cpu_ceil_div(tiling->cols, wanted), GB_PACKED_COLS) *
        GB_PACKED_COLS;
    tiling->col_tiles = gb_cpu_ceil_div(tiling->cols, tiling->col_step);
    while (rows > FLOAT_ROWS &&
           tiling->matrices * tiling->col_tiles * gb_cpu_ceil_div(a->ne[1], rows) <
               TILES_WANTED)
        rows = gb_cpu_ceil_div(rows / 2, FLOAT_ROWS) * FLOAT_ROWS;
    tiling->row_step = rows;
    tiling->row_tiles = gb_cpu_ceil_div(a->ne[1], rows);
}

/* Columns that meet each matrix of A. */
static int64_t
cols_of(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];

    return node->ne[1] * gb_cpu_exact_div(node->ne[2], a->ne[2]) *
           gb_cpu_exact_div(node->ne[3], a->ne[3]);
}

/* Float weights that become panels for many columns? */
static bool
is_large(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const int64_t few = a->type == GGML_TYPE_BF16 ? GB_GEMV_COLS_FLOAT
                                                  : GB_SKINNY_COLS_FLOAT;

    return gb_cpu_is_float(a->type) && a->ne[1] > FEW_ROWS &&
           cols_of(node) > few;
}

/* Are columns then packed beforehand?  Not those that are read as fast where
 * they lie: floats, each as far from the one before. */
static bool
is_packed(const struct ggml_tensor *node)
{
    const struct ggml_tensor *b = node->src[1];

    return is_large(node) &&
           (b->type != GGML_TYPE_F32 || gb_has_4k_aliasing(b->nb[1]) ||
            node->src[0]->type == GGML_TYPE_BF16 ||
            cols_of(node) != b->ne[1]);
}

/* Few columns are in one tile. */
static void
tile_rows(struct tiling *tiling, const struct ggml_tensor *a)
{
    tiling->row_step = gb_cpu_gemv_rows(a, tiling->cols);
    tiling->row_tiles = tiling->row_step < a->ne[1]
                         ? gb_cpu_ceil_div(a->ne[1], tiling->row_step)
                         : 1;
    tiling->col_step = tiling->cols;
    tiling->col_tiles = 1;
}

/* Not returned: a struct that is copied is read before it has arrived, which
 * costs a small product as much as all else here. */
static void
tile_product(struct tiling *tiling, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];

    tiling->matrices = a->ne[2] * a->ne[3];
    tiling->cols = cols_of(node);
    tiling->path = gb_cpu_path(a, tiling->cols);
    tiling->is_packed = is_packed(node);
    if (is_large(node)) {
        const int64_t strips = FLOAT_LENGTH / (a->ne[0] + 1) + 1;

        tile_floats(tiling, a, strips * FLOAT_ROWS, FLOAT_COLS);
    } else if (tiling->path != GB_PATH_GEMM) {
        tile_rows(tiling, a);
    } else if (!gb_cpu_is_float(a->type)) {
        tile_int8(tiling, a);
    } else if (tiling->cols <= GB_SKINNY_COLS_FLOAT && a->type != GGML_TYPE_BF16) {
        tile_rows(tiling, a);
    } else {
        tile_floats(tiling, a, FEW_ROWS, FLOAT_COLS_IN_PLACE);
    }
}

static bool
mul_mat_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    return gb_cpu_is_plain(node) &&
           node->ne[0] == a->ne[1] && gb_cpu_same_from(node, b, 1) &&
           gb_cpu_divides(a->ne[2], b->ne[2]) &&
           gb_cpu_divides(a->ne[3], b->ne[3]) && gb_cpu_can_multiply(a, b);
}

static int64_t
mul_mat_tiles(const struct ggml_tensor *node)
{
    struct tiling tiling;

    tile_product(&tiling, node);
    return tiling.row_tiles * tiling.col_tiles * tiling.matrices;
}

/* The kernel's, and the addresses of columns and of their results. */
static size_t
mul_mat_scratch(const struct ggml_tensor *node)
{
    (void)node;
    return GB_PRODUCT_SCRATCH + 2 * MAX_COLS * sizeof(void *);
}

static size_t
mul_mat_shared(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const int64_t cols = cols_of(node);

    if (is_packed(node))
        return gb_mul_or_max((size_t)ggml_nrows(node->src[1]),
                             a->ne[0] <= GB_CPU_LONGEST_ROW
                                 ? gb_float_panel_bytes(a->ne[0])
                                 : SIZE_MAX);
    return gb_cpu_activations_bytes(a, node->src[1], gb_cpu_path(a, cols));
}

/* Those of B's rows, so that the thread that makes a row rounds or packs it. */
static int64_t
mul_mat_prepare_tiles(const struct ggml_tensor *node)
{
    return is_packed(node) ? gb_cpu_tiles_by_rows(node->src[1])
                           : gb_cpu_activations_tiles(node->src[0], node->src[1]);
}

/* The columns that meet a matrix of A, one after another. */
struct walk {
    const struct ggml_tensor *node;
    int64_t n2; /* matrices of B that share one of A: those in dimension 2 */
    int64_t i1;
    int64_t i2;
    int64_t i3;
};

static struct walk
walk_from(const struct ggml_tensor *node, int64_t matrix, int64_t col)
{
    const struct ggml_tensor *a = node->src[0];
    const int64_t n2 = gb_cpu_exact_div(node->ne[2], a->ne[2]);
    const int64_t n3 = gb_cpu_exact_div(node->ne[3], a->ne[3]);
    const struct gb_cpu_div of_a = gb_cpu_div(matrix, a->ne[2]);
    const struct gb_cpu_div of_col = gb_cpu_div(col, node->ne[1]);
    const struct gb_cpu_div shared_by = gb_cpu_div(of_col.whole, n2);

    return (struct walk){
        .node = node,
        .n2 = n2,
        .i1 = of_col.rest,
        .i2 = of_a.rest * n2 + shared_by.rest,
        .i3 = of_a.whole * n3 + shared_by.whole,
    };
}

/* N columns further, which is at most to the end of a matrix of B. */
static void
walk_on(struct walk *at, int64_t n)
{
    at->i1 += n;
    if (at->i1 < at->node->ne[1])
        return;
    at->i1 = 0;
    if (++at->i2 % at->n2 != 0)
        return;
    at->i2 -= at->n2;
    at->i3++;
}

/* Where column COL of those that meet a matrix of A is packed, a multiple of
 * GB_PACKED_COLS. */
static void *
packed_at(const struct gb_cpu_task *task, int64_t matrix, const struct tiling *tiling,
          int64_t col)
{
    const int64_t k = task->node->src[0]->ne[0];

    return (char *)task->shared +
           (size_t)(matrix * tiling->cols + col) * gb_float_panel_bytes(k);
}

/* The row of B at AT becomes a column among those that meet its matrix of A. */
static void
pack_row(const struct gb_cpu_task *task, const struct tiling *tiling,
         struct gb_cpu_row at)
{
    const struct ggml_tensor *a = task->node->src[0];
    const struct ggml_tensor *b = task->node->src[1];
    const int64_t n2 = gb_cpu_exact_div(b->ne[2], a->ne[2]);
    const int64_t n3 = gb_cpu_exact_div(b->ne[3], a->ne[3]);
    const struct gb_cpu_div of_2 = gb_cpu_div(at.i2, n2);
    const struct gb_cpu_div of_3 = gb_cpu_div(at.i3, n3);
    const int64_t matrix = of_3.whole * a->ne[2] + of_2.whole;
    const int64_t col = at.i1 + (of_2.rest + of_3.rest * n2) * b->ne[1];

    task->k->pack_floats(task->k->format(a->type)->format, a->ne[0], tiling->cols, col,
                  gb_cpu_row_ptr(b, at.i1, at.i2, at.i3), b->type,
                  packed_at(task, matrix, tiling, 0));
}

static void
pack_rows(const struct gb_cpu_task *task, const struct tiling *tiling, int64_t tile)
{
    const struct ggml_tensor *b = task->node->src[1];
    const struct gb_cpu_row_range range = gb_cpu_tile_rows(b, tile);
    struct gb_cpu_row at = gb_cpu_row_at(b, range.first);

    for (int64_t i = range.first; i < range.last; i++) {
        pack_row(task, tiling, at);
        gb_cpu_row_advance(b, &at);
    }
}

static enum ggml_status
mul_mat_prepare(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    struct tiling tiling;

    tile_product(&tiling, node);
    if (tiling.is_packed)
        pack_rows(task, &tiling, tile);
    else
        gb_cpu_activations_pack(task, tiling.path, tile);
    return GGML_STATUS_SUCCESS;
}

static const struct ggml_tensor *
mul_mat_prepares_rows(const struct ggml_tensor *node)
{
    return node->src[1];
}

/* Queries, keys and values are products of the same activations. */
static bool
mul_mat_is_prepared(const struct ggml_tensor *node,
                    const struct ggml_tensor *before)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *a_before = before->src[0];

    return node->src[1] == before->src[1] && a->type == a_before->type &&
           a->ne[2] == a_before->ne[2] && a->ne[3] == a_before->ne[3] &&
           is_packed(node) == is_packed(before);
}

static void
multiply(const struct gb_cpu_task *task, const struct tiling *tiling, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const struct gb_cpu_div by_rows = gb_cpu_div(tile, tiling->row_tiles);
    const struct gb_cpu_div by_cols =
        gb_cpu_div(by_rows.whole, tiling->col_tiles);
    const int64_t row = by_rows.rest * tiling->row_step;
    const int64_t col = by_cols.rest * tiling->col_step;
    const int64_t matrix = by_cols.whole;
    const struct gb_cpu_div of_a = gb_cpu_div(matrix, a->ne[2]);
    const void **columns =
        (const void **)(void *)((char *)task->scratch + GB_PRODUCT_SCRATCH);
    float **dst = (float **)(void *)(columns + MAX_COLS);
    const struct gb_product product = {
        .k = a->ne[0],
        .rows = gb_cpu_min(tiling->row_step, a->ne[1] - row),
        .cols = gb_cpu_min(tiling->col_step, tiling->cols - col),
        .weights = gb_cpu_row_ptr(a, row, of_a.rest, of_a.whole),
        .pitch = a->nb[1],
        .columns = columns,
        .packed = tiling->is_packed ? packed_at(task, matrix, tiling, col) : NULL,
        .dst = dst,
        .scratch = task->scratch,
    };
    struct gb_cpu_activations from;
    struct walk at = walk_from(node, matrix, col);
    int64_t n;

    gb_cpu_activations_of(task, tiling->path, &from);
    for (int64_t c = 0; c < product.cols; c += n, walk_on(&at, n)) {
        char *to = gb_cpu_row_ptr(node, at.i1, at.i2, at.i3);
        const char *column =
            tiling->is_packed ? NULL
                           : gb_cpu_column_at(&from, at.i1, at.i2, at.i3);

        n = gb_cpu_min(product.cols - c, node->ne[1] - at.i1);
        for (int64_t i = 0; i < n; i++, to += node->nb[1])
            dst[c + i] = (float *)(void *)to + row;
        for (int64_t i = 0; column != NULL && i < n; i++, column += from.nb[1])
            columns[c + i] = column;
    }
    task->k->multiply(tiling->path, task->k->format(a->type), &product);
}

static enum ggml_status
mul_mat_run(const struct gb_cpu_task *task, int64_t tile)
{
    struct tiling tiling;

    tile_product(&tiling, task->node);
    multiply(task, &tiling, tile);
    return GGML_STATUS_SUCCESS;
}

/* Few columns wait for memory, and a tile of theirs is rows alone. */
static const char *
mul_mat_reads_at(const struct ggml_tensor *node, int64_t tile, size_t *bytes)
{
    const struct ggml_tensor *a = node->src[0];
    struct tiling tiling;
    int64_t row;

    tile_product(&tiling, node);
    row = tile * tiling.row_step;
    if (tiling.path == GB_PATH_GEMM || row >= a->ne[1])
        return NULL;
    *bytes = (size_t)(a->ne[1] - row) * a->nb[1];
    return gb_cpu_row_ptr(a, row, 0, 0);
}

const struct gb_cpu_op gb_cpu_op_mul_mat = {
    .n_src = 2,
    .can_run = mul_mat_can_run,
    .tiles = mul_mat_tiles,
    .scratch = mul_mat_scratch,
    .shared = mul_mat_shared,
    .prepare_tiles = mul_mat_prepare_tiles,
    .prepare = mul_mat_prepare,
    .is_prepared = mul_mat_is_prepared,
    .prepares_rows = mul_mat_prepares_rows,
    .run = mul_mat_run,
    .reads_at = mul_mat_reads_at,
};
