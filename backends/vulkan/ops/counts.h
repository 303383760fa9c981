/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/counts.h - what supports functions ask about counts of elements.
 */
#ifndef GB_VULKAN_OPS_COUNTS_H
#define GB_VULKAN_OPS_COUNTS_H

#include "ggml.h"

/* Are dimensions FIRST to 3 of A and B the same? */
static inline bool
gb_vk_same_from(
    const struct ggml_tensor *a, const struct ggml_tensor *b, int first)
{
    for (int i = first; i < GGML_MAX_DIMS; i++)
        if (a->ne[i] != b->ne[i])
            return false;
    return true;
}

static inline bool
gb_vk_has_shape(const struct ggml_tensor *t, int64_t n0, int64_t n1,
                int64_t n2, int64_t n3)
{
    return t->ne[0] == n0 && t->ne[1] == n1 && t->ne[2] == n2 &&
           t->ne[3] == n3;
}

/* Is WHOLE a multiple of PART?  Nothing is one of 0 but 0. */
static inline bool
gb_vk_divides(int64_t part, int64_t whole)
{
    return part == 0 ? whole == 0 : whole % part == 0;
}

/* Is A times B equal to PRODUCT, for counts?  No product overflows here. */
static inline bool
gb_vk_is_product(int64_t product, int64_t a, int64_t b)
{
    if (a == 0 || b == 0)
        return product == 0;
    return product % a == 0 && product / a == b;
}

#endif
