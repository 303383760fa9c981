/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/warp.cpp - shuffles, votes and synchronisation of a warp.
 *
 * Only __syncwarp() lets lanes see what others wrote: the vendor promises that
 * of no shuffle or vote (CUDA C++ Programming Guide, "Warp Shuffle Functions").
 */
#include "tests/gpu-emulator/block.h"

namespace emu {

namespace {

/* ---- shuffles ---- */

struct shuffled {
    uint64_t value, result;
    int from;
    fiber *by;
    const void *pc;
};

void
shuffle_lane(const meeting &m, int lane)
{
    shuffled *const s = (shuffled *)m.data[lane];

    s->result = s->value;
    if (s->from < 0 || s->from == lane)
        return;
    if (s->from < GB_WARP && (m.arrived >> s->from & 1) != 0) {
        s->result = ((const shuffled *)m.data[s->from])->value;
        return;
    }
    complain(s->by, s->pc, "shuffle: lane %d takes the value of lane %d, "
                           "which takes no part", lane, s->from);
    m.in->failed(launch_failed);
    s->result = ~(uint64_t)0;
}

void
shuffle(const meeting &m)
{
    for (int i = 0; i < GB_WARP; i++)
        if ((m.arrived >> i & 1) != 0)
            shuffle_lane(m, i);
}

/* ---- votes ---- */

struct vote {
    bool predicate;
    uint64_t result;
};

void
ballot(const meeting &m)
{
    uint64_t result = 0;

    for (int i = 0; i < GB_WARP; i++)
        if ((m.arrived >> i & 1) != 0 && ((const vote *)m.data[i])->predicate)
            result |= (uint64_t)1 << i;
    for (int i = 0; i < GB_WARP; i++)
        if ((m.arrived >> i & 1) != 0)
            ((vote *)m.data[i])->result = result;
}

const collective shuffling = { "a shuffle", shuffle, false };
const collective voting = { "a vote", ballot, false };
const collective synchronising = { "__syncwarp", nullptr, true };

} // namespace
} // namespace emu

using emu::this_fiber;

extern "C" uint64_t
gb_emu_shuffle(uint64_t mask, uint64_t value, int from)
{
    emu::fiber *const f = this_fiber();
    const void *const pc = __builtin_return_address(0);
    emu::shuffled s = { value, 0, from, f, pc };

    f->in->meet(&emu::shuffling, mask, &s, pc);
    return s.result;
}

extern "C" uint64_t
gb_emu_ballot(uint64_t mask, bool predicate)
{
    emu::vote v = { predicate, 0 };

    this_fiber()->in->meet(
        &emu::voting, mask, &v, __builtin_return_address(0));
    return v.result;
}

/* Lanes are never known to go together: each may be alone. */
extern "C" uint64_t
gb_emu_active()
{
    return (uint64_t)1 << this_fiber()->lane;
}

extern "C" void
gb_emu_warp_sync(uint64_t mask)
{
    this_fiber()->in->meet(
        &emu::synchronising, mask, nullptr, __builtin_return_address(0));
}
