/* SPDX-License-Identifier: MIT */
/*
 * base/remainder.h - remainders by one divisor, again and again.
 *
 * A number is multiplied by the divisor's reciprocal, which takes less than
 * half of a division's time ("Division by Invariant Integers using
 * Multiplication", Granlund and Montgomery, 1994).
 */
#ifndef GB_BASE_REMAINDER_H
#define GB_BASE_REMAINDER_H

#include <stdint.h>

struct gb_divisor {
    uint64_t value;
    uint64_t reciprocal; /* in parts of 2^64, rounded down */
};

static inline struct gb_divisor
gb_divisor(uint64_t value)
{
    return (struct gb_divisor){ value, UINT64_MAX / value };
}

#if defined(__SIZEOF_INT128__)
/*
 * N modulo the divisor.  The quotient is too small by one at most: the
 * reciprocal lacks less than 2^-64, so the product lacks less than N / 2^64.
 */
static inline uint64_t
gb_remainder(uint64_t n, struct gb_divisor by)
{
    __extension__ typedef unsigned __int128 wide;
    const uint64_t quotient = (uint64_t)((wide)n * by.reciprocal >> 64);
    const uint64_t rest = n - quotient * by.value;

    return rest >= by.value ? rest - by.value : rest;
}
#else
static inline uint64_t
gb_remainder(uint64_t n, struct gb_divisor by)
{
    return n % by.value;
}
#endif

#endif
