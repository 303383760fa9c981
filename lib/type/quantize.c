/* SPDX-License-Identifier: MIT */
/*
 * type/quantize.c - quantising rows for models.
 */
#include "config.h"

#include "lib/base/status.h"
#include "lib/type/format.h"
#include "lib/type/grid.h"
#include "lib/type/half.h"
#include "lib/type/type.h"

#include <string.h>

/* The plain types in the same clothes as the formats; nothing is to weigh. */

void
gb_f32_quantize(const float *x, void *y, int64_t n, const float *importance)
{
    (void)importance;
    memcpy(y, x, (size_t)n * sizeof(*x));
}

void
gb_f16_quantize(const float *x, void *y, int64_t n, const float *importance)
{
    (void)importance;
    gb_f32_to_f16_row(x, y, n);
}

void
gb_bf16_quantize(const float *x, void *y, int64_t n, const float *importance)
{
    (void)importance;
    gb_f32_to_bf16_row(x, y, n);
}

bool
ggml_quantize_requires_imatrix(enum ggml_type type)
{
    return gb_type_get(type)->needs_imatrix;
}

size_t
ggml_quantize_chunk(enum ggml_type type, const float *src, void *dst,
                    int64_t start, int64_t nrows, int64_t n_per_row,
                    const float *imatrix)
{
    const struct gb_type *t = gb_type_get(type);
    size_t row_size;
    char *row = dst;

    GB_NEED_OR(0, t->quantize != NULL, "quantize: no rows of type %s", t->name);
    GB_NEED_OR(0, imatrix != NULL || !t->needs_imatrix,
               "quantize: %s needs an importance matrix", t->name);
    GB_NEED_OR(0, src != NULL && dst != NULL, "quantize: no source or place");
    GB_NEED_OR(0, nrows >= 0 && n_per_row > 0 && n_per_row % t->block == 0,
               "quantize: %lld rows of %lld values in %s",
               (long long)nrows, (long long)n_per_row, t->name);
    GB_NEED_OR(0, start >= 0 && start % n_per_row == 0,
               "quantize: value %lld is not the first of a row of %lld",
               (long long)start, (long long)n_per_row);

    if (gb_grid_has_map(type) && gb_grid_map(type) == NULL)
        return 0;

    row_size = (size_t)(n_per_row / t->block) * t->bytes;
    row += (size_t)(start / n_per_row) * row_size;
    src += start;
    for (int64_t i = 0; i < nrows; i++) {
        t->quantize(src, row, n_per_row, imatrix);
        src += n_per_row;
        row += row_size;
    }
    return (size_t)nrows * row_size;
}
