/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/order.h - what lies between two accesses, and orders them.
 */
#ifndef GB_GPU_EMULATOR_ORDER_H
#define GB_GPU_EMULATOR_ORDER_H

#include "tests/gpu-emulator/check.h"

#include <algorithm>

namespace emu {

static inline bool
warp_ordered(const fiber *f, uint64_t earlier)
{
    const warp &w = f->in->warps[f->warp];
    const uint64_t clock = stamp_clock(earlier);
    const uint64_t both =
        (uint64_t)1 << f->lane |
        (uint64_t)1 << stamp_thread(earlier) % GB_WARP;

    if (clock < w.clock)
        return true;
    for (unsigned i = 0; i < std::min(w.n_partial, 4u); i++)
        if ((w.partial[i].mask & both) == both && clock < w.partial[i].clock)
            return true;
    return false;
}

/* A block's releases: its clock then, and how many atomic operations before. */
static inline bool
blocks_ordered(const fiber *f, uint64_t earlier)
{
    const grid *const g = f->in->of;
    const uint64_t release = __atomic_load_n(
        &g->releases[stamp_block(earlier)], __ATOMIC_RELAXED);

    return stamp_clock(earlier) < release >> 32 &&
           (uint32_t)release < f->in->acquired;
}

/* A warp arrived at an mbarrier after that, and F waited for it. */
static inline bool
arrivals_ordered(const fiber *f, uint64_t earlier)
{
    const async_state &s = f->in->async;

    return !s.seen.empty() &&
           stamp_clock(earlier) <
               s.seen[f->thread * s.n_warps + stamp_thread(earlier) / GB_WARP];
}

static inline bool
ordered(const fiber *f, uint64_t earlier)
{
    if (!same_block(earlier, f->stamp))
        return blocks_ordered(f, earlier);
    if (stamp_clock(earlier) < f->in->barrier_clock)
        return true;
    if (arrivals_ordered(f, earlier))
        return true;
    return stamp_thread(earlier) / GB_WARP == f->warp &&
           warp_ordered(f, earlier);
}

/* Of two accesses to a word, one a write: EARLIER and what F does NOW. */
static inline bool
is_race(const fiber *f, uint64_t earlier, uint64_t now)
{
    return same_launch(earlier, now) && same_bytes(earlier, now) &&
           !same_thread(earlier, now) &&
           (earlier & now & stamp_atomic) == 0 && !ordered(f, earlier);
}

static inline uint64_t
stamp_now(const fiber *f, unsigned bytes, access what)
{
    /* After 8 million meetings all is taken as ordered. */
    const uint64_t clock =
        std::min(f->in->clock, (1u << clock_bits) - 1);

    return f->stamp | clock << clock_shift |
           stamp_bytes(bytes) | (what == changes ? stamp_atomic : 0);
}

/* The same thread's before and now, as one. */
static inline uint64_t
joined(uint64_t before, uint64_t now)
{
    return (before ^ now) >> clock_shift == 0 ? before | now : now;
}

/* The bytes of the word at ADDRESS that the SIZE bytes from AT on have. */
static inline unsigned
bytes_of(uintptr_t word, uintptr_t at, size_t size)
{
    const uintptr_t first = std::max(word, at);
    const uintptr_t end = std::min(word + 4, at + size);

    return ((1u << (end - first)) - 1) << (first - word);
}

} // namespace emu

#endif
