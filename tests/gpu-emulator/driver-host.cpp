// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/driver-host.cpp - pinned memory of the host.
 */
#include "tests/gpu-emulator/driver.h"

#include <stdlib.h>
#include <string.h>

#include <algorithm>

namespace emu {

namespace {

struct pinned {
    card *on; /* whose context it belongs to */
    size_t size;
    bool is_registered; /* the caller's memory */
};

std::map<uintptr_t, pinned> ranges;

using place = std::map<uintptr_t, pinned>::iterator;

/* The range that has ADDRESS, or the end. */
place
range_with(uintptr_t address)
{
    auto at = ranges.upper_bound(address);

    if (at == ranges.begin())
        return ranges.end();
    --at;
    return address - at->first < at->second.size ? at : ranges.end();
}

bool
overlaps_another(uintptr_t address, size_t size)
{
    const auto next = ranges.lower_bound(address);

    return range_with(address) != ranges.end() ||
           (next != ranges.end() && next->first - address < size);
}

void
add(void *memory, size_t size, bool is_registered)
{
    counts[EMU_HOST_ALLOCATIONS]++;
    ranges[(uintptr_t)memory] = { current_card(), size, is_registered };
}

void
drop(place at)
{
    if (!at->second.is_registered)
        free((void *)at->first);
    ranges.erase(at);
}

/* Waits for the card first: its work may use the memory. */
int
give_back(void *memory, bool is_registered, int failure)
{
    const auto at = ranges.find((uintptr_t)memory);

    if (at == ranges.end() || at->second.is_registered != is_registered) {
        report("%p is not pinned memory that can be %s", memory,
               is_registered ? "unregistered" : "freed");
        return failure;
    }

    card *on = at->second.on;

    if (queue_may_use({ (const char *)memory, at->second.size }))
        report("pinned memory is given back while queued work may use it");

    const int result = host_wait(on, [on] { return !queue_has_work(on); });

    drop(at);
    return result;
}

/* What nobody has written yet.  Of large allocations the beginning of each part:
 * pages that are not touched cost nothing, and most programs use few. */
static void
fill_in_parts(char *memory, size_t size)
{
    constexpr size_t part = 1 << 20, filled = 64 << 10;

    for (size_t at = 0; at < size; at += part)
        memset(memory + at, 0xa5, std::min(filled, size - at));
}

} // namespace

bool
host_is_pinned(const void *address, size_t size)
{
    const auto at = range_with((uintptr_t)address);

    return at != ranges.end() &&
           size <= at->second.size - ((uintptr_t)address - at->first);
}

bool
host_is_reachable(const void *address, size_t size)
{
    const bool is_a_cards = memory_owner(address, 1) >= 0;

    if (is_a_cards || host_is_pinned(address, size))
        return !is_a_cards;
    for (const card &c : cards)
        if (c.pageable == 2)
            return true;
    return false;
}

size_t
host_drop(const card *on)
{
    size_t n = 0;

    for (auto at = ranges.begin(); at != ranges.end();) {
        const auto next = std::next(at);

        if (at->second.on == on) {
            drop(at);
            n++;
        }
        at = next;
    }
    return n;
}

size_t
host_live()
{
    return ranges.size();
}

int
api::host_alloc(void **memory, size_t size, unsigned flags)
{
    void *got;

    if (memory == nullptr || size == 0 || (flags & ~7u) != 0)
        return GB_CUDA_INVALID_VALUE;
    if (size > SIZE_MAX / 2 || posix_memalign(&got, 4096, size) != 0)
        return GB_CUDA_OUT_OF_MEMORY;
    fill_in_parts((char *)got, size);
    add(got, size, false);
    *memory = got;
    return 0;
}

int
api::host_free(void *memory)
{
    return memory == nullptr ? 0
                             : give_back(memory, false, GB_CUDA_INVALID_VALUE);
}

int
api::host_register(void *memory, size_t size, unsigned flags)
{
    if (memory == nullptr || size == 0 || (flags & ~15u) != 0)
        return GB_CUDA_INVALID_VALUE;
    if (overlaps_another((uintptr_t)memory, size))
        return GB_CUDA_HOST_MEMORY_ALREADY_REGISTERED;
    add(memory, size, true);
    return 0;
}

int
api::host_unregister(void *memory)
{
    return give_back(memory, true, GB_CUDA_HOST_MEMORY_NOT_REGISTERED);
}

/* All cards see the host's memory where the host does. */
int
api::host_address(gb_cuda_address *address, void *memory, unsigned flags)
{
    if (address == nullptr || flags != 0 || !host_is_pinned(memory, 1))
        return GB_CUDA_INVALID_VALUE;
    *address = (uintptr_t)memory;
    return 0;
}

} // namespace emu
