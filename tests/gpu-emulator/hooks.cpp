/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/hooks.cpp - what the compiler calls at each access to memory.
 *
 * Kernels are compiled with -fsanitize=thread but linked without the run time
 * of that: the functions that it would have are here.  Variables on the thread's
 * own stack are passed over first, as they are what is touched most.
 */
#include "tests/gpu-emulator/check.h"
#include "tests/gpu-emulator/count.h"

#include <string.h>

namespace emu {

namespace {

/* The objects with hooks say so when the library is loaded. */
bool have_hooks;

/* -1: not asked yet. */
int checking = -1;

inline __attribute__((always_inline)) void
note(void *address, size_t size, access what, const void *pc)
{
    fiber *const f = this_fiber();

    if (is_local(f, (uintptr_t)address))
        return;
    if (counting)
        count_access(f, (uintptr_t)address, size, what, pc);
    if (checking != 0)
        check_access(f, (uintptr_t)address, size, what, pc);
}

/* As note(), for an access that a card does in one: SIZE bytes, aligned. */
inline __attribute__((always_inline)) void
note_aligned(void *address, size_t size, access what, const void *pc)
{
    fiber *const f = this_fiber();

    if (((uintptr_t)address & (size - 1)) != 0) {
        complain(f, pc, "misaligned: %zu bytes at %#zx", size,
                 (size_t)address);
        f->in->failed(misaligned_address);
    }
    note(address, size, what, pc);
}

} // namespace

bool
checks()
{
    if (checking < 0)
        checking = have_hooks && setting("GGMLBACKEND_TEST_EMU_CHECK", 1) != 0;
    return checking != 0;
}

} // namespace emu

using emu::note;
using emu::note_aligned;

#define HOOKS(size)                                                       \
    extern "C" void __tsan_read##size(void *address)                      \
    {                                                                     \
        note_aligned(                                                     \
            address, size, emu::reads, __builtin_return_address(0));      \
    }                                                                     \
    extern "C" void __tsan_write##size(void *address)                     \
    {                                                                     \
        note_aligned(                                                     \
            address, size, emu::writes, __builtin_return_address(0));     \
    }                                                                     \
    extern "C" void __tsan_unaligned_read##size(void *address)            \
    {                                                                     \
        note(address, size, emu::reads, __builtin_return_address(0));     \
    }                                                                     \
    extern "C" void __tsan_unaligned_write##size(void *address)           \
    {                                                                     \
        note(address, size, emu::writes, __builtin_return_address(0));    \
    }

HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

extern "C" void
__tsan_read_range(void *address, size_t size)
{
    note(address, size, emu::reads, __builtin_return_address(0));
}

extern "C" void
__tsan_write_range(void *address, size_t size)
{
    note(address, size, emu::writes, __builtin_return_address(0));
}

/* Later compilers have these in the place of the functions without __tsan_. */

extern "C" void *
__tsan_memcpy(void *to, const void *from, size_t size)
{
    note((void *)from, size, emu::reads, __builtin_return_address(0));
    note(to, size, emu::writes, __builtin_return_address(0));
    return memcpy(to, from, size);
}

extern "C" void *
__tsan_memmove(void *to, const void *from, size_t size)
{
    note((void *)from, size, emu::reads, __builtin_return_address(0));
    note(to, size, emu::writes, __builtin_return_address(0));
    return memmove(to, from, size);
}

extern "C" void *
__tsan_memset(void *to, int value, size_t size)
{
    note(to, size, emu::writes, __builtin_return_address(0));
    return memset(to, value, size);
}

extern "C" void
__tsan_init()
{
    emu::have_hooks = true;
}

extern "C" void
__tsan_func_entry(void *)
{
}

extern "C" void
__tsan_func_exit(void)
{
}

#ifndef GB_EMULATOR_OTHER_SANITIZER

/*
 * -fsanitize=alignment: a pointer whose type wants more than its address has.
 * It is found even where the compiler takes a vector apart afterwards.
 */
struct type_mismatch {
    const char *file;
    uint32_t line, column;
    const void *type;
    unsigned char log_alignment, kind;
};

extern "C" void
__ubsan_handle_type_mismatch_v1(type_mismatch *where, uintptr_t address)
{
    emu::fiber *const f = emu::this_fiber();

    complain(f, where, "misaligned: %#zx is not a multiple of %u (%s:%u)",
             (size_t)address, 1u << where->log_alignment, where->file,
             where->line);
    f->in->failed(emu::misaligned_address);
}

#endif
