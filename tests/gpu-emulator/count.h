/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/count.h - how often kernels ran, and what their accesses cost.
 *
 * With GGMLBACKEND_TEST_EMU_COUNT=1 accesses are put together to requests as a
 * card would have them: what the lanes of a warp do at one place in the code for
 * the n-th time.  Of the cards' memory a request takes sectors of 32 bytes; of
 * shared memory as many turns as one of 32 banks has different words in it.
 *
 * GGMLBACKEND_TEST_EMU_TABLE names a file to which a line a kernel is appended
 * when the process ends: name, lanes, launches, blocks, bytes read, bytes
 * written, requests, their sectors, the fewest sectors that their bytes fill,
 * requests of shared memory, their turns.
 */
#ifndef GB_GPU_EMULATOR_COUNT_H
#define GB_GPU_EMULATOR_COUNT_H

#include "tests/gpu-emulator/check.h"

namespace emu {

struct kernel_counts {
    uint64_t launches, blocks, read, written; /* the last two: bytes */
    uint64_t requests, sectors, full_sectors;
    uint64_t shared_requests, turns;
};

/* Of all launches that are over. */
kernel_counts counts_of(const kernel *k);

/* Are accesses counted? */
extern bool counting;

/* F's access, none of its own stack. */
void count_access(const fiber *f, uintptr_t address, size_t size, access what,
                  const void *pc);

/* Before a launch's blocks. */
void count_launch(const launch &what);
/* B has run: add what its accesses counted. */
void count_block(block *b);

} // namespace emu

#endif
