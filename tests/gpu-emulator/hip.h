/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/hip.h - what hip.cpp needs of who has the cards: the emulator
 * (hip-current.cpp), or a driver of CUDA's (hip-on-cuda.cpp).
 */
#ifndef GB_GPU_EMULATOR_HIP_H
#define GB_GPU_EMULATOR_HIP_H

/*
 * What has other parameters under HIP's names is called by hip.cpp, and is not
 * itself visible there.
 */
#define GB_HIP_ADAPTED(name) "own_" name
#define GB_HIP_NONE(id)      "own_" #id

#include "backends/cuda/driver/driver.h"

/* The rows of the table, of which some are called so. */
#define GB_DRIVER_CALL(need, id, cuda, hip, parameters, arguments) \
    extern "C" int emu_entry_##id parameters __asm__(hip);
#include "backends/cuda/driver/driver.def"
#undef GB_DRIVER_CALL

namespace emu {

/* Of a wave of the cards. */
extern const int lanes;

/* 0x90a for gfx90a, of a card that is there. */
int hip_arch(int device);

/* The primary context of DEVICE; NULL where nobody retains it. */
gb_cuda_context hip_context(int device);

/* A fault of the code under test. */
void report(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

} // namespace emu

#endif
