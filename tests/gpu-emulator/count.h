/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/count.h - how often kernels ran, and what their accesses cost.
 */
#ifndef GB_GPU_EMULATOR_COUNT_H
#define GB_GPU_EMULATOR_COUNT_H

#include "tests/gpu-emulator/check.h"

namespace emu {

/* Are accesses counted?  Only where GGMLBACKEND_TEST_EMU_COUNT asks for it. */
extern bool counting;

void count_access(const fiber *f, uintptr_t address, size_t size, access what,
                  const void *pc);
void count_launch(const launch &what);
/* B has run: add what its accesses counted. */
void count_block(block *b);

} // namespace emu

#endif
