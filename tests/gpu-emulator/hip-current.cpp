// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/hip-current.cpp - which device is current: each thread has one,
 * the first unless it says otherwise, and no stack of them.
 */
#include "tests/gpu-emulator/driver.h"

namespace emu {

namespace {

thread_local int current;

} // namespace

int
hip_arch(int device)
{
    return card_of(device)->arch;
}

/* Contexts of cards that nobody retains are none. */
gb_cuda_context
hip_context(int device)
{
    const card *c = card_of(device);

    return c == nullptr ? nullptr : c->context;
}

card *
current_card()
{
    return card_of_context(hip_context(current));
}

void
current_forget()
{
    current = 0;
}

bool
is_about_current(call which)
{
    return which == CALL_context_push || which == CALL_context_pop;
}

int
api::context_push(gb_cuda_context context)
{
    current = (int)(uintptr_t)context - 1;
    return card_of(current) == nullptr ? GB_CUDA_INVALID_DEVICE : 0;
}

int
api::context_pop(gb_cuda_context *context)
{
    *context = (gb_cuda_context)(uintptr_t)(current + 1);
    return 0;
}

} // namespace emu
