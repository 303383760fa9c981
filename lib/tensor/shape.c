/* SPDX-License-Identifier: MIT */
/*
 * tensor/shape.c - contiguous? permuted? can it repeat?
 */
#include "config.h"

#include "lib/tensor/shape.h"

#include "lib/base/status.h"

/* Rows of one block have no stride between blocks. */
static inline bool
has_dense_rows(const struct ggml_tensor *tensor, const struct gb_type *type)
{
    return tensor->nb[0] == type->bytes || tensor->ne[0] == type->block;
}

/*
 * Do the elements stand as in a new tensor, but that the strides of dimensions
 * 1 to N_FREE may be any?  A dimension of one has a stride that nobody uses;
 * each other one begins its next index where what is below it ends.
 */
static inline bool
is_contiguous_above(const struct ggml_tensor *tensor, int n_free)
{
    const struct gb_type *type;
    size_t end; /* of what is below, in bytes from where it begins */

    GB_NEED_OR(false, tensor != NULL, "is_contiguous: the tensor is NULL");
    type = gb_type_get(tensor->type);
    if (type->block == 0 || !has_dense_rows(tensor, type))
        return false; /* block 0: a type without values */
    end = type->bytes * (size_t)(type->block == 1
                                     ? tensor->ne[0]
                                     : tensor->ne[0] / type->block);
#pragma GCC unroll 3
    for (int i = 1; i < GGML_MAX_DIMS; i++) {
        const bool has_steps = tensor->ne[i] != 1;

        if (has_steps && i > n_free && tensor->nb[i] != end)
            return false;
        if (has_steps)
            end = tensor->nb[i] * (size_t)tensor->ne[i];
    }
    return true;
}

bool
ggml_is_contiguous(const struct ggml_tensor *tensor)
{
    return is_contiguous_above(tensor, 0);
}

bool
ggml_is_contiguous_0(const struct ggml_tensor *tensor)
{
    return is_contiguous_above(tensor, 0);
}

bool
ggml_is_contiguous_1(const struct ggml_tensor *tensor)
{
    return is_contiguous_above(tensor, 1);
}

bool
ggml_is_contiguous_2(const struct ggml_tensor *tensor)
{
    return is_contiguous_above(tensor, 2);
}

bool
ggml_is_transposed(const struct ggml_tensor *tensor)
{
    GB_NEED_OR(false, tensor != NULL, "is_transposed: the tensor is NULL");
    return tensor->nb[0] > tensor->nb[1];
}

bool
ggml_is_permuted(const struct ggml_tensor *tensor)
{
    GB_NEED_OR(false, tensor != NULL, "is_permuted: the tensor is NULL");
    for (int i = 1; i < GGML_MAX_DIMS; i++) {
        if (tensor->nb[i - 1] > tensor->nb[i])
            return true;
    }
    return false;
}

bool
ggml_is_empty(const struct ggml_tensor *tensor)
{
    GB_NEED_OR(false, tensor != NULL, "is_empty: the tensor is NULL");
    for (int i = 0; i < GGML_MAX_DIMS; i++) {
        if (tensor->ne[i] == 0)
            return true;
    }
    return false;
}

/* Are the counts of all dimensions from FIRST on one? */
static inline bool
is_one_from(const struct ggml_tensor *tensor, int first)
{
    GB_NEED_OR(false, tensor != NULL, "shape: the tensor is NULL");
#pragma GCC unroll 4
    for (int i = first; i < GGML_MAX_DIMS; i++) {
        if (tensor->ne[i] != 1)
            return false;
    }
    return true;
}

bool
ggml_is_scalar(const struct ggml_tensor *tensor)
{
    return is_one_from(tensor, 0);
}

bool
ggml_is_vector(const struct ggml_tensor *tensor)
{
    return is_one_from(tensor, 1);
}

bool
ggml_is_matrix(const struct ggml_tensor *tensor)
{
    return is_one_from(tensor, 2);
}

bool
ggml_is_3d(const struct ggml_tensor *tensor)
{
    return is_one_from(tensor, 3);
}

int
ggml_n_dims(const struct ggml_tensor *tensor)
{
    int n = GGML_MAX_DIMS;

    GB_NEED_OR(0, tensor != NULL, "n_dims: the tensor is NULL");
    while (n > 1 && tensor->ne[n - 1] <= 1)
        n--;
    return n;
}

bool
ggml_are_same_shape(const struct ggml_tensor *t0, const struct ggml_tensor *t1)
{
    GB_NEED_OR(false, t0 != NULL && t1 != NULL,
               "are_same_shape: a tensor is NULL");
#pragma GCC unroll 4
    for (int i = 0; i < GGML_MAX_DIMS; i++) {
        if (t0->ne[i] != t1->ne[i])
            return false;
    }
    return true;
}

bool
ggml_are_same_stride(const struct ggml_tensor *t0,
                     const struct ggml_tensor *t1)
{
    GB_NEED_OR(false, t0 != NULL && t1 != NULL,
               "are_same_stride: a tensor is NULL");
    for (int i = 0; i < GGML_MAX_DIMS; i++) {
        if (t0->nb[i] != t1->nb[i])
            return false;
    }
    return true;
}

bool
ggml_can_repeat(const struct ggml_tensor *t0, const struct ggml_tensor *t1)
{
    GB_NEED_OR(false, t0 != NULL && t1 != NULL, "can_repeat: a tensor is NULL");
    /* Most are, and four divisions cost more than the rest of a question. */
    if (ggml_are_same_shape(t0, t1))
        return true;
    if (ggml_is_empty(t0))
        return ggml_is_empty(t1);
    for (int i = 0; i < GGML_MAX_DIMS; i++) {
        /* Divisions take longer than small operations themselves. */
        if (t1->ne[i] != t0->ne[i] && t0->ne[i] != 1 &&
            t1->ne[i] % t0->ne[i] != 0)
            return false;
    }
    return true;
}

bool
gb_is_dense(const struct ggml_tensor *tensor)
{
    return has_dense_rows(tensor, gb_type_get(tensor->type));
}

bool
gb_is_truly_transposed(const struct ggml_tensor *tensor)
{
    return tensor->ne[0] > ggml_blck_size(tensor->type) &&
           tensor->ne[1] > 1 && tensor->nb[0] > tensor->nb[1];
}

bool
gb_is_padded_1d(const struct ggml_tensor *tensor)
{
    size_t next = 0; /* stride of the next dimension with a step; 0: any */

    for (int i = 1; i < GGML_MAX_DIMS; i++) {
        if (tensor->ne[i] == 1)
            continue;
        if (next != 0 && tensor->nb[i] != next)
            return false;
        next = tensor->nb[i] * (size_t)tensor->ne[i];
    }
    return gb_is_dense(tensor);
}
