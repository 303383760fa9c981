/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/emulator.h - the parts of the emulated driver, as they see each
 * other.
 *
 * The library is named like the vendor's (libcuda.so.1), so that a module runs
 * on it as it ships.  driver*.cpp has the vendor's entry points: cards, contexts,
 * streams that run late, recorded graphs, failures on demand.  memory.cpp has the
 * cards' memory and what is known of each byte of it, launch.cpp, block.cpp and others the execution of
 * kernels, which the host's compiler made, on fibers.
 */
#ifndef GB_GPU_EMULATOR_EMULATOR_H
#define GB_GPU_EMULATOR_EMULATOR_H

#include "tests/gpu-emulator/control.h"

#include <stddef.h>
#include <stdint.h>

namespace emu {

/* ---- kernels: a table made of kernels.def ---- */

struct kernel {
    const char *name;
    const char *file;           /* kernels/<file>.cu */
    void (*call)(const void *args);
    size_t args_size;
    unsigned threads;           /* of a block: a launch with others fails */
    size_t shared;              /* most dynamic shared memory of a launch */
    int variant;                /* enum gb_cuda_variant */
};

/* NULL for a name that no kernel has. */
const kernel *find_kernel(const char *name);
const kernel *kernels(size_t *count);

/* ---- memory of the cards (memory.cpp) ---- */

/*
 * SIZE bytes (more than 0) of CARD's memory, filled with bytes that make bad
 * numbers and known as never written; NULL when CARD's limit is reached.
 * Addresses are the host's, so that kernels can run, of a range that nothing
 * else has; memory beyond what is touched costs nothing.
 */
void *memory_alloc(int card, size_t size);
/* False: not the start of an allocation that lives. */
bool memory_free(void *address);
/* Bytes that CARD has given out. */
size_t memory_used(int card);
/* The card whose allocation has all SIZE bytes from ADDRESS on; -1: none. */
int memory_owner(const void *address, size_t size);

/*
 * A copy or fill by the driver: the bytes are known as written from now on, or as
 * the source's were (copies of bytes never written carry that along).
 */
void memory_wrote(void *to, size_t size);
void memory_copied(void *to, const void *from, size_t size);
/* Was each of the bytes written? (for copies to the host) */
bool memory_is_written(const void *from, size_t size);

/* ---- the host's memory (driver-host.cpp) ---- */

bool host_is_pinned(const void *address, size_t size);

/*
 * May kernels use all of it where the host has it: is it pinned, or does a card
 * read any (PAGEABLE 2)?  Its bytes count as written.  Does not change while
 * kernels run.
 */
bool host_is_reachable(const void *address, size_t size);

/* ---- running a kernel (launch.cpp) ---- */

struct launch {
    const kernel *k;
    int card;
    unsigned grid[3], block[3];
    size_t shared;
    const void *args; /* k->args_size bytes */
    size_t args_size; /* bytes that the caller has there; 0: not told */
    bool is_early; /* it may begin before the launch in front has ended */
    int matrix_shares = 1; /* lanes that share a line of a matrix
                              instruction's, on cards that have AMD's */
};

/*
 * 0, or the driver's result: 1 for a launch that no card takes, 700 for an address
 * outside, 716 for a misaligned one, 719 for threads that wait for ever or on
 * different sides of a branch.  Races and bytes never written are reported
 * alone.  Never ends the process.
 */
int run(const launch &what);

/*
 * Are accesses checked?  Where kernels are compiled with hooks, unless
 * GGMLBACKEND_TEST_EMU_CHECK is 0 when the first kernel runs or the first memory
 * is looked at.  Otherwise all memory counts as written.
 */
bool checks();

/* ---- what it cost (count.cpp) ---- */

/* Of all launches that are over. */
emu_costs costs_of(const kernel *k);
/* And of all kernels together. */
emu_costs costs_of_all();
/* See emu_watch. */
void watch(const void *address, uint64_t size);

/* ---- reports ---- */

/*
 * Something is wrong with the code under test.  The text goes to stderr and to
 * the file that GGMLBACKEND_TEST_EMU_REPORT names (appended), once for the same
 * text; the count of all is what emu_reports() of the library tells.
 */
void report(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
uint64_t reports();

/* A variable of the environment as a number; OTHERWISE without it. */
long setting(const char *name, long otherwise);

} // namespace emu

#endif
