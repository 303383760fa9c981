/* SPDX-License-Identifier: MIT */
/*
 * fuzz/bytes.h - an input as a row of choices.
 */
#ifndef GB_FUZZ_BYTES_H
#define GB_FUZZ_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct fuzz_bytes {
    const uint8_t *at;
    size_t left;
};

/* The next one; zeros behind the last. */
static inline uint8_t
fuzz_byte(struct fuzz_bytes *bytes)
{
    if (bytes->left == 0)
        return 0;
    bytes->left--;
    return *bytes->at++;
}

#define FUZZ_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* One of an array's values. */
#define FUZZ_PICK(bytes, array) \
    ((array)[fuzz_byte(bytes) % FUZZ_LENGTH(array)])

#endif
