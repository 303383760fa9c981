/* SPDX-License-Identifier: MIT */
/*
 * base/checked.h - size arithmetic that notices overflow.
 *
 * Each function gives false and leaves *out alone when the result does not fit.
 */
#ifndef GB_BASE_CHECKED_H
#define GB_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* *out = a + b */
static inline bool
gb_add_size(size_t a, size_t b, size_t *out)
{
    if (a > SIZE_MAX - b)
        return false;
    *out = a + b;
    return true;
}

/* *out = a * b */
static inline bool
gb_mul_size(size_t a, size_t b, size_t *out)
{
    if (b != 0 && a > SIZE_MAX / b)
        return false;
    *out = a * b;
    return true;
}

/* *out = a * b, for counts of elements; neither may be negative. */
static inline bool
gb_mul_count(int64_t a, int64_t b, int64_t *out)
{
    if (a < 0 || b < 0 || (b != 0 && a > INT64_MAX / b))
        return false;
    *out = a * b;
    return true;
}

/* *out = a rounded up to a multiple of ALIGN, a power of two. */
static inline bool
gb_pad_size(size_t a, size_t align, size_t *out)
{
    if (a > SIZE_MAX - (align - 1))
        return false;
    *out = (a + align - 1) & ~(align - 1);
    return true;
}

#endif
