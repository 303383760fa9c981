// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/driver-arch.cpp - what NVIDIA's architectures have.
 */
#include "tests/gpu-emulator/driver.h"

#include "backends/cuda/ops/limits.h"

#include <stdlib.h>

namespace emu {

int
arch_of(const char *text)
{
    return (int)strtol(text, nullptr, 0);
}

const char *
usual_arch()
{
    return "90";
}

int
shared_limit(int arch)
{
    static const struct {
        int arch, kib;
    } limits[] = {
        { 60, 48 }, { 61, 48 }, { 70, 96 }, { 75, 64 }, { 80, 163 },
        { 86, 99 }, { 87, 163 }, { 89, 99 }, { 90, 227 }, { 100, 227 },
        { 103, 227 }, { 110, 227 }, { 120, 99 }, { 121, 99 },
    };

    for (const auto &row : limits)
        if (row.arch == arch)
            return row.kib * 1024;
    return 48 * 1024;
}

int
shared_unasked()
{
    return 48 * 1024;
}

/* wgmma's instructions are those of 9.0a, which newer cards do not have. */
bool
arch_has_variant(int arch, int variant)
{
    switch ((enum gb_cuda_variant)variant) {
    case GB_CUDA_PLAIN:
        return arch >= 60;
    case GB_CUDA_DP4A:
        return arch >= 61;
    case GB_CUDA_MFMA: /* rows that both vendors' cards have */
    case GB_CUDA_WMMA:
    case GB_CUDA_MMA:
        return arch >= 75;
    case GB_CUDA_MMA8:
        return arch >= 80;
    case GB_CUDA_WGMMA:
        return arch == 90;
    }
    return false;
}

/* There are no such instructions, so it is never asked. */
int
matrix_shares_of(int)
{
    return 1;
}

const char *
usual_version()
{
    return "13000";
}

} // namespace emu
