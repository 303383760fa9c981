/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/atomic.cpp - atomic operations and fences.
 */
#include "tests/gpu-emulator/check.h"

using emu::fiber;
using emu::this_fiber;

namespace emu {

namespace {

/* Before, and after: what it is in between, no other thread sees. */
class atomically {
public:
    atomically(void *to, size_t size, const void *pc) : f(this_fiber())
    {
        check_access(f, (uintptr_t)to, size, changes, pc);
    }
    ~atomically() { check_atomic_done(f); }

private:
    fiber *f;
};

template <typename T>
T
maximum(T *to, T value)
{
    T old = __atomic_load_n(to, __ATOMIC_SEQ_CST);

    while (old < value &&
           !__atomic_compare_exchange_n(to, &old, value, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    return old;
}

} // namespace
} // namespace emu

using emu::atomically;

extern "C" uint32_t
gb_emu_atomic_add_32(void *to, uint32_t value)
{
    const atomically now(to, 4, __builtin_return_address(0));

    return __atomic_fetch_add((uint32_t *)to, value, __ATOMIC_SEQ_CST);
}

extern "C" uint64_t
gb_emu_atomic_add_64(void *to, uint64_t value)
{
    const atomically now(to, 8, __builtin_return_address(0));

    return __atomic_fetch_add((uint64_t *)to, value, __ATOMIC_SEQ_CST);
}

extern "C" int32_t
gb_emu_atomic_max_s32(void *to, int32_t value)
{
    const atomically now(to, 4, __builtin_return_address(0));

    return emu::maximum((int32_t *)to, value);
}

extern "C" uint32_t
gb_emu_atomic_max_u32(void *to, uint32_t value)
{
    const atomically now(to, 4, __builtin_return_address(0));

    return emu::maximum((uint32_t *)to, value);
}

extern "C" uint32_t
gb_emu_atomic_exchange_32(void *to, uint32_t value)
{
    const atomically now(to, 4, __builtin_return_address(0));

    return __atomic_exchange_n((uint32_t *)to, value, __ATOMIC_SEQ_CST);
}

extern "C" uint32_t
gb_emu_atomic_compare_32(void *to, uint32_t expected, uint32_t value)
{
    const atomically now(to, 4, __builtin_return_address(0));

    __atomic_compare_exchange_n((uint32_t *)to, &expected, value, false,
                                __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return expected;
}

extern "C" void
gb_emu_fence()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    emu::check_fence(this_fiber());
}
