/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/units.h - tensors as rows of units, for kernels that move values
 * whatever their type is.
 *
 * A unit has 1, 2, 4, 8 or 16 bytes.  The larger it is, the fewer there are:
 * where the rows of all tensors are dense, and begin and end at multiples of
 * more bytes than an element has, several elements are one unit.
 */
#ifndef GB_CUDA_OPS_UNITS_H
#define GB_CUDA_OPS_UNITS_H

#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/formats.h"
#include "backends/cuda/ops/shape.h"

/* Is it of a type with values and any strides, or of one in blocks with dense
 * rows? */
static inline bool
gb_cuda_can_be_moved(const struct ggml_tensor *t)
{
    return ggml_blck_size(t->type) == 1 ? ggml_type_size(t->type) > 0
                                        : gb_node_has_dense_rows(t);
}

/* May T be moved in units of SIZE bytes, its rows being dense? */
static inline bool
gb_cuda_has_units(const struct ggml_tensor *t, size_t size)
{
    size_t all = ggml_row_size(t->type, t->ne[0]) | (uintptr_t)t->data;

    for (int d = 1; d < GGML_MAX_DIMS; d++)
        if (t->ne[d] > 1)
            all |= t->nb[d];
    return all % size == 0;
}

/* The largest unit for A and B, which have one type. */
static inline size_t
gb_cuda_unit(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    size_t size = 16;

    if (ggml_blck_size(a->type) == 1 &&
        !(gb_node_is_dense(a) && gb_node_is_dense(b)))
        return ggml_type_size(a->type);
    while (!gb_cuda_has_units(a, size) || !gb_cuda_has_units(b, size))
        size /= 2;
    return size;
}

/* T in such units. */
static inline struct gb_cuda_tensor
gb_cuda_in_units(const struct ggml_tensor *t, size_t size)
{
    struct gb_cuda_tensor arg = gb_cuda_arg(t);

    if (ggml_blck_size(t->type) == 1 && ggml_type_size(t->type) == size)
        return arg;
    arg.ne[0] = (int64_t)(ggml_row_size(t->type, t->ne[0]) / size);
    arg.nb[0] = (int64_t)size;
    return arg;
}

/* How many units that are. */
static inline int64_t
gb_cuda_n_units(const struct gb_cuda_tensor *t)
{
    return t->ne[0] * t->ne[1] * t->ne[2] * t->ne[3];
}

#endif
