/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/place.h - addresses within tensors that may have no memory.
 *
 * A tensor without elements may have no address, and C allows nothing to be
 * added to none, not even 0.  Operations that walk such a tensor, and read
 * nothing of it, come here for their addresses.
 */
#ifndef GB_CPU_OPS_PLACE_H
#define GB_CPU_OPS_PLACE_H

#include <stddef.h>
#include <stdint.h>

/* BYTES behind DATA, which may be NULL. */
static inline char *
gb_cpu_place(const void *data, size_t bytes)
{
    return (char *)((uintptr_t)data + bytes);
}

#endif
