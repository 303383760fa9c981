/* SPDX-License-Identifier: MIT */
/*
 * tensor/bytes.h - ggml_nbytes for callers that ask it before every copy of a
 * few bytes.
 */
#ifndef GB_TENSOR_BYTES_H
#define GB_TENSOR_BYTES_H

#include "ggml.h"

#include "lib/type/type.h"

#include <stdbool.h>

/* From T's first byte to the one behind the last, gaps of strides included; 0
 * for an empty tensor and for a type without values. */
static inline size_t
gb_tensor_bytes(const struct ggml_tensor *t)
{
    const struct gb_type *type = gb_type_get(t->type);
    uint64_t signs = 0;
    size_t bytes = 0;

    /* The sign of n - 1 | n is set for every n below 1. */
#pragma GCC unroll 3
    for (int i = 1; i < GGML_MAX_DIMS; i++) {
        const uint64_t last = (uint64_t)t->ne[i] - 1;

        signs |= last | (uint64_t)t->ne[i];
        bytes += (size_t)last * t->nb[i];
    }
    if ((int64_t)signs < 0 || t->ne[0] <= 0)
        return 0;
    if (type->block == 1)
        return bytes + type->bytes + ((size_t)t->ne[0] - 1) * t->nb[0];
    if (type->block == 0)
        return 0;
    if (type->block == t->ne[0])
        return bytes + type->bytes; /* nothing steps to another block */
    return bytes + (size_t)t->ne[0] * t->nb[0] / (size_t)type->block;
}

#endif
