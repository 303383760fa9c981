/* SPDX-License-Identifier: MIT */
/*
 * tensor/size.c - elements, bytes, rows, padding.
 */
#include "config.h"

#include "lib/tensor/shape.h"

#include "lib/tensor/bytes.h"

#include "lib/base/status.h"

/* A product of counts, as numbers without a sign: one that is too large, as a
 * node that was edited or one without elements may have it, is wrong but
 * defined. */
static inline int64_t
product(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

int64_t
ggml_nelements(const struct ggml_tensor *tensor)
{
    GB_NEED_OR(0, tensor != NULL, "nelements: the tensor is NULL");
    return product(product(tensor->ne[0], tensor->ne[1]),
                   product(tensor->ne[2], tensor->ne[3]));
}

int64_t
ggml_nrows(const struct ggml_tensor *tensor)
{
    GB_NEED_OR(0, tensor != NULL, "nrows: the tensor is NULL");
    return product(tensor->ne[1], product(tensor->ne[2], tensor->ne[3]));
}

size_t
ggml_nbytes(const struct ggml_tensor *tensor)
{
    GB_NEED_OR(0, tensor != NULL, "nbytes: the tensor is NULL");
    return gb_tensor_bytes(tensor);
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
