/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/memory.cpp - the cards' memory.
 */
#include "tests/gpu-emulator/memory.h"

#include "tests/gpu-emulator/emulator.h"
#include "tests/gpu-emulator/forbid.h"
#include "tests/gpu-emulator/shared.h"

#include <string.h>
#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <mutex>

namespace emu {

memory_range device_memory;

namespace {

constexpr uintptr_t page = 4096;
constexpr size_t alignment = 256; /* what the vendor's driver promises */
constexpr size_t GiB = (size_t)1 << 30;
/* What is tried first; less where the system refuses. */
constexpr size_t most_memory = 512 * GiB, least_memory = 8 * GiB;

/*
 * Bytes between allocations.  Around large ones there are as many as an offset
 * that was cut to 32 bits, in elements of four bytes, can be wrong by.
 */
constexpr size_t gap = 64 << 10, large_gap = 8 * GiB, large = GiB;

/* Of larger allocations, only so much at both ends is filled. */
constexpr size_t most_filled = 32 << 20, filled_end = 1 << 20;

struct piece {
    size_t size;
    int card;
    bool lives;
};

std::mutex memory_lock;
std::map<uintptr_t, piece> pieces; /* by address */
std::map<int, size_t> used;        /* bytes by card */
uintptr_t next_address;

/* ---- the range ---- */

void *
reserve(size_t size)
{
    void *const at = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return at == MAP_FAILED ? nullptr : at;
}

/* Memory, a bit for each of its bytes, a cell for each four of them. */
bool
reserve_all(size_t size)
{
    const size_t cells = size / 4 * sizeof(race_cell);
    char *const at = (char *)reserve(size + cells + size / 8);

    if (at == nullptr)
        return false;
    device_memory = { (uintptr_t)at, size, (uint8_t *)(at + size + cells),
                      (race_cell *)(at + size) };
    next_address = device_memory.first;
    return true;
}

bool
have_range()
{
    for (size_t size = most_memory;
         device_memory.size == 0 && size >= least_memory; size /= 2)
        if (reserve_all(size))
            break;
    return device_memory.size != 0;
}

/* ---- pages ---- */

/* Give the whole pages of a part back, which then reads as zeros. */
void
drop_pages(void *at, size_t size)
{
    const uintptr_t first = ((uintptr_t)at + page - 1) & ~(page - 1);
    const uintptr_t end = ((uintptr_t)at + size) & ~(page - 1);

    if (end > first)
        madvise((void *)first, end - first, MADV_DONTNEED);
}

/* As above, and the rest of it is set to zero. */
void
clear(uint8_t *at, size_t size)
{
    const size_t head =
        std::min<size_t>(size, (size_t)(-(uintptr_t)at & (page - 1)));
    const size_t tail = (size - head) % page;

    memset(at, 0, head);
    drop_pages(at + head, size - head - tail);
    memset(at + size - tail, 0, tail);
}

void
fill(uintptr_t address, size_t size)
{
    if (size <= most_filled) {
        memset((void *)address, poison, size);
        return;
    }
    memset((void *)address, poison, filled_end);
    memset((void *)(address + size - filled_end), poison, filled_end);
}

/* ---- places ---- */

size_t
gap_of(size_t size)
{
    return size >= large ? large_gap : gap;
}

/*
 * Not aligned to more than is promised, so that a kernel that relies on more is
 * found out.
 */
uintptr_t
first_from(uintptr_t address, size_t size)
{
    const uintptr_t at = (address + gap_of(size) + page - 1) & ~(page - 1);

    return at + alignment;
}

bool
fits(uintptr_t at, size_t size, uintptr_t end)
{
    return at < end && end - at > size && end - at - size > gap_of(size);
}

/* Between what is still there, freed memory used again. */
uintptr_t
find_gap(size_t size)
{
    uintptr_t free_from = device_memory.first;

    for (auto i = pieces.begin(); i != pieces.end();)
        i = i->second.lives ? std::next(i) : pieces.erase(i);
    for (const auto &p : pieces) {
        const uintptr_t at = first_from(free_from, size);

        if (fits(at, size, p.first))
            return at;
        free_from = p.first + p.second.size + gap_of(p.second.size);
    }
    const uintptr_t at = first_from(free_from, size);

    return fits(at, size, device_memory.first + device_memory.size) ? at : 0;
}

uintptr_t
place(size_t size)
{
    uintptr_t at = first_from(next_address, size);

    if (size >= device_memory.size)
        return 0;
    if (!fits(at, size, device_memory.first + device_memory.size))
        at = find_gap(size);
    if (at != 0)
        next_address = at + size + gap_of(size);
    return at;
}

} // namespace

/* ---- allocations ---- */

void *
memory_alloc(int card, size_t size)
{
    const std::lock_guard<std::mutex> alone(memory_lock);
    uintptr_t at;

    if (!have_range())
        return nullptr;
    at = place(size);
    if (at == 0)
        return nullptr;
    pieces[at] = { size, card, true };
    used[card] += size;
    forbid((void *)(at - gap), gap);
    allow((void *)at, size);
    forbid((void *)(at + size), gap);
    fill(at, size);
    return (void *)at;
}

bool
memory_free(void *address)
{
    const std::lock_guard<std::mutex> alone(memory_lock);
    const auto found = pieces.find((uintptr_t)address);

    if (found == pieces.end() || !found->second.lives)
        return false;
    const size_t size = found->second.size;
    const size_t at = (uintptr_t)address - device_memory.first;

    found->second.lives = false;
    used[found->second.card] -= size;
    clear(device_memory.written + at / 8, (size + 7) / 8);
    drop_pages(device_memory.cells + at / 4, size / 4 * sizeof(race_cell));
    drop_pages(address, size);
    forbid(address, std::min(size, most_filled));
    return true;
}

size_t
memory_used(int card)
{
    const std::lock_guard<std::mutex> alone(memory_lock);
    const auto found = used.find(card);

    return found == used.end() ? 0 : found->second;
}

allocation
memory_find(uintptr_t address)
{
    const std::lock_guard<std::mutex> alone(memory_lock);
    auto found = pieces.upper_bound(address);

    if (found == pieces.begin())
        return { 0, 0, -1, false };
    --found;
    return { found->first, found->second.size, found->second.card,
             found->second.lives };
}

int
memory_owner(const void *address, size_t size)
{
    const allocation a = memory_find((uintptr_t)address);
    const size_t offset = (uintptr_t)address - a.address;

    return a.address != 0 && a.lives && offset < a.size &&
                   size <= a.size - offset
               ? a.card
               : -1;
}

/* ---- what was written ---- */

bool
written_all(size_t at, size_t size)
{
    const uint8_t *const bits = device_memory.written;

    for (; size > 0 && at % 8 != 0; at++, size--)
        if ((bits[at / 8] >> at % 8 & 1) == 0)
            return false;
    for (; size >= 8; at += 8, size -= 8)
        if (bits[at / 8] != 0xff)
            return false;
    for (; size > 0; at++, size--)
        if ((bits[at / 8] >> at % 8 & 1) == 0)
            return false;
    return true;
}

/* Neighbours may be set by other threads at the same time. */
static void
set_bits(size_t at, unsigned bits)
{
    __atomic_fetch_or(
        &device_memory.written[at / 8], (uint8_t)bits, __ATOMIC_RELAXED);
}

void
written_set(size_t at, size_t size)
{
    const size_t end = at + size;

    if (at / 8 == (end - 1) / 8) {
        set_bits(at, ((1u << size) - 1) << at % 8);
        return;
    }
    if (at % 8 != 0)
        set_bits(at, 0xffu << at % 8);
    memset(device_memory.written + (at + 7) / 8, 0xff, end / 8 - (at + 7) / 8);
    if (end % 8 != 0)
        set_bits(end, (1u << end % 8) - 1);
}

/* Memory of the host that a card reaches counts as written. */
static bool
is_of_a_card(const void *address)
{
    return (uintptr_t)address - device_memory.first < device_memory.size;
}

void
memory_wrote(void *to, size_t size)
{
    if (size > 0 && is_of_a_card(to))
        written_set((uintptr_t)to - device_memory.first, size);
}

bool
memory_is_written(const void *from, size_t size)
{
    return !checks() || !is_of_a_card(from) ||
           written_all((uintptr_t)from - device_memory.first, size);
}

static void
copy_bit(size_t to, size_t from)
{
    const uint8_t bit = (uint8_t)(1 << to % 8);
    uint8_t *const at = &device_memory.written[to / 8];

    if ((device_memory.written[from / 8] >> from % 8 & 1) != 0)
        *at |= bit;
    else
        *at &= (uint8_t)~bit;
}

void
memory_copied(void *to, const void *from, size_t size)
{
    uint8_t *const bits = device_memory.written;
    size_t at = (uintptr_t)to - device_memory.first;
    size_t source = (uintptr_t)from - device_memory.first;

    if (!is_of_a_card(to))
        return;
    if (!is_of_a_card(from)) {
        memory_wrote(to, size);
        return;
    }
    if (at % 8 == source % 8) {
        for (; size > 0 && at % 8 != 0; at++, source++, size--)
            copy_bit(at, source);
        memmove(bits + at / 8, bits + source / 8, size / 8);
        at += size / 8 * 8;
        source += size / 8 * 8;
        size %= 8;
    }
    for (; size > 0; at++, source++, size--)
        copy_bit(at, source);
}

void
memory_forget_races()
{
    if (device_memory.size != 0)
        drop_pages(
            device_memory.cells, device_memory.size / 4 * sizeof(race_cell));
}

} // namespace emu
