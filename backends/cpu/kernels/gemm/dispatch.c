/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm/dispatch.c - products of weights with columns: the kernel of
 * each path, and MR and KC blocking of quantised ones.
 *
 * The int8 GEMM, for a tile of rows and columns that ops/matmul.c made:
 *
 *     for each KC = 512 (the last: up to 640) values of k
 *         for each MR = VQ_ROWS * VF_LEN rows
 *             unpack MR x KC weights into panels           in the L1 cache
 *             for each NR = VQ_COLS columns
 *                 micro-kernel (int8.c): MR x NR sums      in registers
 *
 * KC values of all columns stay in the L2 cache, where all rows' panels meet
 * them.  A column says where the outliers of each 512 values are.  640 saves
 * rows of 576 or 640 values a second pass over their sums.  Scratch has the
 * panels one behind the other:
 *
 *     | rows, not transposed yet | codes  scales  mins | codes  scales  mins |
 */
#include "backends/cpu/kernels/gemm/float.h"
#include "backends/cpu/kernels/gemm/int8.h"
#include "backends/cpu/kernels/gemm/tiles.h"
#include "backends/cpu/kernels/api/prototypes.h"
#include "backends/cpu/kernels/api/repacked.h"

/* Bytes of a panel's parts: a byte for each value, and as many scales as the
 * smallest sub-blocks, 16 values, can need. */
#define CODES_BYTES  (GB_PANEL_K * VF_LEN)
#define SCALES_BYTES (GB_PANEL_K / 16 * VF_LEN * sizeof(float))

_Static_assert(CODES_BYTES + VQ_ROWS * (CODES_BYTES + 2 * SCALES_BYTES) <=
                   GB_PRODUCT_SCRATCH,
               "the panels' place");
_Static_assert(GB_PANEL_STEP == GB_OUTLIER_VALUES &&
                   GB_PANEL_K <= 2 * GB_OUTLIER_VALUES,
               "a panel has one part of a column's outliers, or two");

/* The panels in SCRATCH. */
static void
place_panels(struct gb_panel *panels, char *scratch)
{
    char *place = scratch + CODES_BYTES;

    for (int i = 0; i < VQ_ROWS; i++) {
        struct gb_panel *panel = &panels[i];

        panel->rows = (uint8_t *)scratch;
        panel->codes = (uint8_t *)place;
        panel->scales = (float *)(void *)(place + CODES_BYTES);
        panel->mins =
            (float *)(void *)(place + CODES_BYTES + SCALES_BYTES);
        place += CODES_BYTES + 2 * SCALES_BYTES;
    }
}

/* N values, from value K on, of VF_LEN rows from row R on into PANEL.  A group
 * of repacked rows has the values of all of them before it. */
static void
unpack(const struct gb_format_kernels *weight, const struct gb_product *p,
       int64_t n, int64_t k, int64_t r, const struct gb_panel *panel)
{
    const struct gb_format *format = weight->format;
    const char *x = p->weights;
    const size_t before = (size_t)(k / format->block) * format->bytes;

    if (weight->unpack_lanes == NULL || r >= p->rows) {
        x += (size_t)r * p->pitch + before;
        weight->unpack(n, p->rows - r, x, p->pitch, panel);
        return;
    }
    x += (size_t)(r / GB_REPACKED_ROWS) * GB_REPACKED_ROWS * p->pitch;
    weight->unpack_lanes(n, (int)(r % GB_REPACKED_ROWS),
                         x + GB_REPACKED_ROWS * before, panel);
}

/* The int8 GEMM: the loops at the head of this file.  From the second KC on,
 * sums are added to those in dst. */
static void
gemm_int8(const struct gb_format_kernels *weight, const struct gb_product *p)
{
    const struct gb_format *format = weight->format;
    struct gb_panel panels[VQ_ROWS] = { { .rows = NULL } };
    struct gb_gemm_tile tile = {
        .panels = panels,
        .cols = p->cols,
        .columns = p->columns,
        .dst = p->dst,
        .outliers = gb_panel_outliers_at(format, p->k),
        .bias = format->bias,
    };

    place_panels(panels, p->scratch);
    for (int64_t k = 0; k < p->k; k += tile.k) {
        tile.k = p->k - k <= GB_PANEL_K ? p->k - k : GB_PANEL_STEP;
        tile.is_first = k == 0;
        tile.from = gb_panel_block_at(format, k);
        tile.counts = gb_panel_counts_at(format, p->k) +
                      (size_t)(k / GB_OUTLIER_VALUES) * sizeof(int32_t);
        for (int64_t r = 0; r < p->rows; r += VQ_ROWS * VF_LEN) {
            tile.dst_row = r;
            tile.rows = p->rows - r;
            for (int i = 0; i < VQ_ROWS; i++)
                unpack(weight, p, tile.k, k, r + i * VF_LEN, &panels[i]);
            GB_K_OF(BYTES, gemm_int8_tile)(format, &tile);
        }
    }
}

/* Column by column: a GEMV has one, but for rows without values, which may have
 * any number of them. */
static void
gemv(const struct gb_format_kernels *weight, const struct gb_product *p)
{
    for (int64_t c = 0; c < p->cols; c++)
        weight->gemv(p->k, p->rows, p->weights, p->pitch, p->columns[c],
                     p->dst[c]);
}

/* Two columns or more: repacked weights have a kernel of their own. */
static void
skinny(const struct gb_format_kernels *weight, const struct gb_product *p)
{
    if (weight->skinny != NULL)
        weight->skinny(p);
    else
        GB_K_OF(BYTES, skinny_int8)(weight, p);
}

/* A product by one path: struct gb_product says what has to be where. */
typedef void multiply_fn(const struct gb_format_kernels *weight,
                         const struct gb_product *p);

void
GB_K(multiply)(enum gb_path path, const struct gb_format_kernels *weight,
               const struct gb_product *p)
{
    static multiply_fn *const int8[] = {
        [GB_PATH_GEMV] = gemv,
        [GB_PATH_SKINNY] = skinny,
        [GB_PATH_GEMM] = gemm_int8,
    };
    static multiply_fn *const floats[] = {
        [GB_PATH_GEMV] = gemv,
        [GB_PATH_SKINNY] = GB_K_OF(FLOATS, skinny_floats),
        [GB_PATH_GEMM] = GB_K_OF(PAIRS, gemm_floats),
        [GB_PATH_GEMM_PACKED] = GB_K_OF(PAIRS, gemm_floats),
    };

#if GB_HAS_TILES
    if (path == GB_PATH_TILES) {
        GB_K_OF(TILES, multiply_tiles)(weight, p);
        return;
    }
#endif
    (weight->format->sub_block == 0 ? floats : int8)[path](weight, p);
}

#define DOT_PART 1024 /* values of a row at a time */

/* The product of a row of weights with a row of activations of TYPE's own
 * activation type, as a single number: the interface of type traits.
 * Activations are packed in parts of DOT_PART values on the stack, as for a
 * GEMV. */
float
GB_K(dot)(enum ggml_type type, int64_t n, const void *x, const void *y)
{
    const struct gb_format_kernels *weight = GB_K(format)(type);
    const struct gb_format *format = weight->format;
    const char *weights = x;
    const char *activations = y;
    union {
        struct gb_q8_super_block super_blocks[DOT_PART / GB_SUPER_BLOCK];
        struct gb_q8_ternary digits[DOT_PART / GB_SUPER_BLOCK];
        float floats[DOT_PART];
    } column;
    float sum = 0.0f;

    for (int64_t i = 0; i < n; i += DOT_PART) {
        const int64_t k = n - i < DOT_PART ? n - i : DOT_PART;
        float part;

        GB_K_OF(BYTES, pack_activations)(format, GB_PATH_GEMV, k, activations,
                                         format->activation, &column);
        weight->gemv(k, 1, weights, 0, &column, &part);
        sum += part;
        weights += (size_t)(k / format->block) * format->bytes;
        activations += GB_K_OF(BYTES, activation_bytes)(format->activation, k);
    }
    return sum;
}
