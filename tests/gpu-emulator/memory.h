/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/memory.h - what is known of each byte of the cards' memory.
 *
 * One range of addresses holds all cards' memory.  Beside it, at the same
 * distance for all, a bit a byte tells whether it was written since it was
 * allocated; outside what is allocated no bit is set.  So an access whose bits
 * are all set is right without looking for the allocation.  Pages that nobody
 * touches take no memory.
 */
#ifndef GB_GPU_EMULATOR_MEMORY_H
#define GB_GPU_EMULATOR_MEMORY_H

#include <stddef.h>
#include <stdint.h>

namespace emu {

/* The last accesses of four bytes; check.cpp says what is in it. */
struct race_cell {
    uint64_t write, read;
};

struct memory_range {
    uintptr_t first;
    size_t size; /* 0: nothing was allocated yet */
    uint8_t *written;
    race_cell *cells;
};

/* Changes once, with the first allocation. */
extern memory_range device_memory;

struct allocation {
    uintptr_t address; /* 0: none */
    size_t size;
    int card;
    bool lives;
};

/*
 * The allocation that has ADDRESS, or else the nearest one below, freed ones
 * too as long as their addresses are not used again.
 */
allocation memory_find(uintptr_t address);

/* ---- bits of WRITTEN, for SIZE bytes from offset AT ---- */

bool written_all(size_t at, size_t size);
void written_set(size_t at, size_t size);

/* The race cells of all memory forget what they know. */
void memory_forget_races();

} // namespace emu

#endif
