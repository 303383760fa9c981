/* SPDX-License-Identifier: MIT */
/*
 * common/hash.h - FNV-1a of Fowler, Noll and Vo, 64 bits.
 */
#ifndef TOOLS_COMMON_HASH_H
#define TOOLS_COMMON_HASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t
hash_bytes(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
