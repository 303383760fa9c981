/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/shape.h - what supports functions ask about types, shapes and
 * strides, and how parameters are read.
 */
#ifndef GB_CUDA_OPS_SHAPE_H
#define GB_CUDA_OPS_SHAPE_H

#include "backends/cuda/kernels/args.h"

#include "ggml.h"

#include <string.h>

/* Parameters are 32-bit words: integers as they are, floats as their bits. */
static inline int32_t
gb_cuda_param_i32(const struct ggml_tensor *node, int word)
{
    return node->op_params[word];
}

static inline float
gb_cuda_param_f32(const struct ggml_tensor *node, int word)
{
    float value;

    memcpy(&value, &node->op_params[word], sizeof(value));
    return value;
}

/* Are the first N sources of NODE there? */
static inline bool
gb_cuda_has_sources(const struct ggml_tensor *node, int n)
{
    for (int i = 0; i < n; i++)
        if (node->src[i] == NULL)
            return false;
    return true;
}

static inline bool
gb_cuda_is_float(enum ggml_type type)
{
    return type == GGML_TYPE_F32 || type == GGML_TYPE_F16 ||
           type == GGML_TYPE_BF16;
}

/* The number by which kernels know a floating-point type. */
static inline enum gb_cuda_float
gb_cuda_float_of(enum ggml_type type)
{
    if (type == GGML_TYPE_F32)
        return GB_CUDA_F32;
    return type == GGML_TYPE_F16 ? GB_CUDA_F16 : GB_CUDA_BF16;
}

/* Are the elements of a row of T, which has a type without blocks, next to each
 * other?  The stride of a single element means nothing. */
static inline bool
gb_cuda_is_dense(const struct ggml_tensor *t)
{
    return t->nb[0] == ggml_type_size(t->type) || t->ne[0] == 1;
}

/* F32 with dense rows. */
static inline bool
gb_cuda_has_f32_rows(const struct ggml_tensor *t)
{
    return t->type == GGML_TYPE_F32 && gb_cuda_is_dense(t);
}

/* Are dimensions FIRST to 3 of A and B the same? */
static inline bool
gb_cuda_same_from(
    const struct ggml_tensor *a, const struct ggml_tensor *b, int first)
{
    for (int i = first; i < GGML_MAX_DIMS; i++)
        if (a->ne[i] != b->ne[i])
            return false;
    return true;
}

static inline bool
gb_cuda_has_shape(const struct ggml_tensor *t, int64_t n0, int64_t n1,
                  int64_t n2, int64_t n3)
{
    return t->ne[0] == n0 && t->ne[1] == n1 && t->ne[2] == n2 &&
           t->ne[3] == n3;
}

/* Is each dimension below 2^30?  Products with a parameter, which has 31 bits,
 * then fit an int64_t. */
static inline bool
gb_cuda_is_countable(const struct ggml_tensor *t)
{
    return (t->ne[0] | t->ne[1] | t->ne[2] | t->ne[3]) >> 30 == 0;
}

/* Is WHOLE a multiple of PART?  Nothing is one of 0 but 0. */
static inline bool
gb_cuda_divides(int64_t part, int64_t whole)
{
    return part == 0 ? whole == 0 : whole % part == 0;
}

/* Is A times B equal to PRODUCT, for counts?  No product overflows here. */
static inline bool
gb_cuda_is_product(int64_t product, int64_t a, int64_t b)
{
    if (a == 0 || b == 0)
        return product == 0;
    return product % a == 0 && product / a == b;
}

#endif
