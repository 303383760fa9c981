// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/driver-memory.cpp - the cards' memory, as their contexts own it.
 */
#include "tests/gpu-emulator/driver.h"

namespace emu {

namespace {

struct allocation {
    card *on;
    size_t size;
};

std::map<gb_cuda_address, allocation> allocations;

bool
is_inside(const card *on, gb_cuda_address at, size_t size)
{
    const void *address = (const void *)(uintptr_t)at;

    return memory_owner(address, size) == on->number ||
           host_is_reachable(address, size);
}

int
give_out(gb_cuda_address *address, size_t size)
{
    card *on = current_card();
    void *memory;

    if (address == nullptr || size == 0)
        return GB_CUDA_INVALID_VALUE;
    if (size > on->memory - memory_used(on->number))
        return GB_CUDA_OUT_OF_MEMORY;
    memory = memory_alloc(on->number, size);
    if (memory == nullptr)
        return GB_CUDA_OUT_OF_MEMORY;
    counts[EMU_ALLOCATIONS]++;
    *address = (uintptr_t)memory;
    allocations[*address] = { on, size };
    return 0;
}

} // namespace

bool
is_reachable(const card *on, gb_cuda_address at, size_t size, const char *what)
{
    if (is_inside(on, at, size))
        return true;
    report("%s: %zu bytes at %#llx are not in one allocation of card %d", what,
           size, (unsigned long long)at, on->number);
    return false;
}

size_t
memory_drop(const card *on)
{
    size_t n = 0;

    for (auto at = allocations.begin(); at != allocations.end();) {
        if (at->second.on != on) {
            ++at;
            continue;
        }
        memory_free((void *)(uintptr_t)at->first);
        at = allocations.erase(at);
        n++;
    }
    return n;
}

size_t
memory_live()
{
    return allocations.size();
}

int
api::memory_info(size_t *free, size_t *total)
{
    const card *on = current_card();

    if (free == nullptr || total == nullptr)
        return GB_CUDA_INVALID_VALUE;
    *free = on->memory - memory_used(on->number);
    *total = on->memory;
    return 0;
}

int
api::memory_alloc(gb_cuda_address *address, size_t size)
{
    return give_out(address, size);
}

/* The host may write it, which nothing sees: it counts as written. */
int
api::memory_alloc_managed(gb_cuda_address *address, size_t size, unsigned flags)
{
    if (flags != GB_CUDA_MANAGED_GLOBAL)
        return GB_CUDA_INVALID_VALUE;

    const int result = give_out(address, size);

    if (result == 0)
        memory_wrote((void *)(uintptr_t)*address, size);
    return result;
}

/* Waits for the card first, as the vendor's does. */
int
api::memory_free(gb_cuda_address address)
{
    const auto at = allocations.find(address);
    const char *memory = (const char *)(uintptr_t)address;

    if (address == 0)
        return 0;
    if (at == allocations.end()) {
        report("memory_free: %#llx is not the start of memory that lives",
               (unsigned long long)address);
        return GB_CUDA_INVALID_VALUE;
    }

    card *on = at->second.on;

    if (queue_may_use({ memory, at->second.size }))
        report("memory of card %d is freed while queued work may use it",
               on->number);

    const int result = host_wait(on, [on] { return !queue_has_work(on); });

    emu::memory_free((void *)(uintptr_t)address);
    allocations.erase(at);
    return result;
}

} // namespace emu
