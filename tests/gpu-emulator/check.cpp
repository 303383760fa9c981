/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/check.cpp - accesses of kernels, compared with what is known of
 * each byte.
 *
 * Each word of four bytes has a cell with its last write and read.  Two accesses
 * are a race when one of them is a write, they are not both atomic, different
 * threads made them and nothing lies between them that orders the two: within a
 * warp __syncwarp() with both lanes, within a block a barrier, between blocks of
 * a launch only fences and atomic operations.  What an earlier launch did is
 * over, but where a launch may begin before those in front have ended: until a
 * thread has waited for them it may write nothing, and not read what they wrote.
 */
#include "tests/gpu-emulator/check.h"
#include "tests/gpu-emulator/order.h"

#include <stdio.h>

namespace emu {

const char *
verb(access what)
{
    static const char *const verbs[] = { "reads", "writes",
                                         "changes atomically" };

    return verbs[what];
}

/* ---- reports ---- */

namespace {

/* "offset 8 of an allocation of 64 bytes": where ADDRESS is. */
void
describe(const fiber *f, uintptr_t address, char *text, size_t size)
{
    const shared_memory &shared = f->in->shared;

    if (address - shared.fixed < shared.fixed_size) {
        snprintf(text, size, "static shared memory (+%zu)",
                 (size_t)(address - shared.fixed));
        return;
    }
    if (shared.has(address)) {
        snprintf(text, size, "offset %td of %zu bytes of dynamic shared memory",
                 (ptrdiff_t)(address - shared.dynamic), shared.dynamic_size);
        return;
    }
    const allocation a = memory_find(address);

    if (a.address == 0)
        snprintf(text, size, "memory before all allocations");
    else
        snprintf(text, size, "offset %zu of %s of %zu bytes",
                 (size_t)(address - a.address),
                 a.lives ? "an allocation" : "freed memory", a.size);
}

} // namespace

void
tell_outside(fiber *f, uintptr_t address, size_t size, access what,
             const void *pc)
{
    char where[128];

    describe(f, address, where, sizeof(where));
    complain(f, pc, "%s %zu bytes outside: %s", verb(what), size, where);
    f->in->failed(illegal_address);
}

void
tell_unwritten(fiber *f, uintptr_t address, size_t size, access what,
               const void *pc)
{
    char where[128];

    describe(f, address, where, sizeof(where));
    complain(f, pc, "%s %zu bytes of which some were never written: %s",
             verb(what), size, where);
}

void
tell_race(fiber *f, uintptr_t address, access what, uint64_t other,
          const char *other_did, const void *pc)
{
    char where[128];

    describe(f, address, where, sizeof(where));
    complain(f, pc,
             "race: %s what thread %u of %s %u %s, with nothing between: %s",
             verb(what), stamp_thread(other),
             same_block(other, f->stamp) ? "the same block" : "block",
             stamp_block(other), other_did, where);
}

namespace {

uint32_t n_atomics; /* of all blocks; changed atomically */

/* ---- a word of the cards' memory ---- */

uint64_t
load(const uint64_t *at)
{
    return __atomic_load_n(at, __ATOMIC_RELAXED);
}

void
store(uint64_t *at, uint64_t value)
{
    __atomic_store_n(at, value, __ATOMIC_RELAXED);
}

void
global_read(fiber *f, race_cell *cell, uint64_t now, uintptr_t address,
            const void *pc)
{
    const uint64_t write = load(&cell->write), read = load(&cell->read);
    uint64_t next = now;

    if (same_launch(write, now) && is_race(f, write, now))
        tell_race(f, address, reads, write, "wrote", pc);
    if (same_launch(read, now)) {
        next = joined(read, now) | (read & stamp_many);
        if (!same_block(read, now) && same_bytes(read, now))
            next |= stamp_many;
    }
    if (next != read)
        store(&cell->read, next);
}

/* Did blocks read it that the cell has no room for? */
bool
many_read(const fiber *f, uint64_t read, uint64_t now)
{
    return (read & stamp_many) != 0 && same_launch(read, now) &&
           same_bytes(read, now) && f->in->acquired == 0;
}

void
global_write(fiber *f, race_cell *cell, uint64_t now, uintptr_t address,
             access what, const void *pc)
{
    const uint64_t write = load(&cell->write), read = load(&cell->read);

    if (same_launch(write, now) && is_race(f, write, now))
        tell_race(f, address, what, write, "wrote", pc);
    if (same_launch(read, now) &&
        (is_race(f, read, now) || many_read(f, read, now)))
        tell_race(f, address, what, read, "read", pc);
    store(&cell->write, joined(write, now));
}

void
global_races(fiber *f, uintptr_t at, size_t size, access what, const void *pc)
{
    for (uintptr_t word = at & ~(uintptr_t)3; word < at + size; word += 4) {
        race_cell *const cell =
            device_memory.cells + (word - device_memory.first) / 4;
        const uint64_t now = stamp_now(f, bytes_of(word, at, size), what);

        if (what == reads)
            global_read(f, cell, now, word, pc);
        else
            global_write(f, cell, now, word, what, pc);
    }
}

/* ---- the cards' memory ---- */

bool
is_inside(const allocation &a, uintptr_t address, size_t size)
{
    const size_t offset = address - a.address;

    return a.address != 0 && a.lives && offset < a.size &&
           size <= a.size - offset;
}

/* Not all bytes are known as written: is it wrong, or are they from now on? */
bool
allow_unwritten(fiber *f, uintptr_t address, size_t size, access what,
                const void *pc)
{
    allocation *const a = &f->in->near;

    if (!is_inside(*a, address, size))
        *a = memory_find(address);
    if (!is_inside(*a, address, size)) {
        tell_outside(f, address, size, what, pc);
        return false;
    }
    if (what != writes)
        tell_unwritten(f, address, size, what, pc);
    if (what != reads)
        written_set(address - device_memory.first, size);
    return true;
}

/* ---- before the launches in front have ended ---- */

/* Did one of these write the word? */
bool
wrote_in_front(const fiber *f, uint64_t write)
{
    const uint32_t before = launches_between(write, f->stamp);

    return write != 0 && before > 0 && before <= f->in->of->n_in_front;
}

void
early_access(fiber *f, uintptr_t at, size_t size, access what, const void *pc)
{
    bool is_wrong = what != reads;
    char where[128];

    for (uintptr_t word = at & ~(uintptr_t)3; word < at + size; word += 4)
        is_wrong |= wrote_in_front(
            f, load(&device_memory
                         .cells[(word - device_memory.first) / 4]
                         .write));
    if (!is_wrong)
        return;
    describe(f, at, where, sizeof(where));
    complain(f, pc, "%s before it waits for the launches in front: %s",
             verb(what), where);
}

inline bool
is_written(uintptr_t at, size_t size)
{
    if (at % 8 + size <= 8)
        return (~device_memory.written[at / 8] >> at % 8 &
                ((1u << size) - 1)) == 0;
    return written_all(at, size);
}

void
global_access(fiber *f, uintptr_t address, size_t size, access what,
              const void *pc)
{
    if (!is_written(address - device_memory.first, size) &&
        !allow_unwritten(f, address, size, what, pc))
        return;
    if (f->is_early)
        early_access(f, address, size, what, pc);
    global_races(f, address, size, what, pc);
}

/* ---- neither ---- */

/*
 * Constant tables of the kernels' library, and the host's pinned memory, are
 * right.  All else is memory that a card would not have.
 */
void
other_access(fiber *f, uintptr_t address, size_t size, access what,
             const void *pc)
{
    const shared_memory &shared = f->in->shared;

    if (is_local(f, address) ||
        (address - shared.image < shared.image_size && what == reads) ||
        host_is_reachable((const void *)address, size))
        return;
    complain(f, pc, "%s %zu bytes that are no memory of the card: %#zx",
             verb(what), size, (size_t)address);
    f->in->stop(illegal_address);
}

} // namespace

void
check_access(fiber *f, uintptr_t address, size_t size, access what,
             const void *pc)
{
    if (!checks())
        return;
    if (address - device_memory.first < device_memory.size)
        global_access(f, address, size, what, pc);
    else if (f->in->shared.has(address))
        check_shared(f, address, size, what, pc);
    else
        other_access(f, address, size, what, pc);
}

/* ---- order between blocks ---- */

void
check_fence(fiber *f)
{
    f->in->fence_clock = ++f->in->clock;
}

void
check_atomic_done(fiber *f)
{
    block *const b = f->in;
    const uint32_t n = __atomic_add_fetch(&n_atomics, 1, __ATOMIC_SEQ_CST);

    b->acquired = n;
    __atomic_store_n(&b->of->releases[stamp_block(f->stamp)],
                     (uint64_t)b->fence_clock << 32 | n, __ATOMIC_SEQ_CST);
}

void
check_ends(const fiber *f)
{
    if (f->is_early)
        complain(f, nullptr, "ends and has not waited for the launches in front");
}

void
check_begins(grid *g, uint64_t n_blocks)
{
    g->releases.assign(std::min<uint64_t>(n_blocks, 1u << block_bits), 0);
    if (g->serial % (1u << launch_bits) == 0)
        memory_forget_races();
    __atomic_store_n(&n_atomics, 0, __ATOMIC_SEQ_CST);
}

} // namespace emu
