/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm/float-blocking.c - KC and MR blocking of products of
 * float weights with several columns.
 *
 * MR rows become panels, which stay in the L2 cache, while all
 * columns go by as one stream: the sums stay in registers for as long as a
 * panel is, and nothing but the weights is read more than once from afar.
 *
 *     for each group of rows whose panels are KC * MR floats, at most 128 KiB
 *         for each KC = 1024 units of k
 *             unpack them into panels of VF_LEN rows        in the L2 cache
 *             for each NR columns
 *                 for each MR = VF_ROWS * VF_LEN rows
 *                     micro-kernel (float.c): MR x NR sums  in registers
 *
 * A unit is a float, or a pair of BF16 values (float.h).  Rows of up to 1024
 * units need one pass, and sums are stored once; the shorter rows are, the more
 * of them are taken together.  Between two passes sums are in dst.
 */
#include "backends/cpu/kernels/api/divide.h"
#include "backends/cpu/kernels/gemm/float.h"
#include "backends/cpu/kernels/api/prototypes.h"
#include "backends/cpu/kernels/format/float-types.h"

#include <string.h>

#define MR            (VF_ROWS * VF_LEN)
#define PANELS_FLOATS (GB_PANEL_K_FLOAT * MR)

_Static_assert(PANELS_FLOATS * sizeof(float) <= GB_PRODUCT_SCRATCH,
               "the panels' place");

/* N rounded up to a multiple of STEP. */
static int64_t
up_to(int64_t n, int64_t step)
{
    return gb_cpu_ceil_div(n, step) * step;
}

/* How many rows of UNITS units each fit the panels' room: a multiple of MR, and
 * at least MR, since UNITS is at most GB_PANEL_K_FLOAT. */
static int64_t
batch_rows(int64_t units)
{
    return PANELS_FLOATS / up_to(units, VF_LEN) / MR * MR;
}

/* Transpose a square of VF_LEN rows by VF_LEN pairs of which fewer rows or
 * values are there: it is completed with zeros first, as nothing behind the
 * rows may be read. */
static void
transpose_some_pairs(int64_t k, int64_t rows, const char *x, size_t pitch,
                     float *dst)
{
    uint16_t square[VF_LEN][GB_TRANSPOSED] = { { 0 } };
    const int64_t n = k < GB_TRANSPOSED ? k : GB_TRANSPOSED;

    for (int64_t r = 0; r < rows && r < VF_LEN; r++)
        memcpy(square[r], x + (size_t)r * pitch, (size_t)n * sizeof(uint16_t));
    vq_transpose(dst, square, sizeof(square[0]));
}

/* BF16 weights as pairs: a gb_unpack_fn that does not convert them.  A pair has
 * 32 bits, so a transpose of 32-bit units makes the panel. */
static void
unpack_pairs(int64_t k, int64_t rows, const void *x, size_t pitch,
             const struct gb_panel *panel)
{
    for (int64_t i = 0; i < k; i += GB_TRANSPOSED) {
        const char *from = (const char *)x + (size_t)i * sizeof(uint16_t);
        float *dst = panel->floats + i / 2 * VF_LEN;

        if (rows >= VF_LEN && k - i >= GB_TRANSPOSED)
            vq_transpose(dst, from, (int64_t)pitch);
        else
            transpose_some_pairs(k - i, rows, from, pitch, dst);
    }
}

/* Where value VALUE of row ROW of the weights is. */
static const char *
part_at(const struct gb_format_kernels *weight, const struct gb_product *p,
        int64_t row, int64_t value)
{
    return (const char *)p->weights + (size_t)value * weight->format->bytes +
           (size_t)row * p->pitch;
}

/* Say what the micro-kernel shall prefetch while it computes: the values from
 * VALUE on of the same rows, of which the next panels will be made; where these
 * rows have no more, the first values of the rows below, which are most often
 * the next tile's. */
static void
set_next(const struct gb_format_kernels *weight, const struct gb_product *p,
         int64_t rows, int64_t value, int64_t values,
         struct gb_float_tile *tile)
{
    const bool is_below = value >= p->k;
    const int64_t from = is_below ? 0 : value;

    tile->next =
        part_at(weight, p, tile->dst_row + (is_below ? rows : 0), from);
    tile->next_bytes =
        (size_t)gb_cpu_min(values, p->k - from) * weight->format->bytes;
}

/* VALUES values of the tile's rows, from VALUE on, become panels.  Rows up to a
 * multiple of MR that are not there are zeros. */
static void
unpack_rows(const struct gb_format_kernels *weight, const struct gb_product *p,
            int64_t value, int64_t values, struct gb_float_tile *tile)
{
    const gb_unpack_fn unpack =
        VF_PAIRS && tile->in_pairs ? unpack_pairs : weight->unpack;
    float *panel = p->scratch;
    const char *rows = part_at(weight, p, tile->dst_row, value);

    tile->panels = panel;
    tile->panel_step = up_to(tile->units, VF_LEN) * VF_LEN;
    tile->step = VF_LEN;
    for (int64_t r = 0; r < up_to(tile->rows, MR); r += VF_LEN) {
        unpack(values, tile->rows - r, rows + (size_t)r * p->pitch, p->pitch,
               &(const struct gb_panel){ .floats = panel });
        panel += tile->panel_step;
    }
}

/* Panels of the last rows, fewer than MR, of weights that are stored
 * transposed: a load of MR floats would read behind the matrix there. */
static void
copy_rows(const struct gb_product *p, struct gb_float_tile *tile)
{
    const char *from = (const char *)p->weights +
                       (size_t)tile->from * p->pitch +
                       (size_t)tile->dst_row * sizeof(float);
    float *panels = p->scratch;

    tile->panels = panels;
    tile->panel_step = VF_LEN;
    tile->step = MR;
    for (int64_t i = 0; i < tile->units; i++, from += p->pitch)
        for (int64_t r = 0; r < MR; r += VF_LEN, panels += VF_LEN) {
            const int64_t left = gb_cpu_min(VF_LEN, tile->rows - r);

            vf_store(panels, left <= 0
                                 ? vf_zero()
                                 : vf_load_n((const float *)(const void *)from +
                                                 r,
                                             left));
        }
}

/* The GEMM of float weights: the loops at the head of this file. */
void
GB_K(gemm_floats)(const struct gb_format_kernels *weight,
                  const struct gb_product *p)
{
    struct gb_float_tile tile = {
        .in_pairs = p->packed != NULL && gb_takes_pairs(weight->format),
        .cols = p->cols,
        .packed = p->packed,
        .columns = p->columns,
        .col_stride = (int64_t)(p->column_pitch / sizeof(float)),
        .pitch = gb_float_panel_bytes(p->k),
        .dst = p->dst,
        .next_pitch = p->pitch,
    };
    const int64_t unit = tile.in_pairs ? 2 : 1;
    const int64_t part = unit * GB_PANEL_K_FLOAT;
    const int64_t rows =
        batch_rows(gb_cpu_ceil_div(gb_cpu_min(part, p->k), unit));

    for (; tile.dst_row < p->rows; tile.dst_row += rows) {
        tile.rows = gb_cpu_min(rows, p->rows - tile.dst_row);
        tile.from = 0;
        for (int64_t k = 0; k < p->k; k += part) {
            const int64_t values = gb_cpu_min(part, p->k - k);

            tile.units = gb_cpu_ceil_div(values, unit);
            tile.is_first = k == 0;
            set_next(weight, p, rows, k + part, part, &tile);
            unpack_rows(weight, p, k, values, &tile);
            GB_K(gemm_float_tile)(&tile);
            tile.from += tile.units;
        }
    }
}

/* Float weights that are stored transposed (value j of all rows side by side),
 * as in a sum of outer products; with ADD the sums are added to what is in dst.
 * Such weights are panels as they are, but for the last rows where fewer than
 * MR are left. */
void
GB_K(outer)(const struct gb_product *p, bool add)
{
    struct gb_float_tile tile = {
        .units = p->k,
        .rows = p->rows / MR * MR,
        .is_first = !add,
        .cols = p->cols,
        .columns = p->columns,
        .panels = p->weights,
        .panel_step = VF_LEN,
        .step = (int64_t)(p->pitch / sizeof(float)),
        .dst = p->dst,
    };

    GB_K(gemm_float_tile)(&tile);
    tile.dst_row = tile.rows;
    tile.rows = p->rows - tile.dst_row;
    /* Once at least: columns of no length make zeros. */
    while (tile.rows > 0 && (tile.from == 0 || tile.from < p->k)) {
        tile.units = gb_cpu_min(GB_PANEL_K_FLOAT, p->k - tile.from);
        copy_rows(p, &tile);
        GB_K(gemm_float_tile)(&tile);
        tile.is_first = false;
        tile.from += GB_PANEL_K_FLOAT;
    }
}
