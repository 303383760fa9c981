/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm/float-blocking.c - KC and MR blocking of products of
 * float weights with several columns.
 *
 * MR rows become panels, which stay in the second cache, while all
 * columns go by as one stream: the sums stay in registers for as long as a
 * panel is, and nothing but the weights is read more than once from afar.
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

static int64_t
up_to(int64_t n, int64_t step)
{
    return gb_cpu_ceil_div(n, step) * step;
}

/* Rows that there is room for when each has UNITS. */
static int64_t
batch_rows(int64_t units)
{
    return PANELS_FLOATS / up_to(units, VF_LEN) / MR * MR;
}

/* Up to VF_LEN pairs of up to VF_LEN rows. */
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

/* BF16 weights as pairs: a gb_unpack_fn, with units of the panel for floats. */
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

/* Row 0 of a part, from value VALUE on. */
static const char *
part_at(const struct gb_format_kernels *weight, const struct gb_product *p,
        int64_t row, int64_t value)
{
    return (const char *)p->weights + (size_t)value * weight->format->bytes +
           (size_t)row * p->pitch;
}

/* Panels are made of values from VALUE on next, or of the rows below, which are
 * most often the next tile's. */
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

/* VALUES of rows from VALUE on become panels. */
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

/* The same for the last rows of weights that are stored transposed, fewer than
 * MR. */
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

/* As long a part of the rows' length as there is room for, and as many rows. */
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

/* Whole tiles of MR rows need not be copied. */
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
