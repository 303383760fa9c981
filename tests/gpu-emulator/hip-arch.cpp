// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/hip-arch.cpp - what AMD's architectures have.
 */
#include "tests/gpu-emulator/driver.h"

#include "backends/cuda/ops/limits.h"

#include <stdlib.h>
#include <string.h>

namespace emu {

/* "gfx90a" is 0x90a. */
int
arch_of(const char *text)
{
    return strncmp(text, "gfx", 3) == 0 ? (int)strtol(text + 3, nullptr, 16)
                                        : 0;
}

const char *
usual_arch()
{
    return lanes == 64 ? "gfx90a" : "gfx1100";
}

/* LDS of a work group, all of which can be had unasked. */
int
shared_limit(int)
{
    return 64 * 1024;
}

int
shared_unasked()
{
    return 64 * 1024;
}

bool
has_mfma(int arch)
{
    return arch == 0x908 || arch == 0x90a || arch == 0x942 || arch == 0x950;
}

/* RDNA 3 and 4. */
bool
has_wmma(int arch)
{
    return arch >= 0x1100;
}

bool
arch_has_variant(int arch, int variant)
{
    switch ((enum gb_cuda_variant)variant) {
    case GB_CUDA_PLAIN:
        return true;
    case GB_CUDA_DP4A:
        return arch != 0x900 && arch != 0x1010;
    case GB_CUDA_MFMA:
        return has_mfma(arch) || has_wmma(arch);
    case GB_CUDA_WMMA:
        return has_wmma(arch);
    default:
        return false;
    }
}

int
matrix_shares_of(int arch)
{
    return lanes == 64 ? 4 : arch >= 0x1200 ? 2 : 1;
}

const char *
usual_version()
{
    return "60342134";
}

} // namespace emu
