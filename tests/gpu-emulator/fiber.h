/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/fiber.h - stacks that one thread of the host runs in turn.
 *
 * What a fiber is doing stands at the upper end of its stack, whose address is a
 * multiple of its size: from any function, the stack pointer leads there.
 */
#ifndef GB_GPU_EMULATOR_FIBER_H
#define GB_GPU_EMULATOR_FIBER_H

#include "tests/gpu-emulator/device.h"

#include <stddef.h>
#include <stdint.h>

namespace emu {

/* Bytes of a stack; the lowest quarter is without access. */
constexpr uintptr_t stack_size = 256 << 10;

class block;

/* A fiber and the GPU thread that it runs. */
struct fiber {
    void *context; /* of the fiber, while it does not run */
    block *in;
    uint64_t stamp; /* launch, block and thread, as race cells have them */
    unsigned thread, warp;
    int lane;
    bool is_early; /* launches in front may still run: it has not waited */
    gb_emu_dim index;
};

/* The fiber whose stack ADDRESS is in. */
static inline fiber *
fiber_of(uintptr_t address)
{
    return (fiber *)((address | (stack_size - 1)) + 1 - sizeof(fiber));
}

static inline __attribute__((always_inline)) fiber *
this_fiber()
{
    return fiber_of((uintptr_t)__builtin_frame_address(0));
}

/* Is ADDRESS on F's stack? */
static inline bool
is_local(const fiber *f, uintptr_t address)
{
    return ((address ^ (uintptr_t)f) & ~(stack_size - 1)) == 0;
}

/* The stacks of one worker. */
class fibers {
public:
    fibers();
    ~fibers();
    fibers(const fibers &) = delete;
    /* COUNT stacks; false: no memory. */
    bool reserve(size_t count);
    fiber *at(size_t i) const;
    /* Let a fiber begin anew with MAIN, which never returns. */
    static void reset(fiber *f, void (*main)());

private:
    char *first;
    void *mapping;
    size_t mapping_size, count;
};

/* Go on where TO stopped; FROM is where this call returns to. */
void fiber_switch(void **from, void *to);

} // namespace emu

#endif
