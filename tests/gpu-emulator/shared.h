/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/shared.h - the shared memory of the block that a worker runs.
 *
 * What a kernel declares __shared__ is thread-local to the host's compiler: the
 * zero-initialised part of the library's thread-local memory.  Blocks run on
 * threads that the emulator made, so that the driver's own thread-local
 * variables, which lie there too, are copies that nobody uses.
 */
#ifndef GB_GPU_EMULATOR_SHARED_H
#define GB_GPU_EMULATOR_SHARED_H

#include <stddef.h>
#include <stdint.h>

namespace emu {

/* What is never written has these bytes: a NaN, an index far outside. */
constexpr int poison = 0xff;

/* The last accesses of four bytes, and which of them are written. */
struct shared_cell {
    uint64_t write, read, other_read; /* the last of two threads */
    uint32_t serial;                  /* of the block that this is about */
    uint8_t written, late;            /* a bit a byte; late: not arrived yet */
    uint16_t held;                    /* wgmmas that will read it */
};

class shared_memory {
public:
    shared_memory();
    ~shared_memory();
    shared_memory(const shared_memory &) = delete;

    /* Find the calling thread's, with DYNAMIC bytes that a launch asked for. */
    bool prepare(size_t dynamic);
    /* Is it one of shared memory's addresses, or of the room around it? */
    bool has(uintptr_t address) const
    {
        return address - arena < arena_size || address - fixed < fixed_size;
    }
    /* Are all SIZE bytes what a kernel may use? */
    bool allows(uintptr_t address, size_t size) const
    {
        return (address - dynamic < dynamic_size &&
                size <= dynamic_size - (address - dynamic)) ||
               (address - fixed < fixed_size &&
                size <= fixed_size - (address - fixed));
    }
    /* Of an address that it has. */
    shared_cell *cell(uintptr_t address) const
    {
        return address - arena < arena_size
                   ? cells + (address - arena) / 4
                   : cells + arena_size / 4 + (address - (fixed & ~3ul)) / 4;
    }
    /* Of addresses as instructions have them, at which it is 0. */
    uintptr_t window() const;
    /*
     * Forget what the last block left.  What kernels declare, all together,
     * takes longer to fill than many a block to run; where accesses are checked
     * nobody sees what is in it.
     */
    void poison_dynamic();
    void poison_fixed();

    /* Of the library that this is linked into: code and data. */
    uintptr_t image, image_size;
    uintptr_t fixed, fixed_size;     /* what kernels declare */
    uintptr_t dynamic, dynamic_size; /* what the launch asked for */
    uintptr_t arena, arena_size;     /* around it, with room on both sides */

private:
    shared_cell *cells;
    size_t cells_size;
};

} // namespace emu

#endif
