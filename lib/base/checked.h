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

/*
 * Is the product of two numbers, neither of which is negative, larger than MAX,
 * the largest of their type?  If not it is at PRODUCT.  A multiplication says
 * so itself where the compiler lets one ask; a division would be most of what a
 * small tensor costs.
 */
#if defined(__GNUC__)
#define GB_PRODUCT_IS_TOO_LARGE(a, b, max, product) \
    __builtin_mul_overflow(a, b, product)
#else
#define GB_PRODUCT_IS_TOO_LARGE(a, b, max, product) \
    ((b) != 0 && (a) > (max) / (b) ? true : (*(product) = (a) * (b), false))
#endif

/* *out = a * b */
static inline bool
gb_mul_size(size_t a, size_t b, size_t *out)
{
    size_t product;

    if (GB_PRODUCT_IS_TOO_LARGE(a, b, SIZE_MAX, &product))
        return false;
    *out = product;
    return true;
}

/* *out = a * b, for counts of elements; neither may be negative. */
static inline bool
gb_mul_count(int64_t a, int64_t b, int64_t *out)
{
    int64_t product;

    if (a < 0 || b < 0 ||
        GB_PRODUCT_IS_TOO_LARGE(a, b, INT64_MAX, &product))
        return false;
    *out = product;
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

/*
 * The same for sums of several parts, whose user asks once: SIZE_MAX, which no
 * memory has, where a result does not fit, and where a part was that already,
 * if nothing is multiplied with 0.
 */
size_t gb_add_or_max(size_t a, size_t b);
size_t gb_mul_or_max(size_t a, size_t b);
size_t gb_pad_or_max(size_t a, size_t align);

#endif
