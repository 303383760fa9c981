/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/stamp.h - who made an access, and when, in 64 bits.
 *
 *   launch 12 | block 13 | thread 10 | clock 23 | bytes 4 | atomic 1 | many 1
 *
 * Launch and block are their numbers' lowest bits.  The clock is the block's
 * (block.h); bytes tells which of the four; many, in a cell's read, that several
 * blocks of the launch read them.
 */
#ifndef GB_GPU_EMULATOR_STAMP_H
#define GB_GPU_EMULATOR_STAMP_H

#include <stdint.h>

namespace emu {

constexpr unsigned launch_bits = 12, block_bits = 13, thread_bits = 10;
constexpr unsigned clock_bits = 23;
constexpr unsigned clock_shift = 6, thread_shift = clock_shift + clock_bits;
constexpr unsigned block_shift = thread_shift + thread_bits;
constexpr unsigned launch_shift = block_shift + block_bits;
constexpr uint64_t stamp_many = 1, stamp_atomic = 2;

static_assert(launch_shift + launch_bits == 64, "all bits are used");

static inline uint64_t
stamp_of(uint64_t launch, uint64_t block, uint64_t thread)
{
    return launch << launch_shift |
           (block & ((1u << block_bits) - 1)) << block_shift |
           thread << thread_shift;
}

static inline uint64_t
stamp_bytes(unsigned mask)
{
    return (uint64_t)mask << 2;
}

static inline uint64_t
stamp_clock(uint64_t stamp)
{
    return stamp >> clock_shift & ((1u << clock_bits) - 1);
}

static inline unsigned
stamp_thread(uint64_t stamp)
{
    return (unsigned)(stamp >> thread_shift) & ((1u << thread_bits) - 1);
}

static inline unsigned
stamp_block(uint64_t stamp)
{
    return (unsigned)(stamp >> block_shift) & ((1u << block_bits) - 1);
}

static inline bool
same_launch(uint64_t a, uint64_t b)
{
    return (a ^ b) >> launch_shift == 0;
}

/* How many launches behind A's B's is; modulo what the bits hold. */
static inline uint32_t
launches_between(uint64_t a, uint64_t b)
{
    return (uint32_t)((b >> launch_shift) - (a >> launch_shift)) &
           ((1u << launch_bits) - 1);
}

static inline bool
same_block(uint64_t a, uint64_t b)
{
    return (a ^ b) >> block_shift == 0;
}

static inline bool
same_thread(uint64_t a, uint64_t b)
{
    return (a ^ b) >> thread_shift == 0;
}

static inline bool
same_bytes(uint64_t a, uint64_t b)
{
    return (a & b & stamp_bytes(15)) != 0;
}

} // namespace emu

#endif
