/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/async.h - what goes on beside a block's threads on 9.0a: TMA,
 * the barriers that it tells, MMA of warp groups.
 *
 * All of it is done when somebody waits, as late as it may be (PTX ISA, "Async
 * proxy", "mbarrier", "Asynchronous Warpgroup Level Matrix Instructions").
 */
#ifndef GB_GPU_EMULATOR_ASYNC_H
#define GB_GPU_EMULATOR_ASYNC_H

#include "tests/gpu-emulator/tensor-map.h"

#include <stddef.h>
#include <stdint.h>

#include <map>
#include <vector>

namespace emu {

class block;
struct fiber;

/* A box on its way to shared memory. */
struct tma_copy {
    tensor_map map;
    char *to;
    int64_t at[4]; /* where it begins */
    const void *pc;
};

/* One of shared memory; by its address. */
struct mbarrier {
    unsigned by;         /* the thread that initialized it */
    bool is_fenced;      /* TMA may use it */
    int count, pending;  /* arrivals of a phase; that are to come */
    int64_t bytes;       /* expected of the phase, and not there yet */
    unsigned phase;      /* that goes on */
    std::vector<tma_copy> copies;
    std::vector<fiber *> waiting;
    /* By warp, what came before its arrivals: of the phase that goes on, and of
     * those that are over; clocks of its synchronisations. */
    std::vector<uint32_t> arriving, released;
    /* By thread, the fence for the async proxy that came last before its warp arrived;
     * by warp, up to which phase it knows of these. */
    std::vector<uint32_t> arriving_fence, released_fence;
    std::vector<unsigned> noted;
};

constexpr int mma_lanes = 32, mma_sums = 64;

/* The N sums of lanes, hidden from them until the last MMA that adds to them. */
struct hidden_sums {
    float *d[mma_lanes];
    float value[mma_lanes][mma_sums];
    int n, n_pending;
};

/* What is multiplied, and how. */
struct mma_form {
    double (*read)(uint32_t bits);
    int columns;     /* of D */
    bool begins;     /* D was nothing before */
    bool by_columns; /* A in registers, B MN-major */
};

/* A quarter of an MMA, of one warp of 32 lanes: 16 of its rows. */
struct pending_mma {
    const mma_form *form;
    uint64_t a, b; /* descriptors */
    const uint32_t *registers[mma_lanes]; /* or these in A's place */
    float *d; /* of the first lane: names the sums */
    int quarter;
    unsigned group;
    const void *pc;
};

/* Of 32 lanes. */
struct lane_mmas {
    std::vector<pending_mma> pending;
    std::vector<hidden_sums> sums;
    unsigned n_groups;
    bool is_fenced; /* its registers, since they were its own last */
};

struct async_state {
    std::map<uintptr_t, mbarrier> barriers;
    std::vector<lane_mmas> lanes; /* by thread / 32 */
    /*
     * By thread, the block's clock at its last fence for the async proxy; that
     * of the last one before the block's last barrier; at its last wait for an
     * mbarrier.
     */
    std::vector<uint32_t> fence, fence_before_barrier, waited;
    bool has_fences; /* since the last barrier */
    /*
     * By thread and warp, the clock up to which what that warp did is before what
     * the thread does, by mbarriers that it waited for; empty: there was none.
     */
    std::vector<uint32_t> seen;
    unsigned n_warps;
    /* By warp and thread, its last fence for the async proxy before an arrival for
     * which a thread of the warp waited; empty: there was none. */
    std::vector<uint32_t> shown;

    void begin(unsigned n_threads);
    void barrier();
};

/* F's thread ends, the last of its block if IS_LAST: nothing may be left. */
void async_ends(fiber *f, bool is_last);

/* ---- addresses of shared memory, as instructions have them ---- */

/* Sixteen bytes at ADDRESS, swizzled within 128, 64 or 32 bytes: the bits of
 * the piece are those xor the bits from 128 on. */
static inline uintptr_t
swizzled(uintptr_t address, unsigned span)
{
    return span == 0 ? address
                     : address ^ ((address >> 7 & (span / 16 - 1)) << 4);
}

} // namespace emu

#endif
