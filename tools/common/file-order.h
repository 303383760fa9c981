/* SPDX-License-Identifier: MIT */
/*
 * common/file-order.h - data of tensors from a GGUF file and to one.
 *
 * Numbers are little-endian there; the blocks of quantised types are bytes, as
 * they are in memory (gguf.h).
 */
#ifndef TOOLS_COMMON_FILE_ORDER_H
#define TOOLS_COMMON_FILE_ORDER_H

#include "lib/base/byte-order.h"

#include "ggml.h"

/* May data be used as it lies in a file? */
#define FILE_ORDER_IS_MEMORY (!GB_IS_BIG_ENDIAN)

/* From the file's order to the machine's, or back: SIZE bytes, which are whole
 * numbers, of a tensor of TYPE. */
static inline void
file_order_swap(enum ggml_type type, void *data, size_t size)
{
    if (!FILE_ORDER_IS_MEMORY && ggml_blck_size(type) == 1)
        gb_le_bytes(data, ggml_row_size(type, 1), size);
}

#endif
