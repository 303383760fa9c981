/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm/tiles.c - products by tiles of BF16 pairs (AMX), of weights
 * of any type.
 *
 *     for each KC = 512 (the last: up to 640) values of k, half of that where
 *             weights have parts                 columns are in the L2 cache
 *         for each MR = 32 rows
 *             unpack MR x KC weights to BF16, into panels   in the L1 cache
 *             for each NR = 32 columns
 *                 micro-kernel: MR x NR sums                in four tiles
 *
 * A step of the micro-kernel takes 32 values of k: two tiles of columns, two of
 * weights, and the four products of these.  Sums stay in tiles for KC values;
 * between two panels they are kept as tiles, one behind the other, since those
 * of a long row of dst lie in few sets of a cache.  Meanwhile the weights of the
 * next panels are prefetched, some lines for each NR columns, since a product
 * that unpacks floats would wait for memory longer than it computes.  Panels and
 * packed columns are tiles as they are loaded, one behind the other:
 *
 *     panel  | step 0, part 0: rows 0..15 | rows 16..31 | part 1 .. | step 1 ..
 *
 * What it costs  A product of tiles keeps the unit busy for 16 cycles: 16 x 16
 * x 32 products of BF16, or 16 x 16 x 64 of bytes.  Loading a tile is 16 reads
 * of 64 bytes, 8 cycles from the first cache; a store is 16 cycles.
 *
 *   one part   A step is 4 products (64 cycles) and 4 loads (64 lines; 32
 *              cycles of the first cache's two reads a cycle).  Half of the
 *              lines are panels (KC * MR * 2 bytes, 32 KiB), half are columns:
 *              32 bytes a cycle from the second cache, which gives 64.  512
 *              columns of KC are 512 KiB there, and come from farther away once
 *              for all rows: ops/matmul.c gives a tile many of them where its
 *              columns have no room.  Sums are loaded and stored once a KC: 128
 *              lines for 16 steps, 96 cycles beside 1024 if nothing of it is
 *              hidden.  Unpacking a tile of weights takes about 300 cycles; it
 *              is used for 512 with 512 columns.
 *   F16        Two parts of a weight times three of an activation, without the
 *              smallest product: 5 for each 16 x 16 x 32 values, 102 products
 *              of floats a cycle where FMA of 512 bits does 32; 12 loads for
 *              20 products.
 *   F32        Three by three without the three smallest: 6, 85 a cycle; 14
 *              loads for 24.
 *
 * doc/kernels.md has the table.
 *
 * Why not bytes  A tile of bytes does twice as much in the same time only where
 * 64 values of k share a scale, and no type's do.  With sub-blocks of 32 a
 * product has half a tile of bytes, takes 16 cycles all the same (one for each
 * row of A), and leaves 256 integers, which cost 16 lines stored, and 16 loads,
 * conversions, multiplications and multiply-adds, some 24 cycles more.  Two
 * parts of eight bits that share a scale for KC values are two products again.
 *
 * Accuracy  A weight of a quantised type, scale * (code - bias) + min, is
 * rounded to BF16, and so is an activation: by up to 2^-9 of itself, where one
 * of eight bits among 32 that share a scale is off by up to 2^-8 of the
 * largest.  No outlier takes precision from its neighbours, so there are no low
 * parts.  The parts of a float x are x rounded to BF16, what is left of it
 * rounded, and what is left then, which is exact: 24 bits are three times
 * eight.  Products that are left out are smaller than 2^-26 of the whole
 * product.  Sums are rounded 32 times more rarely than by FMA at the whole
 * sum's size, parts counted five or six times.  An infinity among floats, or a
 * value that rounds to one, may become NaN; values below 2^-110 lose their
 * lower parts.
 */
#include "backends/cpu/kernels/gemm/tiles.h"
#include "backends/cpu/kernels/api/divide.h"
#include "backends/cpu/kernels/api/prototypes.h"
#include "backends/cpu/kernels/api/repacked.h"
#include "backends/cpu/kernels/gemm/panel.h"
#include "backends/cpu/simd/tiles.h"
#include "lib/base/attr.h"

#define MR GB_TILE_BLOCK
#define NR GB_TILE_BLOCK

#define MAX_PARTS 3

/* Of a block of repacked weights: those of Q8_0. */
#define MOST_BLOCK_BYTES 34

/* KC of weights in one part; half of both in more. */
#define KC_STEP GB_PANEL_STEP
#define KC_MOST GB_PANEL_K

_Static_assert(TILE_ROWS == GB_TILE_COLS && TILE_VALUES == GB_TILE_VALUES,
               "packed columns are tiles");
_Static_assert(KC_STEP % (2 * 256) == 0 && KC_MOST % (2 * TILE_VALUES) == 0,
               "whole blocks of any type, whole steps");

/* Scratch: panels, rows before they become pairs of columns, a row of floats,
 * and of blocks that were repacked, and sums that do not lie in dst as a tile
 * does. */
struct scratch {
    _Alignas(64) uint16_t panels[MR * KC_MOST * 3 / 2];
    uint16_t rows[TILE_ROWS * KC_MOST * 3 / 2];
    float row[KC_MOST];
    char blocks[KC_MOST / GB_REPACKED_VALUES * MOST_BLOCK_BYTES];
    float sums[TILE_ROWS][TILE_ROWS];
};

_Static_assert(sizeof(struct scratch) <= GB_PRODUCT_SCRATCH, "its place");

/* How many parts a weight has, and which of them meet which of an activation:
 * constants of a micro-kernel.  Small products come first. */
struct shape {
    int weight_parts;
    int parts; /* of an activation */
    int n;     /* products of parts */
    struct {
        int weight;
        int activation;
    } products[6];
};

static const struct shape one_part = { 1, 1, 1, { { 0, 0 } } };
static const struct shape of_f16 = {
    2, 3, 5, { { 0, 2 }, { 0, 1 }, { 1, 1 }, { 1, 0 }, { 0, 0 } }
};
static const struct shape of_f32 = {
    3, 3, 6, { { 0, 2 }, { 0, 1 }, { 1, 1 }, { 1, 0 }, { 2, 0 }, { 0, 0 } }
};

static const struct shape *
shape_of(const struct gb_format *format)
{
    return gb_tile_parts(format) == 1                ? &one_part
           : format->activation == GGML_TYPE_F16 ? &of_f16
                                                 : &of_f32;
}

/* ---- values as parts ---- */

/* VF_LEN values as the sum of PARTS BF16 values each, which go to TO and every
 * STEP values behind.  What becomes an infinity or NaN has no lower parts. */
GB_INLINE void
store_parts(int parts, vf v, uint16_t *to, int64_t step)
{
    const vf whole = v;

#pragma GCC unroll 3
    for (int i = 0; i < parts; i++) {
        vf rounded;

        tile_store_bf16(to + i * step, v);
        if (i == parts - 1)
            break;
        rounded = vf_load_bf16(to + i * step);
        v = vf_sub(v, rounded);
        if (i == 0)
            v = vf_select(vf_lt(vf_abs(whole), vf_set1(0x1.ffp127f)), v,
                          vf_zero());
    }
}

/* N floats as parts, each of them STEP values behind the one before; zeros up
 * to a whole step of k. */
GB_INLINE void
split_row(int parts, int64_t n, const float *x, uint16_t *to, int64_t step)
{
    const int64_t end = gb_cpu_ceil_div(n, TILE_VALUES) * TILE_VALUES;
    int64_t i = 0;

    for (; i + VF_LEN <= n; i += VF_LEN)
        store_parts(parts, vf_load(x + i), to + i, step);
    for (; i < end; i += VF_LEN)
        store_parts(parts,
                    i < n ? vf_load_n(x + i, n - i) : vf_zero(),
                    to + i, step);
}

/* The same with constants for the number of parts. */
static void
split(int parts, int64_t n, const float *x, uint16_t *to, int64_t step)
{
    if (parts == 1)
        split_row(1, n, x, to, step);
    else if (parts == 2)
        split_row(2, n, x, to, step);
    else
        split_row(3, n, x, to, step);
}

/* ---- columns ---- */

/* The values of a row from value I on, at most a step's, as floats. */
static void
read_values(enum ggml_type type, const char *row, int64_t i, int64_t n,
            float *to)
{
    const uint16_t *halves = (const uint16_t *)(const void *)row + i;

    if (type == GGML_TYPE_F16)
        GB_K_OF(FLOATS, f16_to_f32)(n, to, halves);
    else
        GB_K_OF(FLOATS, bf16_to_f32)(n, to, halves);
}

/* Column COL of COLS.  Whoever packs the last one fills its tiles with
 * zeros. */
void
GB_K(pack_tiles)(const struct gb_format *format, int64_t k, int64_t cols,
                 int64_t col, const void *row, enum ggml_type type,
                 void *packed)
{
    const int parts = gb_tile_parts(format);
    const int64_t place = col % GB_TILE_COLS;
    const int64_t below = col == cols - 1 ? GB_TILE_COLS - 1 - place : 0;
    const int64_t part = GB_TILE_COLS * TILE_VALUES;
    uint16_t *to = (uint16_t *)packed +
                   (size_t)(col - place) *
                       (gb_tile_column_bytes(format, k) / sizeof(uint16_t)) +
                   place * TILE_VALUES;

    for (int64_t i = 0; i < k; i += TILE_VALUES, to += parts * part) {
        const int64_t n = gb_cpu_min(TILE_VALUES, k - i);
        float values[TILE_VALUES];
        const float *x = (const float *)row + i;

        if (type != GGML_TYPE_F32) {
            read_values(type, row, i, n, values);
            x = values;
        }
        split(parts, n, x, to, part);
        for (int p = 0; p < parts && below > 0; p++)
            memset(to + p * part + TILE_VALUES, 0,
                   (size_t)below * TILE_VALUES * sizeof(*to));
    }
}

/* ---- weights ---- */

/* K values of a row that begins at X, as parts of it from TO on: KC_MOST values
 * apart in one part, half of that in more. */
static void
unpack_row(const struct gb_format_kernels *weight, const struct shape *shape,
           int64_t k, const void *x, float *floats, uint16_t *to)
{
    const int64_t steps = gb_cpu_ceil_div(k, TILE_VALUES);

    if (weight->format->activation == GGML_TYPE_BF16) {
        memcpy(to, x, (size_t)k * sizeof(*to));
        memset(to + k, 0, (size_t)(steps * TILE_VALUES - k) * sizeof(*to));
        return;
    }
    weight->floats(k, floats, x);
    split(shape->weight_parts, k, floats, to, TILE_ROWS * KC_MOST / 2);
}

/* The blocks with K values, from value FROM on, of row ROW, as in a file: where
 * they lie, or ROOM if they are repacked. */
static const char *
blocks_of_row(const struct gb_format_kernels *weight,
              const struct gb_product *p, int64_t row, int64_t from, int64_t k,
              char *room)
{
    const struct gb_format *format = weight->format;
    const char *x = p->weights;
    const int64_t blocks = p->k / format->block;
    const int64_t first = from / format->block;
    const int64_t in_group = row % GB_REPACKED_ROWS;

    if (weight->unpack_lanes == NULL)
        return x + (size_t)row * p->pitch + (size_t)first * format->bytes;
    x += (size_t)(row - in_group) * p->pitch;
    for (int64_t i = 0; i < k / format->block; i++) {
        const struct gb_repacked_block b =
            gb_repacked_block(format, blocks, first + i);

        gb_repacked_get(&b, x, (int)in_group,
                        room + (size_t)i * format->bytes);
    }
    return room;
}

/* K values, from value FROM on, of sixteen rows from ROW on, as the tiles of
 * every second place from PANEL on; rows that are not there are zeros. */
static void
unpack_rows(const struct gb_format_kernels *weight, const struct shape *shape,
            const struct gb_product *product, int64_t row, int64_t from,
            int64_t k, struct scratch *s, char *panel)
{
    const int64_t steps = gb_cpu_ceil_div(k, TILE_VALUES);
    const int parts = shape->weight_parts;
    const int64_t step = parts == 1 ? KC_MOST : KC_MOST / 2;

    for (int64_t r = 0; r < TILE_ROWS; r++) {
        uint16_t *to = s->rows + r * step;
        const bool is_there = row + r < product->rows;

        if (is_there)
            unpack_row(weight, shape, k,
                       blocks_of_row(weight, product, row + r, from, k,
                                     s->blocks),
                       s->row, to);
        for (int p = 0; p < parts && !is_there; p++)
            memset(to + p * (TILE_ROWS * KC_MOST / 2), 0,
                   (size_t)(steps * TILE_VALUES) * sizeof(*to));
    }
    for (int64_t i = 0; i < steps; i++)
        for (int p = 0; p < parts; p++, panel += 2 * TILE_BYTES)
            tile_transpose(panel,
                           s->rows + p * (TILE_ROWS * KC_MOST / 2) +
                               i * TILE_VALUES,
                           step * (int64_t)sizeof(uint16_t));
}

/* ---- sums ---- */

/* Sixteen columns' results from row 0 of a tile on. */
struct place {
    float *const *dst;
    int64_t row;
    int64_t rows; /* that are there, 0 to 16 */
    int64_t cols; /* likewise */
    int64_t pitch; /* bytes from column to column where a tile lies so; or 0 */
};

static struct place
place_of(const struct gb_product *p, int64_t row, int64_t col)
{
    struct place place = {
        .dst = p->dst + col,
        .row = row,
        .rows = p->rows <= row ? 0 : gb_cpu_min(TILE_ROWS, p->rows - row),
        .cols = gb_cpu_min(GB_TILE_COLS, p->cols - col),
    };

    if (place.rows < TILE_ROWS || place.cols < GB_TILE_COLS)
        return place;
    place.pitch = (char *)place.dst[1] - (char *)place.dst[0];
    for (int64_t c = 2; c < GB_TILE_COLS; c++)
        if ((char *)place.dst[c] - (char *)place.dst[c - 1] != place.pitch)
            place.pitch = 0;
    return place;
}

static void
scatter(const struct place *place, float (*sums)[TILE_ROWS])
{
    for (int64_t c = 0; c < place->cols; c++)
        memcpy(place->dst[c] + place->row, sums[c],
               (size_t)place->rows * sizeof(**sums));
}

/* Tile I, a constant, goes to PLACE. */
#define STORE_SUMS(t, i, place, sums)                                        \
    do {                                                                     \
        if ((place)->pitch != 0) {                                           \
            tile_store(t, i, (place)->dst[0] + (place)->row,                 \
                       (place)->pitch);                                      \
        } else {                                                             \
            tile_store(t, i, sums, sizeof(*(sums)));                         \
            scatter(place, sums);                                            \
        }                                                                    \
    } while (0)

/* ---- the micro-kernel ---- */

/* MR rows by up to NR columns, KC values of k: where they are. */
struct block {
    int64_t steps;
    const char *panel;
    const char *columns[2]; /* of 16; the second may be missing */
    bool is_first, is_last; /* of a row's panels */
    char *kept; /* the sums between them: four tiles */
    struct place places[4]; /* columns 0 by rows 0 and 1, columns 1 likewise */
};

/* Tiles 0 to 3 are sums, 4 and 5 columns, 6 and 7 weights; in a step those are
 * loaded that the product before did not have. */
GB_INLINE void
add_steps(const struct shape *shape, bool is_wide, struct tiles *t,
          const struct block *block)
{
    const char *panel = block->panel;
    const char *columns = block->columns[0];
    const char *more = block->columns[1];

    for (int64_t left = block->steps; left > 0; left--) {
#pragma GCC unroll 6
        for (int j = 0; j < shape->n; j++) {
            const int w = shape->products[j].weight;
            const int a = shape->products[j].activation;

            if (j == 0 || w != shape->products[j - 1].weight) {
                tile_load(t, 6, panel + 2 * w * TILE_BYTES, 64);
                tile_load(t, 7, panel + (2 * w + 1) * TILE_BYTES, 64);
            }
            if (j == 0 || a != shape->products[j - 1].activation) {
                tile_load(t, 4, columns + a * TILE_BYTES, 64);
                if (is_wide)
                    tile_load(t, 5, more + a * TILE_BYTES, 64);
            }
            tile_dot_bf16(t, 0, 4, 6);
            tile_dot_bf16(t, 1, 4, 7);
            if (is_wide) {
                tile_dot_bf16(t, 2, 5, 6);
                tile_dot_bf16(t, 3, 5, 7);
            }
        }
        panel += 2 * shape->weight_parts * TILE_BYTES;
        columns += shape->parts * TILE_BYTES;
        more += shape->parts * TILE_BYTES;
    }
}

GB_INLINE void
multiply_block(const struct shape *shape, bool is_wide, struct tiles *t,
               const struct block *block, float (*sums)[TILE_ROWS])
{
    char *const kept = block->kept;

    if (block->is_first) {
        tile_zero(t, 0);
        tile_zero(t, 1);
        tile_zero(t, 2);
        tile_zero(t, 3);
    } else {
        tile_load(t, 0, kept, 64);
        tile_load(t, 1, kept + TILE_BYTES, 64);
        if (is_wide) {
            tile_load(t, 2, kept + 2 * TILE_BYTES, 64);
            tile_load(t, 3, kept + 3 * TILE_BYTES, 64);
        }
    }
    add_steps(shape, is_wide, t, block);
    if (!block->is_last) {
        tile_store(t, 0, kept, 64);
        tile_store(t, 1, kept + TILE_BYTES, 64);
        if (is_wide) {
            tile_store(t, 2, kept + 2 * TILE_BYTES, 64);
            tile_store(t, 3, kept + 3 * TILE_BYTES, 64);
        }
        return;
    }
    STORE_SUMS(t, 0, &block->places[0], sums);
    STORE_SUMS(t, 1, &block->places[1], sums);
    if (is_wide) {
        STORE_SUMS(t, 2, &block->places[2], sums);
        STORE_SUMS(t, 3, &block->places[3], sums);
    }
}

/* Functions of their own, with constants for what differs. */
#define MICRO_KERNEL(name, shape, is_wide)                                  \
    static void name(struct tiles *t, const struct block *block,            \
                     float (*sums)[TILE_ROWS])                              \
    {                                                                       \
        multiply_block(&(shape), is_wide, t, block, sums);                  \
    }

MICRO_KERNEL(one_part_narrow, one_part, false)
MICRO_KERNEL(one_part_wide, one_part, true)
MICRO_KERNEL(f16_narrow, of_f16, false)
MICRO_KERNEL(f16_wide, of_f16, true)
MICRO_KERNEL(f32_narrow, of_f32, false)
MICRO_KERNEL(f32_wide, of_f32, true)

typedef void micro_kernel_fn(struct tiles *t, const struct block *block,
                             float (*sums)[TILE_ROWS]);

/* By parts of a weight, and whether there are more than 16 columns. */
static micro_kernel_fn *const micro_kernels[MAX_PARTS][2] = {
    { one_part_narrow, one_part_wide },
    { f16_narrow, f16_wide },
    { f32_narrow, f32_wide },
};

/* ---- the loops at the head of this file ---- */

/* KC where LEFT values of a row are left. */
static int64_t
kc_of(const struct shape *shape, int64_t left)
{
    const int64_t divide = shape->weight_parts == 1 ? 1 : 2;

    return left <= KC_MOST / divide ? left : KC_STEP / divide;
}

/* A panel: rows from ROW on, KC values from K on. */
struct panel {
    int64_t row, k, kc;
};

/* What the next panels are made of, prefetched while columns go by these. */
struct next {
    const char *row;
    size_t pitch;
    size_t bytes; /* of a row */
    size_t at;    /* the next of them */
    int64_t rows; /* that are left */
    int64_t lines; /* of the cache, for each NR columns */
};

/* The panel behind AT: that of the next rows, or of the first ones' next values;
 * behind the last one what the next tile of rows begins with.  Some rows may not
 * be there: a prefetch does not fault. */
static struct next
next_of(const struct gb_format *format, const struct shape *shape,
        const struct gb_product *p, const struct panel *at)
{
    const int64_t below = at->row + MR, behind = at->k + at->kc;
    const bool is_last = below >= p->rows && behind == p->k;
    const int64_t k = is_last ? 0 : below < p->rows ? at->k : behind;
    const int64_t row = is_last || below < p->rows ? below : 0;
    const size_t bytes =
        (size_t)gb_cpu_ceil_div(kc_of(shape, p->k - k), format->block) *
        format->bytes;

    return (struct next){
        .row = (const char *)p->weights + (size_t)row * p->pitch +
               (size_t)(k / format->block) * format->bytes,
        .pitch = p->pitch,
        .bytes = bytes,
        .rows = MR,
        .lines = gb_cpu_ceil_div(MR * (int64_t)(bytes / 64 + 1),
                                 gb_cpu_ceil_div(p->cols, NR)),
    };
}

static void
fetch(struct next *next)
{
    for (int64_t i = 0; i < next->lines && next->rows > 0; i++) {
        GB_PREFETCH_FAR(next->row + next->at);
        next->at += 64;
        if (next->at >= next->bytes) {
            next->at = 0;
            next->row += next->pitch;
            next->rows--;
        }
    }
}

/* All columns by panel AT. */
static void
all_columns(const struct gb_format *format, const struct shape *shape,
            const struct gb_product *p, const struct panel *at,
            struct next next, struct tiles *t, struct scratch *s)
{
    const size_t bytes = gb_tile_column_bytes(format, p->k);
    const char *columns =
        (const char *)p->packed +
        (size_t)(at->k / TILE_VALUES * shape->parts) * TILE_BYTES;
    char *kept = (char *)p->sums + gb_tile_sums_bytes(at->row, p->cols);

    for (int64_t c = 0; c < p->cols; c += NR) {
        const bool is_wide = p->cols - c > GB_TILE_COLS;
        struct block block = {
            .steps = gb_cpu_ceil_div(at->kc, TILE_VALUES),
            .panel = (const char *)s->panels,
            .columns = { columns + (size_t)c * bytes,
                         columns + (size_t)(c + GB_TILE_COLS) * bytes },
            .is_first = at->k == 0,
            .is_last = at->k + at->kc == p->k,
            .kept = kept,
        };

        fetch(&next);
        for (int i = 0; block.is_last && i < (is_wide ? 4 : 2); i++)
            block.places[i] = place_of(p, at->row + i % 2 * TILE_ROWS,
                                       c + i / 2 * GB_TILE_COLS);
        micro_kernels[shape->weight_parts - 1][is_wide](t, &block, s->sums);
        kept += 4 * TILE_BYTES;
    }
}

void
GB_K(multiply_tiles)(const struct gb_format_kernels *weight,
                     const struct gb_product *p)
{
    const struct gb_format *format = weight->format;
    const struct shape *shape = shape_of(format);
    struct scratch *s = p->scratch;
    struct tiles t;

    tiles_configure(&t);
    for (struct panel at = { 0 }; at.k < p->k; at.k += at.kc) {
        at.kc = kc_of(shape, p->k - at.k);
        for (at.row = 0; at.row < p->rows; at.row += MR) {
            for (int v = 0; v < 2; v++)
                unpack_rows(weight, shape, p, at.row + v * TILE_ROWS, at.k,
                            at.kc, s, (char *)s->panels + v * TILE_BYTES);
            all_columns(format, shape, p, &at, next_of(format, shape, p, &at),
                        &t, s);
        }
    }
}

void
GB_K(release_tiles)(void)
{
    tiles_release();
}
