/* SPDX-License-Identifier: MIT */
/*
 * base/checked.c - sums of several parts, of which one may be too large.
 */
#include "config.h"

#include "lib/base/checked.h"

size_t
gb_add_or_max(size_t a, size_t b)
{
    size_t sum;

    return gb_add_size(a, b, &sum) ? sum : SIZE_MAX;
}

size_t
gb_mul_or_max(size_t a, size_t b)
{
    size_t product;

    return gb_mul_size(a, b, &product) ? product : SIZE_MAX;
}

size_t
gb_pad_or_max(size_t a, size_t align)
{
    size_t padded;

    return gb_pad_size(a, align, &padded) ? padded : SIZE_MAX;
}
