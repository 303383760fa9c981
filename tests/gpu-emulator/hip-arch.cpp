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

/* Images have other kernels for AMD's matrix instructions, or none. */
bool
arch_has_variant(int arch, int variant)
{
    return variant == GB_CUDA_PLAIN ||
           (variant == GB_CUDA_DP4A && arch != 0x900 && arch != 0x1010);
}

const char *
usual_version()
{
    return "60342134";
}

} // namespace emu
