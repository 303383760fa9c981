/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/matmul.c - products of matrices (MUL_MAT): shapes, dispatch to a
 * path, and tiles.  The products themselves are in kernels/gemm and
 * kernels/format.
 */
#include "config.h"

#include "backends/cpu/kernels/api/divide.h"
#include "backends/cpu/ops/activations.h"
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/rows.h"
#include "lib/base/checked.h"
#include "lib/base/status.h"

/*
 * D[m, n, p, q] = the sum over k of A[k, m, p / r2, q / r3] * B[k, n, p, q],
 * r2 and r3 saying how many matrices of B share one of A (grouped queries:
 * several heads of queries look at one head of keys).
 *
 *   src0   A, weights of any type, [k, m, p / r2, q / r3]; rows dense, any
 *          other strides
 *   src1   B, activations, [k, n, p, q], F32 or what the weights' type is
 *          multiplied with (struct gb_format); likewise
 *   dst    D, F32 [m, n, p, q], rows dense, any other strides
 *
 * Both operands have k along dimension 0, which is contiguous.  What lies along
 * dimension 0 of A is called a row of weights, of B a column of activations.
 *
 * Quantised weights are multiplied with int8 activations, outliers with more
 * precision (kernels/api/packing.h), in integers and with float scales; float
 * weights with F32.  Where the variant has tiles, products with many columns
 * take both as BF16 (kernels/gemm/tiles.c).
 *
 * Dispatch  by type, columns, rows and how B lies: GEMV, skinny GEMM, GEMM,
 *           GEMM with columns packed in panels, or tiles, both in the step's
 *           shared memory.
 * Prepare   columns are packed once for all tiles, unless they are F32 for
 *           float weights and used in place.  Products of the same B that
 *           follow each other (queries, keys, values) share what was packed.
 * Threads   tiles are row_step rows by col_step columns of one matrix of A.
 *           Their sizes follow from shape and variant, not from the number of
 *           threads, and a sum over k is never divided.
 * Accuracy  float sums in the order of k (few columns: in lanes).
 */

/* A tile's extent.  Rows are unpacked for each tile, so it has many columns:
 * 528 of them make unpacking a small part of the work.  528 is a multiple of NR
 * of any variant's micro-kernel (4 or 6).  Where a product has fewer than
 * TILES_WANTED tiles, many cores would wait for the last one: tiles then get
 * fewer columns, but no fewer than TILE_COLS_MIN. */
#define TILE_ROWS     32
#define TILE_COLS     528
#define TILE_COLS_MIN 66
#define TILES_WANTED  32

/* The same for float weights: MR rows, of short ones a multiple, and many
 * columns; multiples of what panels of columns begin at.  Where rows are few it
 * does not pay to pack columns beforehand. */
#define FLOAT_ROWS          32
#define FLOAT_COLS          (48 * GB_PACKED_COLS)
#define FLOAT_COLS_MIN      (10 * GB_PACKED_COLS)
#define FLOAT_COLS_IN_PLACE (20 * GB_PACKED_COLS)
#define FLOAT_LENGTH        512 /* of a row that is not short */
#define MAX_ROWS_IN_PLACE   128

/* The same for tiles: multiples of 32 columns.  Products with fewer rows or
 * shorter ones would fill tiles with zeros. */
#define TILES_COLS     512
#define TILES_COLS_MIN 64
#define TILES_ROWS_MIN 16
#define TILES_K_MIN    32

/* Columns of one part of k go by all rows of a tile before those of the next
 * part do.  Where all of k is more than this, half of what the second cache of
 * a machine with tiles has, a tile has up to TILES_ROWS. */
#define TILES_CACHE ((size_t)1 << 20)
#define TILES_ROWS  256

/* BF16 columns are packed from so many on, as pairs. */
#define BF16_COLS_MIN 4

/* The most columns of any tile: for so many addresses there is scratch. */
#define MAX_COLS (FLOAT_COLS > TILE_COLS ? FLOAT_COLS : TILE_COLS)

/* What a product has there: the kernel's own, those, and sums of tiles. */
#define COLUMNS_AT GB_PRODUCT_SCRATCH
#define SUMS_AT    (COLUMNS_AT + 2 * MAX_COLS * sizeof(void *))
_Static_assert(SUMS_AT % 64 == 0, "a line of the cache");

/* How a product is computed, and divided into tiles.  All columns of B that
 * meet the same matrix of A are taken together. */
struct tiling {
    const struct gb_format_kernels *weight;
    int64_t cols;      /* for each matrix of A */
    int64_t row_step;  /* of a tile */
    int64_t col_step;
    int64_t row_tiles; /* in a matrix */
    int64_t col_tiles;
    /* The path of a matrix' last tile of columns; that of the others is the one
     * that columns are packed for. */
    enum gb_path last_path;
    struct gb_cpu_activations columns;
    size_t column_pitch; /* see struct gb_product */
};

_Static_assert(sizeof(struct tiling) <= GB_CPU_TILING_MAX, "its place");

/* Weights that are unpacked for each tile: MOST columns, fewer, down to FEWEST,
 * where there would be too few tiles. */
static void
tile_unpacked(struct tiling *tiling, const struct ggml_tensor *a, int64_t most,
              int64_t fewest)
{
    const int64_t matrices = a->ne[2] * a->ne[3];

    tiling->row_step = TILE_ROWS;
    tiling->row_tiles = gb_cpu_ceil_div(a->ne[1], TILE_ROWS);
    tiling->col_step = most;
    while (tiling->col_step > fewest &&
           matrices * tiling->row_tiles *
                   gb_cpu_ceil_div(tiling->cols, tiling->col_step) <
               TILES_WANTED)
        tiling->col_step /= 2;
    tiling->col_tiles = gb_cpu_ceil_div(tiling->cols, tiling->col_step);
}

/* Products by the processor's tiles (GB_PATH_TILES): more rows where all of their
 * columns have no room in its second cache. */
static void
tile_for_tiles(struct tiling *tiling, const struct ggml_tensor *a)
{
    const size_t column = gb_tile_column_bytes(tiling->weight->format, a->ne[0]);
    int64_t others;

    tile_unpacked(tiling, a, TILES_COLS, TILES_COLS_MIN);
    others = tiling->col_tiles * a->ne[2] * a->ne[3];
    if (column <= TILES_CACHE / (size_t)tiling->col_step)
        return;
    while (tiling->row_step < TILES_ROWS &&
           others * gb_cpu_ceil_div(a->ne[1], 2 * tiling->row_step) >=
               TILES_WANTED)
        tiling->row_step *= 2;
    tiling->row_tiles = gb_cpu_ceil_div(a->ne[1], tiling->row_step);
}

/* The same for float weights: fewer columns, then fewer rows, where there would
 * be too few tiles.  All tiles have about as many columns. */
static void
tile_floats(struct tiling *tiling, const struct ggml_tensor *a, int64_t rows,
            int64_t cols)
{
    const int64_t matrices = a->ne[2] * a->ne[3];
    const int64_t fewest = gb_cpu_ceil_div(tiling->cols, cols);
    const int64_t most = gb_cpu_ceil_div(tiling->cols, FLOAT_COLS_MIN);
    const int64_t row_tiles = matrices * gb_cpu_ceil_div(a->ne[1], rows);
    int64_t wanted = gb_cpu_ceil_div(TILES_WANTED, row_tiles);

    wanted = wanted > most ? most : wanted < fewest ? fewest : wanted;
    tiling->col_step =
        gb_cpu_ceil_div(gb_cpu_ceil_div(tiling->cols, wanted), GB_PACKED_COLS) *
        GB_PACKED_COLS;
    tiling->col_tiles = gb_cpu_ceil_div(tiling->cols, tiling->col_step);
    while (rows > FLOAT_ROWS &&
           matrices * tiling->col_tiles * gb_cpu_ceil_div(a->ne[1], rows) <
               TILES_WANTED)
        rows = gb_cpu_ceil_div(rows / 2, FLOAT_ROWS) * FLOAT_ROWS;
    tiling->row_step = rows;
    tiling->row_tiles = gb_cpu_ceil_div(a->ne[1], rows);
}

/* GEMV and skinny GEMM: few columns are in one tile, and tiles are rows.
 * Memory is the limit there, so each weight is to be read by one tile only.
 * Only where rows have no elements can there be many columns. */
static void
tile_rows(struct tiling *tiling, const struct ggml_tensor *a)
{
    tiling->col_step = gb_cpu_min(tiling->cols, MAX_COLS);
    tiling->col_tiles = tiling->col_step < tiling->cols
                            ? gb_cpu_ceil_div(tiling->cols, MAX_COLS)
                            : 1;
    tiling->row_step = gb_cpu_gemv_rows(a, tiling->col_step);
    tiling->row_tiles = tiling->row_step < a->ne[1]
                            ? gb_cpu_ceil_div(a->ne[1], tiling->row_step)
                            : 1;
}

/* Float weights of many rows become panels, which all columns go by; these are
 * packed too, but for those that are read as fast where they lie: floats, each
 * as far from the one before. */
static enum gb_path
float_path(const struct gb_format *format, const struct ggml_tensor *a,
           const struct ggml_tensor *b, int64_t cols)
{
    const enum gb_path path = gb_path_of(format, a->ne[0], cols);

    if (a->ne[1] <= MAX_ROWS_IN_PLACE || a->ne[0] == 0)
        return path;
    if (a->type == GGML_TYPE_BF16)
        return cols < BF16_COLS_MIN ? path : GB_PATH_GEMM_PACKED;
    if (path != GB_PATH_GEMM)
        return path;
    return b->type != GGML_TYPE_F32 || gb_has_4k_aliasing(b->nb[1]) ||
                   cols != b->ne[1]
               ? GB_PATH_GEMM_PACKED
               : GB_PATH_GEMM;
}

/* Has the variant tiles, and do they have much to do?  Activations that are
 * blocks of bytes stay such. */
static bool
takes_tiles(const struct gb_cpu_kernels *k, const struct ggml_tensor *a,
            const struct ggml_tensor *b, int64_t cols)
{
    return k->pack_tiles != NULL && gb_cpu_is_float(b->type) &&
           cols > GB_SKINNY_COLS && a->ne[1] >= TILES_ROWS_MIN &&
           a->ne[0] >= TILES_K_MIN;
}

/* Columns that meet each matrix of A. */
static int64_t
cols_of(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];

    return node->ne[1] * gb_cpu_exact_div(node->ne[2], a->ne[2]) *
           gb_cpu_exact_div(node->ne[3], a->ne[3]);
}

/* The dispatch of products: path, tile sizes, and where columns come from.  It
 * is called once a plan; each tile follows what is decided here. */
static void
dispatch(struct tiling *tiling, const struct ggml_tensor *node,
         const struct gb_cpu_kernels *k)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    const struct gb_format_kernels *weight = gb_cpu_weight_kernels(k, a);
    const bool is_float = gb_cpu_is_float(a->type);
    const int64_t cols = cols_of(node);
    const enum gb_path path = takes_tiles(k, a, b, cols) ? GB_PATH_TILES
                              : is_float
                                  ? float_path(weight->format, a, b, cols)
                                  : gb_path_of(weight->format, a->ne[0], cols);

    tiling->weight = weight;
    tiling->cols = cols;
    tiling->last_path = path;
    if (path == GB_PATH_GEMV || path == GB_PATH_SKINNY) {
        tile_rows(tiling, a);
    } else if (path == GB_PATH_TILES) {
        tile_for_tiles(tiling, a);
    } else if (!is_float) {
        tile_unpacked(tiling, a, TILE_COLS, TILE_COLS_MIN);
    } else if (a->ne[1] <= MAX_ROWS_IN_PLACE) {
        tile_floats(tiling, a, MAX_ROWS_IN_PLACE, FLOAT_COLS_IN_PLACE);
    } else {
        /* Short rows do little work each: a tile has more of them. */
        const int64_t many = FLOAT_LENGTH / (a->ne[0] + 1) + 1;

        tile_floats(tiling, a, many * FLOAT_ROWS, FLOAT_COLS);
    }
    /* Columns in place may be few in the last tile. */
    if (is_float && path == GB_PATH_GEMM)
        tiling->last_path =
            gb_path_of(weight->format, a->ne[0],
                       cols - (tiling->col_tiles - 1) * tiling->col_step);
    gb_cpu_activations_init(&tiling->columns, b, weight->format, path);
    tiling->column_pitch = gb_has_4k_aliasing(tiling->columns.nb[1])
                               ? 0
                               : tiling->columns.nb[1];
}

/* Columns that meet a matrix of A and are packed together: of tiles the last
 * are completed. */
static int64_t
packed_cols(const struct tiling *tiling)
{
    return tiling->columns.path == GB_PATH_TILES
               ? gb_cpu_ceil_div(tiling->cols, GB_TILE_COLS) * GB_TILE_COLS
               : tiling->cols;
}

static size_t
tiles_bytes(const struct tiling *tiling, const struct ggml_tensor *a)
{
    return gb_mul_or_max(
        gb_mul_or_max(tiling->columns.nb[1], (size_t)packed_cols(tiling)),
        gb_mul_or_max((size_t)a->ne[2], (size_t)a->ne[3]));
}

static void
mul_mat_tile(const struct ggml_tensor *node, const struct gb_cpu_kernels *k,
             void *out, struct gb_cpu_needs *needs)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    struct tiling *tiling = out;

    dispatch(tiling, node, k);
    needs->tiles =
        tiling->row_tiles * tiling->col_tiles * a->ne[2] * a->ne[3];
    /* The kernel's, and the addresses of columns and of their results. */
    needs->scratch = SUMS_AT;
    if (tiling->columns.path == GB_PATH_TILES)
        needs->scratch += gb_tile_sums_bytes(tiling->row_step, tiling->col_step);
    /* Tiles are those of B's rows, so that the thread that makes a row rounds
     * or packs it. */
    needs->shared = tiling->columns.path == GB_PATH_TILES
                        ? tiles_bytes(tiling, a)
                        : gb_cpu_activations_bytes(&tiling->columns, b);
    needs->prepare_tiles = gb_cpu_activations_tiles(&tiling->columns, b);
    /* Type and path say the layout; there are five paths. */
    needs->prepared_as = 5 * (int)a->type + (int)tiling->columns.path;
}

/* Shapes as at the head of this file; that lengths and types of A and B go
 * together is gb_cpu_can_multiply()'s to say. */
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

/* The columns that meet a matrix of A, one after another: n of a matrix of B,
 * then those of the next matrix of B that shares A's, in dimension 2 and then
 * 3. */
struct walk {
    const struct ggml_tensor *node;
    int64_t n2; /* matrices of B that share one of A: those in dimension 2 */
    int64_t i1;
    int64_t i2;
    int64_t i3;
};

/* At column COL of those that meet matrix MATRIX of A. */
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
 * GB_PACKED_COLS, or of GB_TILE_COLS. */
static void *
packed_at(const struct gb_cpu_task *task, int64_t matrix, int64_t col)
{
    const struct tiling *tiling = task->tiling;

    return (char *)task->shared +
           (size_t)(matrix * packed_cols(tiling) + col) *
               tiling->columns.nb[1];
}

/* The row of B at AT becomes a column among those that meet its matrix of A. */
static void
pack_row(const struct gb_cpu_task *task, struct gb_cpu_row at)
{
    const struct tiling *tiling = task->tiling;
    const struct ggml_tensor *a = task->node->src[0];
    const struct ggml_tensor *b = task->node->src[1];
    const int64_t n2 = gb_cpu_exact_div(b->ne[2], a->ne[2]);
    const int64_t n3 = gb_cpu_exact_div(b->ne[3], a->ne[3]);
    const struct gb_cpu_div of_2 = gb_cpu_div(at.i2, n2);
    const struct gb_cpu_div of_3 = gb_cpu_div(at.i3, n3);
    const int64_t matrix = of_3.whole * a->ne[2] + of_2.whole;
    const int64_t col = at.i1 + (of_2.rest + of_3.rest * n2) * b->ne[1];

    (tiling->columns.path == GB_PATH_TILES ? task->k->pack_tiles
                                           : task->k->pack_floats)(
        tiling->weight->format, a->ne[0], tiling->cols, col,
        gb_cpu_row_ptr(b, at.i1, at.i2, at.i3), b->type,
        packed_at(task, matrix, 0));
}

/* Are columns packed together, or each for itself? */
static bool
is_packed(enum gb_path path)
{
    return path == GB_PATH_GEMM_PACKED || path == GB_PATH_TILES;
}

/* The rows of B that are tile TILE, packed in panels of columns or in tiles. */
static void
pack_rows(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *b = task->node->src[1];
    const struct gb_cpu_row_range range = gb_cpu_tile_rows(b, tile);
    struct gb_cpu_row at = gb_cpu_row_at(b, range.first);

    for (int64_t i = range.first; i < range.last; i++) {
        pack_row(task, at);
        gb_cpu_row_advance(b, &at);
    }
}

static enum ggml_status
mul_mat_prepare(const struct gb_cpu_task *task, int64_t tile)
{
    const struct tiling *tiling = task->tiling;

    if (is_packed(tiling->columns.path))
        pack_rows(task, tile);
    else
        gb_cpu_activations_pack(task, &tiling->columns, tile);
    return GGML_STATUS_SUCCESS;
}

/* Prepare's tiles are B's rows, so that the thread that makes some rows of B
 * may pack them at once, without a barrier. */
static const struct ggml_tensor *
mul_mat_prepares_rows(const struct ggml_tensor *node)
{
    return node->src[1];
}

/* Queries, keys and values are products of the same activations: what was
 * packed for the first of them serves the others.  A's dimensions 2 and 3 say
 * which columns of a panel stand together, so they have to be the same. */
static bool
mul_mat_is_prepared(const struct ggml_tensor *node,
                    const struct ggml_tensor *before)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *a_before = before->src[0];

    return node->src[1] == before->src[1] && a->ne[2] == a_before->ne[2] &&
           a->ne[3] == a_before->ne[3];
}

/* Find the product's columns, from column COL on of those that meet a matrix of
 * A, and their results from row ROW on. */
static void
find_columns(const struct gb_cpu_task *task, int64_t matrix, int64_t row,
             int64_t col, struct gb_product *product, const void **columns,
             float **dst)
{
    const struct tiling *tiling = task->tiling;
    const struct ggml_tensor *node = task->node;
    struct walk at = walk_from(node, matrix, col);
    int64_t n;

    for (int64_t c = 0; c < product->cols; c += n, walk_on(&at, n)) {
        char *to = gb_cpu_row_ptr(node, at.i1, at.i2, at.i3);

        n = gb_cpu_min(product->cols - c, node->ne[1] - at.i1);
        for (int64_t i = 0; i < n; i++, to += node->nb[1])
            dst[c + i] = (float *)(void *)to + row;
        if (product->packed == NULL) {
            const char *column = gb_cpu_column_at(task, &tiling->columns,
                                                  at.i1, at.i2, at.i3);

            for (int64_t i = 0; i < n; i++)
                columns[c + i] =
                    gb_cpu_place(column, (size_t)i * tiling->columns.nb[1]);
            /* Where several matrices' columns are not as far apart. */
            if (c > 0 && column != gb_cpu_place(columns[c - 1],
                                                tiling->column_pitch))
                product->column_pitch = 0;
        }
    }
}

/* A tile's number is row tile + row_tiles * (column tile + col_tiles * matrix),
 * so that tiles that follow each other share columns, and then weights of a
 * matrix. */
static enum ggml_status
mul_mat_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct tiling *tiling = task->tiling;
    const struct ggml_tensor *a = task->node->src[0];
    const struct gb_cpu_div by_rows = gb_cpu_div(tile, tiling->row_tiles);
    const struct gb_cpu_div by_cols =
        gb_cpu_div(by_rows.whole, tiling->col_tiles);
    const int64_t row = by_rows.rest * tiling->row_step;
    const int64_t col = by_cols.rest * tiling->col_step;
    const int64_t matrix = by_cols.whole;
    const struct gb_cpu_div of_a = gb_cpu_div(matrix, a->ne[2]);
    const enum gb_path path = by_cols.rest == tiling->col_tiles - 1
                                  ? tiling->last_path
                                  : tiling->columns.path;
    const void **columns =
        (const void **)(void *)((char *)task->scratch + COLUMNS_AT);
    float **dst = (float **)(void *)(columns + MAX_COLS);
    struct gb_product product = {
        .k = a->ne[0],
        .rows = gb_cpu_min(tiling->row_step, a->ne[1] - row),
        .cols = gb_cpu_min(tiling->col_step, tiling->cols - col),
        .weights = gb_cpu_row_ptr(a, row, of_a.rest, of_a.whole),
        .pitch = a->nb[1],
        .columns = columns,
        .packed = is_packed(path) ? packed_at(task, matrix, col) : NULL,
        .column_pitch = tiling->column_pitch,
        .dst = dst,
        .scratch = task->scratch,
        .sums = (char *)task->scratch + SUMS_AT,
    };

    GB_INVARIANT(product.rows > 0 && product.rows <= tiling->row_step);
    GB_INVARIANT(product.cols > 0 && product.cols <= MAX_COLS);
    find_columns(task, matrix, row, col, &product, columns, dst);
    task->k->multiply(path, tiling->weight, &product);
    return GGML_STATUS_SUCCESS;
}

/* Few columns wait for memory, and a tile of theirs is rows alone. */
static const char *
mul_mat_reads_at(const struct ggml_tensor *node, const void *of_step,
                 int64_t tile, size_t *bytes)
{
    const struct tiling *tiling = of_step;
    const struct ggml_tensor *a = node->src[0];
    const int64_t row = tile * tiling->row_step;

    if (tiling->columns.path > GB_PATH_SKINNY || row >= a->ne[1])
        return NULL;
    *bytes = (size_t)(a->ne[1] - row) * a->nb[1];
    return gb_cpu_row_ptr(a, row, 0, 0);
}

const struct gb_cpu_op gb_cpu_op_mul_mat = {
    .n_src = 2,
    .can_run = mul_mat_can_run,
    .tile = mul_mat_tile,
    .tiling_size = sizeof(struct tiling),
    .prepare = mul_mat_prepare,
    .is_prepared = mul_mat_is_prepared,
    .prepares_rows = mul_mat_prepares_rows,
    .run = mul_mat_run,
    .reads_at = mul_mat_reads_at,
};
