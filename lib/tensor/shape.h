/* SPDX-License-Identifier: MIT */
/*
 * tensor/shape.h - sizes of new tensors, and questions about shapes that the
 * interface does not have.
 */
#ifndef GB_TENSOR_SHAPE_H
#define GB_TENSOR_SHAPE_H

#include "ggml.h"

/* Is it a type of the table, and not a retired one?  Logs nothing. */
bool gb_type_has_values(enum ggml_type type);

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
bool gb_tensor_sizes(enum ggml_type type, int n_dims, const int64_t *ne,
                     size_t nb_out[GGML_MAX_DIMS], size_t *bytes_out);

/* Do the rows stand one after another, with any distance but the same? */
bool gb_is_padded_1d(const struct ggml_tensor *tensor);

/* Can T0 be repeated into T1 by whole rows? */
bool gb_can_repeat_rows(
    const struct ggml_tensor *t0, const struct ggml_tensor *t1);

#endif
