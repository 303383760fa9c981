/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/kernels.cpp - every kernel of kernels.def by name.
 */
#include "tests/gpu-emulator/emulator.h"

#include "backends/cuda/kernels/args-all.h"
#include "backends/cuda/ops/limits.h"

#include <string.h>

#define GB_CUDA_KERNEL(file, name, args, threads, shared, variant) \
    extern "C" void name(const struct gb_cuda_##args##_args);
#include "backends/cuda/kernels/kernels.def"
#undef GB_CUDA_KERNEL

namespace emu {

namespace {

/* What a launch was given need not lie where the struct wants to. */
template <typename T, void (*function)(const T)>
void
call(const void *args)
{
    T copy;

    memcpy(&copy, args, sizeof(copy));
    function(copy);
}

const kernel table[] = {
#define GB_CUDA_KERNEL(file, name, args, threads, shared, variant)     \
    { #name, #file, call<struct gb_cuda_##args##_args, name>,          \
      sizeof(struct gb_cuda_##args##_args), threads, shared,           \
      GB_CUDA_##variant },
#include "backends/cuda/kernels/kernels.def"
#undef GB_CUDA_KERNEL
};

} // namespace

const kernel *
kernels(size_t *count)
{
    *count = sizeof(table) / sizeof(*table);
    return table;
}

const kernel *
find_kernel(const char *name)
{
    for (const kernel &k : table)
        if (strcmp(k.name, name) == 0)
            return &k;
    return nullptr;
}

} // namespace emu
