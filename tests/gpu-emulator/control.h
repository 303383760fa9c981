/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/control.h - what tests ask of the emulated driver besides what
 * the vendor's has.
 *
 * The functions are in the library that has the entry points (libcuda.so.1):
 * dlsym finds them.  Any thread.  GGMLBACKEND_TEST_EMU_… variables, which
 * driver-settings.cpp lists, say how it begins.
 */
#ifndef GB_GPU_EMULATOR_CONTROL_H
#define GB_GPU_EMULATOR_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum emu_counter {
    EMU_CALLS,         /* of all entry points */
    EMU_LAUNCHES,      /* of kernels, one by one */
    EMU_GRAPH_LAUNCHES,
    EMU_KERNELS,       /* that ran, those of recorded graphs too */
    EMU_EARLY,         /* of these, that could begin before others ended */
    EMU_HOST_WAITS,    /* calls that had to wait for a card */
    EMU_ALLOCATIONS,   /* of card memory */
    EMU_HOST_ALLOCATIONS, /* pinned: allocated or registered */
    EMU_COPIES,        /* fills too */
    EMU_COPIED_BYTES,
    EMU_MODULES,       /* loaded */
    EMU_COUNTERS
};

/* Since the process began, or emu_reset. */
uint64_t emu_count(enum emu_counter which);
/* Calls of one entry point, by CUDA's name, HIP's or driver.def's; "any": of
 * all. */
uint64_t emu_calls(const char *name);
/* How often a kernel ran. */
uint64_t emu_kernel_runs(const char *kernel);

/* What the accesses of a kernel cost, over all launches; with EMU_COUNT=1, else
 * launches and blocks alone.  A request is what the lanes of a warp do at one
 * place in the code for the n-th time. */
struct emu_costs {
    uint64_t launches, blocks;
    uint64_t read, written; /* bytes of the cards' memory */
    uint64_t requests, sectors; /* of it; sectors of 32 bytes that they touch */
    uint64_t full_sectors;  /* the fewest that their bytes fill */
    uint64_t lines;         /* of 128 bytes that requests touch */
    uint64_t fetched;       /* bytes of the sectors of which blocks read, each
                               sector once a block */
    uint64_t delivered;     /* bytes of the sectors of which launches read, each
                               sector once a launch: what memory gives where
                               a cache keeps what several blocks read */
    uint64_t stored;        /* the same of writing */
    uint64_t shared_requests;
    uint64_t turns;         /* of one of 32 banks with different words */
    uint64_t full_turns;    /* the fewest for their words */
};

/* Since the library was loaded; without a name, of all kernels together. */
void emu_costs_of(const char *kernel, struct emu_costs *costs_out);
/* Of the cards' memory only accesses within SIZE bytes from ADDRESS on are
 * counted by launches that begin from now on; 0: all. */
void emu_watch(const void *address, uint64_t size);

/* Faults of the code under test that were found. */
uint64_t emu_reports(void);

/* Counters to 0; nothing fails any more. */
void emu_reset(void);

/*
 * The N-th call from now on (1: the next) of the entry point NAME ("any": of
 * all together) fails with RESULT (0: the usual one).  N 0: none does.
 */
void emu_fail_call(const char *name, uint64_t n, int result);
/* Calls that emu_fail_call or _FAIL made fail. */
uint64_t emu_failures(void);
/*
 * With the N-th call from now on that has a context, that context's card is
 * lost: all calls of it give RESULT (0: 719), until nobody retains its context.
 * N 0: no card is.
 */
void emu_lose_card(uint64_t n, int result);

/*
 * Of streams with work run 0: the oldest first, 1: the newest, more: one by
 * chance, with this seed.
 */
void emu_order(uint64_t order);

/* Bytes of a card; 0 for a card that is not there. */
uint64_t emu_memory_total(int card);
uint64_t emu_memory_used(int card);
/* Objects that live: memory, pinned too, streams, events, modules, graphs. */
uint64_t emu_live(void);
/* Operations that are queued and did not run yet. */
uint64_t emu_queued(void);

/*
 * For libraries beside the driver, such as a BLAS: RUN gets a copy of the SIZE
 * bytes of DATA in the place of a kernel in STREAM, and takes US microseconds of
 * the card's time (kernels: driver-work.cpp).  0, or what a launch would give.
 */
int emu_queue_work(void *stream, void (*run)(const void *data),
                   const void *data, size_t size, uint64_t us);
/*
 * In such a RUN: memory that it reads or writes.  0 where the card does not have
 * it; that, and what was never written before it is read, is reported.
 */
int emu_work_reads(const void *at, size_t size);
int emu_work_writes(void *at, size_t size);

/*
 * As if the process began: nothing is initialized, nothing lives, the
 * environment is read when next needed.  Nobody may use anything from before.
 */
void emu_restart(void);

#ifdef __cplusplus
}
#endif

#endif
