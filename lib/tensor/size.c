/* SPDX-License-Identifier: MIT */
/*
 * tensor/size.c - elements, bytes, rows, padding.
 */
#include "config.h"

#include "lib/tensor/shape.h"

#include "lib/base/checked.h"
#include "lib/base/status.h"
#include "lib/type/type.h"

bool
gb_type_has_values(enum ggml_type type)
{
    return (unsigned)type < GGML_TYPE_COUNT && ggml_blck_size(type) > 0;
}

bool
gb_tensor_sizes(enum ggml_type type, int n_dims, const int64_t *ne,
                size_t nb_out[GGML_MAX_DIMS], size_t *bytes_out)
{
    size_t nb[GGML_MAX_DIMS];
    int64_t block, elements = 1;
    size_t bytes, padded;

    if (!gb_type_has_values(type))
        return false;
    block = ggml_blck_size(type);
    bytes = ggml_type_size(type);
    if (ne[0] % block != 0)
        return false;
    for (int i = 0; i < GGML_MAX_DIMS; i++) {
        const int64_t n = i < n_dims ? ne[i] : 1;

        nb[i] = bytes;
        if (!gb_mul_count(elements, n, &elements))
            return false;
        if ((uint64_t)n > SIZE_MAX)
            return false;
        if (!gb_mul_size(bytes, (size_t)(i == 0 ? n / block : n), &bytes))
            return false;
    }
    if (!gb_pad_size(bytes, GGML_MEM_ALIGN, &padded))
        return false;
    for (int i = 0; i < GGML_MAX_DIMS; i++)
        nb_out[i] = nb[i];
    *bytes_out = bytes;
    return true;
}

int64_t
ggml_nelements(const struct ggml_tensor *tensor)
{
    GB_NEED_OR(0, tensor != NULL, "nelements: the tensor is NULL");
    return tensor->ne[0] * tensor->ne[1] * tensor->ne[2] * tensor->ne[3];
}

int64_t
ggml_nrows(const struct ggml_tensor *tensor)
{
    GB_NEED_OR(0, tensor != NULL, "nrows: the tensor is NULL");
    return tensor->ne[1] * tensor->ne[2] * tensor->ne[3];
}

/* From the first byte to the one behind the last, gaps of strides included. */
size_t
ggml_nbytes(const struct ggml_tensor *tensor)
{
    const struct gb_type *type;
    size_t bytes;

    GB_NEED_OR(0, tensor != NULL, "nbytes: the tensor is NULL");
    for (int i = 0; i < GGML_MAX_DIMS; i++) {
        if (tensor->ne[i] <= 0)
            return 0;
    }
    type = gb_type_get(tensor->type);
    if (type->block == 1)
        bytes = type->bytes + (size_t)(tensor->ne[0] - 1) * tensor->nb[0];
    else if (type->block > 1)
        bytes = (size_t)tensor->ne[0] * tensor->nb[0] / (size_t)type->block;
    else
        return 0; /* a type without values */
    for (int i = 1; i < GGML_MAX_DIMS; i++)
        bytes += (size_t)(tensor->ne[i] - 1) * tensor->nb[i];
    return bytes;
}

size_t
ggml_nbytes_pad(const struct ggml_tensor *tensor)
{
    return GGML_PAD(ggml_nbytes(tensor), (size_t)GGML_MEM_ALIGN);
}

size_t
ggml_element_size(const struct ggml_tensor *tensor)
{
    GB_NEED_OR(0, tensor != NULL, "element_size: the tensor is NULL");
    return ggml_type_size(tensor->type);
}

void
ggml_unravel_index(const struct ggml_tensor *tensor, int64_t i, int64_t *i0,
                   int64_t *i1, int64_t *i2, int64_t *i3)
{
    int64_t *const out[GGML_MAX_DIMS] = { i0, i1, i2, i3 };

    GB_NEED_VOID(tensor != NULL, "unravel_index: the tensor is NULL");
    GB_NEED_VOID(i >= 0 && i < ggml_nelements(tensor),
                 "unravel_index: the tensor has %lld elements, not a %lld-th",
                 (long long)ggml_nelements(tensor), (long long)i);
    for (int d = 0; d < GGML_MAX_DIMS; d++) {
        if (out[d] != NULL)
            *out[d] = i % tensor->ne[d];
        i /= tensor->ne[d];
    }
}
