// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/driver-current.cpp - which context is current: each thread has a
 * stack of them.
 */
#include "tests/gpu-emulator/driver.h"

namespace emu {

namespace {

/* Of this thread, the current one last. */
thread_local std::vector<gb_cuda_context> stack;

} // namespace

card *
current_card()
{
    return stack.empty() ? nullptr : card_of_context(stack.back());
}

void
current_forget()
{
    stack.clear();
}

/* What is pushed, or popped, is a card's. */
bool
is_about_current(call)
{
    return false;
}

int
api::context_push(gb_cuda_context context)
{
    if (card_of_context(context) == nullptr)
        return GB_CUDA_INVALID_CONTEXT;
    stack.push_back(context);
    return 0;
}

int
api::context_pop(gb_cuda_context *context)
{
    if (stack.empty())
        return GB_CUDA_INVALID_CONTEXT;
    if (context != nullptr)
        *context = stack.back();
    stack.pop_back();
    return 0;
}

} // namespace emu
