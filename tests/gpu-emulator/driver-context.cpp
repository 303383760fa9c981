// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/driver-context.cpp - primary contexts.
 */
#include "tests/gpu-emulator/driver.h"

namespace emu {

namespace {

handles<int, gb_cuda_context> contexts; /* numbers of cards */

/* Ends a context with all that is in it. */
void
destroy(card *on)
{
    size_t n_left;

    if (on->error == 0)
        queue_run_card(on);
    queue_drop(on);
    n_left = memory_drop(on) + host_drop(on) + streams_drop(on) +
             modules_drop(on) + graphs_drop(on);
    if (n_left != 0 && on->error == 0)
        report("the context of card %d ended with %zu objects in it that were "
               "not freed", on->number, n_left);
    contexts.drop(on->context);
    on->context = nullptr;
    on->error = 0;
    on->peers.assign(on->peers.size(), false);
}

card *
peer_of(gb_cuda_context peer, int *result)
{
    card *other = card_of_context(peer);

    *result = other == nullptr            ? GB_CUDA_INVALID_CONTEXT
              : other == current_card()   ? GB_CUDA_INVALID_VALUE
              : set.peer == PEER_REFUSED  ? PEER_UNSUPPORTED
                                          : 0;
    return other;
}

} // namespace

card *
card_of_context(gb_cuda_context context)
{
    const auto number = contexts.find(context);

    return number == nullptr ? nullptr : card_of(*number);
}

void
contexts_forget()
{
    for (card &c : cards) {
        c.error = GB_CUDA_DEINITIALIZED;
        if (c.context != nullptr)
            destroy(&c);
    }
    current_forget();
}

int
api::context_retain(gb_cuda_context *context, int device)
{
    card *on = card_of(device);

    if (on == nullptr)
        return GB_CUDA_INVALID_DEVICE;
    if (context == nullptr)
        return GB_CUDA_INVALID_VALUE;
    if (on->compute_mode == 2)
        return GB_CUDA_UNKNOWN;
    if (on->retained++ == 0)
        on->context = contexts.add(std::make_shared<int>(device));
    *context = on->context;
    return 0;
}

int
api::context_release(int device)
{
    card *on = card_of(device);

    if (on == nullptr)
        return GB_CUDA_INVALID_DEVICE;
    if (on->retained == 0) {
        report("the context of card %d is released more often than retained",
               device);
        return GB_CUDA_INVALID_CONTEXT;
    }
    if (--on->retained == 0)
        destroy(on);
    return 0;
}

int
api::peer_enable(gb_cuda_context peer, unsigned flags)
{
    int result;
    const card *other = peer_of(peer, &result);

    if (result != 0)
        return result;
    if (flags != 0)
        return GB_CUDA_INVALID_VALUE;
    if (current_card()->peers[(size_t)other->number])
        return GB_CUDA_PEER_ACCESS_ALREADY_ENABLED;
    current_card()->peers[(size_t)other->number] = true;
    return 0;
}

int
api::peer_disable(gb_cuda_context peer)
{
    int result;
    const card *other = peer_of(peer, &result);

    if (result != 0)
        return result;
    if (!current_card()->peers[(size_t)other->number])
        return GB_CUDA_PEER_ACCESS_NOT_ENABLED;
    current_card()->peers[(size_t)other->number] = false;
    return 0;
}

} // namespace emu
