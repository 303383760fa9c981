/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/forbid.h - memory that kernels shall not touch, for the address
 * sanitizer, where that is in the place of the hooks (build-aux/check-kernels).
 */
#ifndef GB_GPU_EMULATOR_FORBID_H
#define GB_GPU_EMULATOR_FORBID_H

#include <stddef.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace emu {

static inline void
forbid(const volatile void *at, size_t size)
{
#ifdef __SANITIZE_ADDRESS__
    __asan_poison_memory_region(at, size);
#else
    (void)at;
    (void)size;
#endif
}

static inline void
allow(const volatile void *at, size_t size)
{
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(at, size);
#else
    (void)at;
    (void)size;
#endif
}

} // namespace emu

#endif
