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
 * requests of shared memory, their turns, the fewest turns for their words,
 * bytes of sectors that blocks read, lines of 128 bytes that requests touch, bytes
 * of sectors that launches read, and write.
 */
#ifndef GB_GPU_EMULATOR_COUNT_H
#define GB_GPU_EMULATOR_COUNT_H

#include "tests/gpu-emulator/check.h"

namespace emu {

/* Are accesses counted? */
extern bool counting;

/* F's access, none of its own stack. */
void count_access(const fiber *f, uintptr_t address, size_t size, access what,
                  const void *pc);

/* Before a launch's blocks. */
void count_launch(const launch &what);
/* B has run: add what its accesses counted. */
void count_block(block *b);
/* All of them have. */
void count_launch_end(const launch &what);

} // namespace emu

#endif
