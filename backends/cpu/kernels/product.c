/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/product.c - products of rows of weights with columns.
 */
#include "backends/cpu/kernels/gemm-reals.h"
#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/kernels/kernels.h"

/* Bytes of a panel's parts. */
#define CODES_BYTES  (GB_PANEL_K * VF_LEN)
#define SCALES_BYTES (GB_PANEL_K / 16 * VF_LEN * sizeof(float))

_Static_assert(CODES_BYTES + VQ_ROWS * (CODES_BYTES + 2 * SCALES_BYTES) <=
                   GB_PRODUCT_SCRATCH,
               "the panels' place");
_Static_assert(GB_PANEL_STEP == GB_MARKED && GB_PANEL_K <= 2 * GB_MARKED,
               "a panel has one struct of marks, or two");

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

/* A part of the rows' length at a time, so that its part of the columns stays
 * in the second cache; of that each strip of rows is unpacked once and then
 * meets all columns. */
static void
product_quads(const struct gb_weight *weight, const struct gb_product *p)
{
    const struct gb_layout *layout = &weight->layout;
    struct gb_panel panels[VQ_ROWS] = { { .rows = NULL } };
    struct gb_strip strip = {
        .panels = panels,
        .cols = p->cols,
        .columns = p->columns,
        .dst = p->dst,
        .lows = gb_column_lows(layout, p->k),
    };

    place_panels(panels, p->scratch);
    for (int64_t k = 0; k < p->k; k += strip.k) {
        const char *x = (const char *)p->weights +
                        (size_t)(k / layout->values) * layout->bytes;

        strip.k = p->k - k <= GB_PANEL_K ? p->k - k : GB_PANEL_STEP;
        strip.is_first = k == 0;
        strip.from = gb_column_offset(layout, k);
        strip.marks = gb_column_marks(layout, p->k) +
                      (size_t)(k / GB_MARKED) * sizeof(struct gb_marks);
        for (int64_t r = 0; r < p->rows; r += VQ_ROWS * VF_LEN) {
            strip.dst_row = r;
            strip.rows = p->rows - r;
            for (int i = 0; i < VQ_ROWS; i++)
                weight->unpack(strip.k, strip.rows - i * VF_LEN,
                               x + (size_t)(r + i * VF_LEN) * p->pitch,
                               p->pitch, &panels[i]);
            GB_K_OF(BYTES, gemm_quads)(layout, &strip);
        }
    }
}

static void
product_one(const struct gb_weight *weight, const struct gb_product *p)
{
    if (weight->layout.piece == 0 && p->cols > 1) {
        GB_K_OF(FLOATS, few_reals)(weight->layout.activation, p);
        return;
    }
    for (int64_t c = 0; c < p->cols; c++)
        weight->dots(p->k, p->rows, p->weights, p->pitch, p->columns[c],
                     p->dst[c]);
}

/* Columns of floats are the same for all ways. */
void
GB_K(product)(const struct gb_weight *weight, const struct gb_product *p)
{
    const bool is_real = weight->layout.piece == 0;

    if (p->k == 0 || (is_real && p->cols <= GB_ONE_COLS_REAL))
        product_one(weight, p);
    else if (is_real && p->packed == NULL && p->cols <= GB_FEW_COLS_REAL)
        GB_K_OF(FLOATS, few_reals)(weight->layout.activation, p);
    else if (is_real)
        GB_K_OF(PAIRS, product_reals)(weight, p);
    else
        product_quads(weight, p);
}

void
GB_K(way_product)(enum gb_way way, const struct gb_weight *weight,
                  const struct gb_product *p)
{
    if (way == GB_WAY_ONE)
        product_one(weight, p);
    else if (way == GB_WAY_FEW)
        GB_K_OF(BYTES, gemm_few)(weight, p);
    else
        GB_K(product)(weight, p);
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
        struct gb_digits digits[DOT_PART / GB_GROUP];
        float reals[DOT_PART];
    } column;
    float sum = 0.0f;

    for (int64_t i = 0; i < n; i += DOT_PART) {
        const int64_t k = n - i < DOT_PART ? n - i : DOT_PART;
        float part;

        GB_K_OF(BYTES, way_column)(layout, GB_WAY_ONE, k, activations,
                                   layout->activation, &column);
        weight->dots(k, 1, weights, 0, &column, &part);
        sum += part;
        weights += (size_t)(k / layout->values) * layout->bytes;
        activations += GB_K_OF(BYTES, activation_bytes)(layout->activation, k);
    }
    return sum;
}
