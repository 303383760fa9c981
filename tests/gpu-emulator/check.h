/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/check.h - accesses of kernels, compared with what is known of
 * each byte.
 */
#ifndef GB_GPU_EMULATOR_CHECK_H
#define GB_GPU_EMULATOR_CHECK_H

#include "tests/gpu-emulator/block.h"

namespace emu {

/* What a thread does with bytes. */
enum access { reads, writes, changes /* atomically */ };

/* "reads" … */
const char *verb(access what);

/* Reports of what F does at ADDRESS: what EARLIER did to race with. */
void tell_outside(
    fiber *f, uintptr_t address, size_t size, access what, const void *pc);
void tell_unwritten(
    fiber *f, uintptr_t address, size_t size, access what, const void *pc);
void tell_race(fiber *f, uintptr_t address, access what, uint64_t earlier,
               const char *other_did, const void *pc);

/* Before the blocks of G. */
void check_begins(grid *g, uint64_t n_blocks);

/* F's thread ends: it has waited for the launches in front. */
void check_ends(const fiber *f);

/*
 * F is about to do that with SIZE bytes.  Does not come back when they are no
 * memory of the card's.
 */
void check_access(
    fiber *f, uintptr_t address, size_t size, access what, const void *pc);
/* The same for shared memory. */
void check_shared(
    fiber *f, uintptr_t address, size_t size, access what, const void *pc);
/*
 * What a block's threads did before a fence is seen by blocks that do an atomic
 * operation after the block's next one.
 */
void check_fence(fiber *f);
void check_atomic_done(fiber *f);

/*
 * Shared memory from ADDRESS on is being filled by a copy that did not arrive;
 * or has arrived.
 */
void check_copy_begins(fiber *f, uintptr_t to, size_t size, const void *pc);
void check_copy_arrives(fiber *f, uintptr_t to, size_t size, const void *pc);
/* It has by TMA: for threads that wait for its mbarrier. */
void check_tma_arrives(fiber *f, uintptr_t to, size_t size);

/* A wgmma of F's warp will read shared memory; or has. */
void check_mma_begins(fiber *f, uintptr_t at, size_t size, const void *pc);
void check_mma_ends(fiber *f, uintptr_t at, size_t size, const void *pc);

} // namespace emu

#endif
