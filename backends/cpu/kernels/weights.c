/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/weights.c - the types that weights may have, as a table.
 */
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/weights.h"

static const struct gb_weight weights[GGML_TYPE_COUNT] = {
#define GB_WEIGHT(group, type, name, act, values, bytes, piece, offset,       \
                  has_min, steps, order, one, one_offset)                     \
    [GGML_TYPE_##type] = {                                                    \
        { GGML_TYPE_##act, values, bytes, piece, offset, has_min, steps,      \
          GB_ORDER_##order, GB_ONE_##one, one_offset },                       \
        GB_K_OF(group, dots_##name),                                          \
        GB_K_OF(group, unpack_##name),                                        \
        GB_K_OF(group, floats_##name),                                        \
        values == 1 ? NULL : GB_K_OF(group, turn_##name),                     \
    },
#include "backends/cpu/kernels/weights.def"
#undef GB_WEIGHT
};

void
GB_K(floats)(enum ggml_type type, int64_t n, float *dst, const void *src)
{
    weights[type].floats(n, dst, src);
}

const struct gb_weight *
GB_K(weight)(enum ggml_type type)
{
    if ((unsigned)type >= GGML_TYPE_COUNT || weights[type].dots == NULL)
        return NULL;
    return &weights[type];
}
