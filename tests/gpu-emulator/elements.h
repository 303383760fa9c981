// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/elements.h - the numbers that registers and panels have for
 * instructions on matrices; the low 16 bits count.
 */
#ifndef GB_GPU_EMULATOR_ELEMENTS_H
#define GB_GPU_EMULATOR_ELEMENTS_H

#include "tests/gpu-emulator/device.h"

namespace emu {

inline double
of_f16(uint32_t bits)
{
    return gb_emu_float_of_f16((uint16_t)bits);
}

inline double
of_bf16(uint32_t bits)
{
    return __uint_as_float(bits << 16);
}

} // namespace emu

#endif
