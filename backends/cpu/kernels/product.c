/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/product.c - products of rows of weights with columns.
 */
#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/kernels/kernels.h"

#define MAX_PANELS (VQ_ROWS > VF_ROWS ? VQ_ROWS : VF_ROWS)

/* Bytes of a panel's parts. */
#define CODES_BYTES  (GB_PANEL_K * VF_LEN)
#define SCALES_BYTES (GB_PANEL_K / 16 * VF_LEN * sizeof(float))
#define REALS_BYTES  (GB_PANEL_K_REAL * VF_LEN * sizeof(float))
#define ROWS_BYTES   (CODES_BYTES > REALS_BYTES ? CODES_BYTES : REALS_BYTES)

_Static_assert(ROWS_BYTES + VQ_ROWS * (CODES_BYTES + 2 * SCALES_BYTES) <=
                       GB_PRODUCT_SCRATCH &&
                   ROWS_BYTES + VF_ROWS * REALS_BYTES <= GB_PRODUCT_SCRATCH,
               "the panels' place");
_Static_assert(GB_PANEL_K == GB_MARKED, "a panel has one word of marks");

/* N panels in SCRATCH. */
static void
place_panels(struct gb_panel *panels, int n, bool is_real, char *scratch)
{
    char *place = scratch + ROWS_BYTES;

    for (int i = 0; i < n; i++) {
        struct gb_panel *panel = &panels[i];

        panel->rows = (uint8_t *)scratch;
        if (is_real) {
            panel->reals = (float *)(void *)place;
            place += REALS_BYTES;
        } else {
            panel->codes = (uint8_t *)place;
            panel->scales = (float *)(void *)(place + CODES_BYTES);
            panel->mins = (float *)(void *)(place + CODES_BYTES +
                                            SCALES_BYTES);
            place += CODES_BYTES + 2 * SCALES_BYTES;
        }
    }
}

/* A part of the rows' length at a time, so that its part of the columns stays in
 * the second cache; of that each strip of rows is unpacked once and then meets
 * all columns. */
static void
product_many(const struct gb_weight *weight, const struct gb_product *p)
{
    const struct gb_layout *layout = &weight->layout;
    const bool is_real = layout->piece == 0;
    const int n_panels = is_real ? VF_ROWS : VQ_ROWS;
    const int64_t part = is_real ? GB_PANEL_K_REAL : GB_PANEL_K;
    struct gb_panel panels[MAX_PANELS] = { { .rows = NULL } };
    const float *reals[VF_ROWS];
    struct gb_strip strip = {
        .panels = panels,
        .cols = p->cols,
        .columns = p->columns,
        .dst = p->dst,
    };

    place_panels(panels, n_panels, is_real, p->scratch);
    for (int v = 0; v < VF_ROWS; v++)
        reals[v] = panels[v].reals;
    for (int64_t k = 0; k < p->k; k += part) {
        const char *x = (const char *)p->weights +
                        (size_t)(k / layout->values) * layout->bytes;

        strip.k = p->k - k < part ? p->k - k : part;
        strip.is_first = k == 0;
        strip.from = gb_column_offset(layout, k);
        strip.lows =
            gb_column_lows(layout, p->k) + gb_column_low_bytes(layout, k);
        strip.marks = gb_column_marks(layout, p->k) +
                      (size_t)(k / GB_MARKED) * sizeof(uint32_t);
        for (int64_t r = 0; r < p->rows; r += n_panels * VF_LEN) {
            strip.dst_row = r;
            strip.rows = p->rows - r;
            for (int i = 0; i < n_panels; i++)
                weight->unpack(strip.k, strip.rows - i * VF_LEN,
                               x + (size_t)(r + i * VF_LEN) * p->pitch,
                               p->pitch, &panels[i]);
            if (is_real)
                GB_K(gemm_reals)(&strip, VF_LEN, reals);
            else
                GB_K(gemm_quads)(layout, &strip);
        }
    }
}

void
GB_K(product_few)(const struct gb_weight *weight, const struct gb_product *p)
{
    for (int64_t c = 0; c < p->cols; c++)
        weight->dots(p->k, p->rows, p->weights, p->pitch, p->columns[c],
                     p->dst[c]);
}

/* Columns of floats are the same for few. */
void
GB_K(product)(const struct gb_weight *weight, const struct gb_product *p)
{
    if (p->k == 0 || (weight->layout.piece == 0 && p->cols < GB_FEW_COLS))
        GB_K(product_few)(weight, p);
    else
        product_many(weight, p);
}

/* N rows from row K on, the columns of STRIP, side by side with zeros behind
 * their ends. */
static void
copy_to_panels(const struct gb_product *p, const struct gb_strip *strip,
               int64_t k, const struct gb_panel *panels)
{
    for (int v = 0; v < VF_ROWS; v++) {
        const int64_t left = strip->rows - v * VF_LEN;
        const int64_t width = left < 0 ? 0 : left > VF_LEN ? VF_LEN : left;
        const char *row = (const char *)p->weights + (size_t)k * p->pitch +
                          (width > 0 ? (size_t)(strip->dst_row + v * VF_LEN)
                                     : 0) *
                              sizeof(float);

        for (int64_t i = 0; i < strip->k; i++, row += p->pitch)
            vf_store(panels[v].reals + i * VF_LEN,
                     vf_load_n((const float *)(const void *)row, width));
    }
}

/* What is too narrow for whole panels. */
static void
outer_rest(const struct gb_product *p, struct gb_strip *strip, bool add)
{
    struct gb_panel panels[MAX_PANELS] = { { .rows = NULL } };
    const float *reals[VF_ROWS];

    place_panels(panels, VF_ROWS, true, p->scratch);
    for (int v = 0; v < VF_ROWS; v++)
        reals[v] = panels[v].reals;
    /* Once at least: no rows at all make zeros. */
    for (int64_t k = 0; k == 0 || k < p->k; k += GB_PANEL_K_REAL) {
        strip->k = p->k - k < GB_PANEL_K_REAL ? p->k - k : GB_PANEL_K_REAL;
        strip->from = (size_t)k * sizeof(float);
        strip->is_first = k == 0 && !add;
        copy_to_panels(p, strip, k, panels);
        GB_K(gemm_reals)(strip, VF_LEN, reals);
    }
}

/* Where rows are wide enough they are panels as they lie. */
void
GB_K(outer)(const struct gb_product *p, bool add)
{
    const int64_t width = VF_ROWS * VF_LEN;
    const int64_t step = (int64_t)(p->pitch / sizeof(float));
    struct gb_strip strip = {
        .k = p->k,
        .rows = width,
        .is_first = !add,
        .cols = p->cols,
        .columns = p->columns,
        .dst = p->dst,
    };

    for (; strip.dst_row + width <= p->rows; strip.dst_row += width) {
        const float *reals[VF_ROWS];

        for (int v = 0; v < VF_ROWS; v++)
            reals[v] = (const float *)p->weights + strip.dst_row + v * VF_LEN;
        GB_K(gemm_reals)(&strip, step, reals);
    }
    strip.rows = p->rows - strip.dst_row;
    if (strip.rows > 0)
        outer_rest(p, &strip, add);
}

#define DOT_PART 1024 /* values of a row at a time */

float
GB_K(dot)(enum ggml_type type, int64_t n, const void *x, const void *y)
{
    const struct gb_weight *weight = GB_K(weight)(type);
    const struct gb_layout *layout = &weight->layout;
    const char *weights = x;
    const char *activations = y;
    union {
        struct gb_group groups[DOT_PART / GB_GROUP];
        float reals[DOT_PART];
    } column;
    float sum = 0.0f;

    for (int64_t i = 0; i < n; i += DOT_PART) {
        const int64_t k = n - i < DOT_PART ? n - i : DOT_PART;
        float part;

        GB_K(column_few)(layout, k, activations, layout->activation,
                         &column);
        weight->dots(k, 1, weights, 0, &column, &part);
        sum += part;
        weights += (size_t)(k / layout->values) * layout->bytes;
        activations += GB_K(activation_bytes)(layout->activation, k);
    }
    return sum;
}
