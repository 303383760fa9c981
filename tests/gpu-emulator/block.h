/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/block.h - the threads of one thread block, each on a fiber.
 *
 * A thread runs until it has to wait for others: at a barrier for all of the
 * block's that have not ended, at a collective operation of a warp for the lanes
 * of its mask.  Which of those that can run goes on is up to the order; nothing
 * is in lockstep.
 */
#ifndef GB_GPU_EMULATOR_BLOCK_H
#define GB_GPU_EMULATOR_BLOCK_H

#include "tests/gpu-emulator/async.h"
#include "tests/gpu-emulator/emulator.h"
#include "tests/gpu-emulator/fiber.h"
#include "tests/gpu-emulator/memory.h"
#include "tests/gpu-emulator/shared.h"
#include "tests/gpu-emulator/stamp.h"

#include <vector>

namespace emu {

constexpr unsigned max_threads = 1024;
constexpr unsigned max_warps = max_threads / GB_WARP;
constexpr uint64_t all_of_a_warp = ~(uint64_t)0 >> (64 - GB_WARP);

/* Results of the driver for what goes wrong while a kernel runs. */
enum {
    ok = 0,
    invalid_value = 1,
    illegal_address = 700,
    misaligned_address = 716,
    launch_failed = 719,
};

/* 0: first to last, 1: last to first, more: by chance, with this seed. */
typedef unsigned long order;

/*
 * What the lanes of a warp do together: the last one to come does it for all.
 * DATA has what each lane of ARRIVED brought, by lane.
 */
struct meeting {
    block *in;
    uint64_t arrived;
    void *const *data;
};

struct collective {
    const char *name;
    void (*run)(const meeting &);
    bool orders; /* what lanes wrote before, others see afterwards */
};

/* Lanes of a warp that wait for the rest of a mask. */
struct lane_group {
    uint64_t mask, arrived;
    const collective *what;
    fiber *waiting[GB_WARP];
    unsigned n;
};

/* Lanes of a part of a warp that synchronised, and when. */
struct partial_sync {
    uint64_t mask;
    uint32_t clock;
};

struct warp {
    uint64_t live; /* lanes that have not ended */
    void *data[GB_WARP];
    lane_group groups[4];
    uint32_t clock; /* of its last synchronisation */
    partial_sync partial[4];
    unsigned n_partial;
};

/* A run of a kernel, as its blocks see it. */
struct grid {
    const launch *what;
    uint32_t serial; /* of the launch */
    order in_order;
    int result;      /* the first that is not ok; changed atomically */
    std::vector<uint64_t> releases; /* by block; check.cpp */
    uint32_t n_in_front; /* launches that may still run until it has waited */
};

/* A copy of cp.async that did not arrive. */
struct late_copy {
    void *to;
    const void *from;
    int valid_bytes;
    unsigned group;
};

struct late_copies {
    std::vector<late_copy> list;
    unsigned n_groups;
};

class block {
public:
    block();

    /* Run block NUMBER of G to its end; false: no memory. */
    bool run(grid *g, uint64_t number);

    /* ---- called on fibers ---- */

    void barrier(int place, const void *pc);
    void meet(const collective *what, uint64_t mask, void *data,
              const void *pc);
    /* All lanes of the warp, also those that have ended. */
    void meet_all(const collective *what, void *data, const void *pc);
    /* Others run until somebody wakes it. */
    void sleep(fiber *f);
    void wake(fiber *const *list, unsigned n);
    /* Give the block up, with this result; the caller does not go on. */
    [[noreturn]] void stop(int result);
    /* Something to report that does not keep the block from going on. */
    void failed(int result);

    grid *of;
    gb_emu_dim index, dim, grid_dim;
    shared_memory shared;

    /*
     * Counts synchronisations.  Of two accesses by threads that wait for each
     * other, the earlier has a clock below that of the meeting.
     */
    uint32_t clock, barrier_clock;
    uint32_t fence_clock, acquired; /* see check_fence() */
    uint32_t serial;                /* of the blocks run here */
    uint64_t number;
    allocation near; /* of an access a short time ago */
    late_copies copies[max_threads];
    async_state async;
    struct block_counts *counts; /* count.cpp; NULL: none yet */
    warp warps[max_warps];
    unsigned n_threads;

private:
    static void fiber_main();
    void begin_thread(fiber *f);
    void end_thread(fiber *f);
    fiber *next();
    void wait(fiber *f);
    void go(fiber *from, fiber *to);
    void make_ready(fiber *const *list, unsigned n);
    fiber *take_ready();
    void try_release();
    void try_meeting(unsigned w, lane_group *g);
    lane_group *group_of(warp *w, uint64_t mask);
    void order_threads();
    void prepare();
    void explain_deadlock();
    unsigned draw(unsigned below);

    fibers stacks;
    void *host;
    unsigned n_live, n_started, n_ready, first_ready, n_idle, n_at_barrier;
    int barrier_place;
    bool abandoned, order_known;
    order known_order;
    unsigned known_n;
    uint32_t random;
    uint16_t start[max_threads];
    fiber *ready[2 * max_threads], *idle[max_threads], *at_barrier[max_threads];
};

/* ---- report.cpp ---- */

/*
 * A report about what F does at PC, once for this place, thing and kernel:
 * "kernel gb_x, block 1,0,0, thread 7: " and the text.
 */
void complain(const fiber *f, const void *pc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

} // namespace emu

#endif
