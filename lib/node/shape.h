/* SPDX-License-Identifier: MIT */
/*
 * node/shape.h - what is asked about types, shapes and strides, and how
 * parameters are read.
 */
#ifndef GB_NODE_SHAPE_H
#define GB_NODE_SHAPE_H

#include "ggml.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Parameters are 32-bit words: integers as they are, floats as their bits. */
static inline int32_t
gb_node_param_i32(const struct ggml_tensor *node, int word)
{
    return node->op_params[word];
}

static inline float
gb_node_param_f32(const struct ggml_tensor *node, int word)
{
    float value;

    memcpy(&value, &node->op_params[word], sizeof(value));
    return value;
}

/* Are the first N sources of NODE there? */
static inline bool
gb_node_has_sources(const struct ggml_tensor *node, int n)
{
    for (int i = 0; i < n; i++)
        if (node->src[i] == NULL)
            return false;
    return true;
}

static inline bool
gb_node_is_float(enum ggml_type type)
{
    return type == GGML_TYPE_F32 || type == GGML_TYPE_F16 ||
           type == GGML_TYPE_BF16;
}

/* Are the elements of a row of T, which has a type without blocks, next to each
 * other?  The stride of a single element means nothing. */
static inline bool
gb_node_is_dense(const struct ggml_tensor *t)
{
    return t->nb[0] == ggml_type_size(t->type) || t->ne[0] == 1;
}

/* Do the elements of each row of T lie side by side?  The stride of a row of
 * one element, or of one block, means nothing. */
static inline bool
gb_node_has_dense_rows(const struct ggml_tensor *t)
{
    return t->nb[0] == ggml_type_size(t->type) ||
           t->ne[0] <= ggml_blck_size(t->type);
}

/* How many elements from the first on lie side by side, as do as many from each
 * multiple of that on.  T has dense rows. */
static inline int64_t
gb_node_dense_run(const struct ggml_tensor *t)
{
    int64_t run = t->ne[0];
    size_t bytes = ggml_row_size(t->type, t->ne[0]);

    for (int d = 1; d < GGML_MAX_DIMS; d++) {
        if (t->ne[d] > 1 && t->nb[d] != bytes)
            break;
        run *= t->ne[d];
        bytes *= (size_t)t->ne[d];
    }
    return run;
}

/* F32 with dense rows. */
static inline bool
gb_node_has_f32_rows(const struct ggml_tensor *t)
{
    return t->type == GGML_TYPE_F32 && gb_node_is_dense(t);
}

/* F32, one element behind the other? */
static inline bool
gb_node_is_flat(const struct ggml_tensor *t)
{
    return t->type == GGML_TYPE_F32 && ggml_is_contiguous(t);
}

/* Are dimensions FIRST to 3 of A and B the same? */
static inline bool
gb_node_same_from(
    const struct ggml_tensor *a, const struct ggml_tensor *b, int first)
{
    for (int i = first; i < GGML_MAX_DIMS; i++)
        if (a->ne[i] != b->ne[i])
            return false;
    return true;
}

static inline bool
gb_node_has_shape(const struct ggml_tensor *t, int64_t n0, int64_t n1,
                  int64_t n2, int64_t n3)
{
    return t->ne[0] == n0 && t->ne[1] == n1 && t->ne[2] == n2 &&
           t->ne[3] == n3;
}

/* Is each dimension of T that of NODE or 1? */
static inline bool
gb_node_repeats_for(
    const struct ggml_tensor *t, const struct ggml_tensor *node)
{
    for (int i = 0; i < GGML_MAX_DIMS; i++)
        if (t->ne[i] != node->ne[i] && t->ne[i] != 1)
            return false;
    return true;
}

/* The same, of F32 with dense rows as long as those of NODE? */
static inline bool
gb_node_has_rows_for(
    const struct ggml_tensor *t, const struct ggml_tensor *node)
{
    return gb_node_has_f32_rows(t) && t->ne[0] == node->ne[0] &&
           gb_node_repeats_for(t, node);
}

/* Is each dimension below 2^30?  Products with a parameter, which has 31 bits,
 * then fit an int64_t. */
static inline bool
gb_node_is_countable(const struct ggml_tensor *t)
{
    return (t->ne[0] | t->ne[1] | t->ne[2] | t->ne[3]) >> 30 == 0;
}

/* Is WHOLE a multiple of PART?  Nothing is one of 0 but 0. */
static inline bool
gb_node_divides(int64_t part, int64_t whole)
{
    return part == 0 ? whole == 0 : whole % part == 0;
}

/* Is A times B equal to PRODUCT, for counts?  No product overflows here. */
static inline bool
gb_node_is_product(int64_t product, int64_t a, int64_t b)
{
    if (a == 0 || b == 0)
        return product == 0;
    return product % a == 0 && product / a == b;
}

#endif
