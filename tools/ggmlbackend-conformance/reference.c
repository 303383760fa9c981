/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-conformance/reference.c - which function computes an operation.
 */
#include "tools/ggmlbackend-conformance/reference.h"

#include <math.h>
#include <stddef.h>

double
reference_slope(double max_bias, int64_t h, int64_t n_heads)
{
    const double low = exp2(floor(log2((double)n_heads)));

    if (max_bias <= 0)
        return 1;
    if ((double)h < low)
        return pow(exp2(-max_bias / low), (double)h + 1);
    return pow(exp2(-max_bias / (2 * low)), 2 * ((double)h - low) + 1);
}

static const struct reference_row *const tables[] = {
    reference_elements, reference_layout,    reference_products,
    reference_networks, reference_sequences, reference_images,
};

enum { N_TABLES = sizeof(tables) / sizeof(tables[0]) };

void
reference_cases(struct suite *s)
{
    for (int i = 0; i < N_TABLES; i++) {
        for (const struct reference_row *row = tables[i]; row->fn != NULL;
             row++) {
            if (row->cases != NULL)
                row->cases(s);
        }
    }
}

reference_fn
reference_for(const struct ggml_tensor *node)
{
    for (int i = 0; i < N_TABLES; i++) {
        for (const struct reference_row *row = tables[i]; row->fn != NULL;
             row++) {
            if (row->op == node->op)
                return row->fn;
        }
    }
    return NULL;
}
