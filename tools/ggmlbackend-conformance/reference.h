/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-conformance/reference.h - every operation, as simply as possible, in
 * double precision.
 */
#ifndef CONFORMANCE_REFERENCE_H
#define CONFORMANCE_REFERENCE_H

#include "tools/ggmlbackend-conformance/suite.h"
#include "tools/ggmlbackend-conformance/values.h"

#include "ggml.h"

/*
 * Computes NODE: OUT has its shape and is zeroed, SRC are the values of its sources
 * (ne all zero where there is none).  An operation that works on a view of its first
 * source finds that source's values in src[0].
 */
typedef void (*reference_fn)(
    const struct ggml_tensor *node, const struct values *src, struct values *out);

/* NULL for an operation that has none. */
reference_fn reference_for(const struct ggml_tensor *node);

/* The cases that stand in rows. */
void reference_cases(struct suite *s);

/* Parameters of a node. */
static inline int32_t
param_i(const struct ggml_tensor *node, int i)
{
    return node->op_params[i];
}

static inline double
param_f(const struct ggml_tensor *node, int i)
{
    union {
        int32_t i;
        float f;
    } x;

    x.i = node->op_params[i];
    return x.f;
}

/* Slope of the position bias of head H of N_HEADS. */
double reference_slope(double max_bias, int64_t h, int64_t n_heads);

/* The families' tables: one row an operation, ending with a NULL function. */
struct reference_row {
    enum ggml_op op;
    reference_fn fn;
    void (*cases)(struct suite *s); /* NULL where cases-*.c has them */
};
extern const struct reference_row reference_elements[];
extern const struct reference_row reference_layout[];
extern const struct reference_row reference_products[];
extern const struct reference_row reference_networks[];
extern const struct reference_row reference_sequences[];
extern const struct reference_row reference_images[];

#endif
