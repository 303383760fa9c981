/* SPDX-License-Identifier: MIT */
/*
 * tensor/shape.h - sizes of new tensors, and questions about shapes that the
 * interface does not have.
 */
#ifndef GB_TENSOR_SHAPE_H
#define GB_TENSOR_SHAPE_H

#include "ggml.h"

#include "lib/base/checked.h"
#include "lib/type/type.h"

/* Is it a type of the table, and not a retired one?  Logs nothing. */
static inline bool
gb_type_has_values(enum ggml_type type)
{
    return gb_type_get(type)->block > 0;
}

/*
 * Strides and bytes of a new contiguous tensor.
 *
 *   ne      N_DIMS (1 to 4) counts; the missing ones are 1
 *   nb_out  strides in bytes
 *
 * False, with nothing written, when the type has no values, a count is
 * negative, ne[0] is no multiple of the type's block, or a number does not fit
 * (elements in an int64_t, bytes, also as ggml_nbytes_pad gives them, in a
 * size_t).
 */
static inline bool
gb_tensor_sizes(enum ggml_type type, int n_dims, const int64_t *ne,
                size_t nb_out[GGML_MAX_DIMS], size_t *bytes_out)
{
    const struct gb_type *row = gb_type_get(type);
    const int64_t n0 = ne[0], n1 = n_dims > 1 ? ne[1] : 1;
    const int64_t n2 = n_dims > 2 ? ne[2] : 1, n3 = n_dims > 3 ? ne[3] : 1;
    const int64_t all = n0 | n1 | n2 | n3;
    int64_t blocks = n0, elements;
    size_t nb1, nb2, nb3, bytes, padded;

    /* Negative as soon as one is, and no smaller than any. */
    if (row->block == 0 || all < 0 || (uint64_t)all > SIZE_MAX)
        return false;
    if (row->block > 1) {
        if (n0 % row->block != 0)
            return false;
        blocks = n0 / row->block;
    }
    if (GB_PRODUCT_IS_TOO_LARGE(n0, n1, INT64_MAX, &elements) ||
        GB_PRODUCT_IS_TOO_LARGE(elements, n2, INT64_MAX, &elements) ||
        GB_PRODUCT_IS_TOO_LARGE(elements, n3, INT64_MAX, &elements) ||
        !gb_mul_size(row->bytes, (size_t)blocks, &nb1) ||
        !gb_mul_size(nb1, (size_t)n1, &nb2) ||
        !gb_mul_size(nb2, (size_t)n2, &nb3) ||
        !gb_mul_size(nb3, (size_t)n3, &bytes) ||
        !gb_pad_size(bytes, GGML_MEM_ALIGN, &padded))
        return false;
    nb_out[0] = row->bytes;
    nb_out[1] = nb1;
    nb_out[2] = nb2;
    nb_out[3] = nb3;
    *bytes_out = bytes;
    return true;
}

/* Do the elements of each row lie side by side?  The stride of a row of one
 * element, or of one block, means nothing. */
bool gb_is_dense(const struct ggml_tensor *tensor);

/* Are elements of a row further apart than rows?  Where there is one of either,
 * as in a transposed vector, they are not. */
bool gb_is_truly_transposed(const struct ggml_tensor *tensor);

/* Do the rows stand one after another, with any distance but the same? */
bool gb_is_padded_1d(const struct ggml_tensor *tensor);

#endif
