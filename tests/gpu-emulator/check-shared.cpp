/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/check-shared.cpp - accesses to shared memory, those of copies
 * that arrive late and of wgmma too.
 */
#include "tests/gpu-emulator/order.h"

namespace emu {

namespace {

shared_cell *
fresh_cell(fiber *f, uintptr_t address)
{
    shared_cell *const cell = f->in->shared.cell(address);

    if (cell->serial != f->in->serial)
        *cell = { 0, 0, 0, f->in->serial, 0, 0, 0 };
    return cell;
}

/* Of shared memory, a write that is marked is TMA's: whoever waited after it
 * came sees it. */
constexpr uint64_t stamp_tma = stamp_many;

bool
is_write_race(const fiber *f, uint64_t write, uint64_t now)
{
    if ((write & stamp_tma) != 0 &&
        stamp_clock(write) < f->in->async.waited[f->thread])
        return false;
    return is_race(f, write, now);
}

void
shared_read(fiber *f, shared_cell *cell, uint64_t now, uintptr_t address,
            const void *pc)
{
    if (is_write_race(f, cell->write, now))
        tell_race(f, address, reads, cell->write, "wrote", pc);
    if (!same_thread(cell->read, now))
        cell->other_read = cell->read;
    cell->read = joined(cell->read, now);
}

void
shared_write(fiber *f, shared_cell *cell, uint64_t now, uintptr_t address,
             access what, const void *pc)
{
    if (is_write_race(f, cell->write, now))
        tell_race(f, address, what, cell->write, "wrote", pc);
    if (is_race(f, cell->read, now))
        tell_race(f, address, what, cell->read, "read", pc);
    else if (is_race(f, cell->other_read, now))
        tell_race(f, address, what, cell->other_read, "read", pc);
    cell->write = joined(cell->write, now);
}

void
shared_word(fiber *f, uintptr_t word, unsigned bytes, access what,
            const void *pc)
{
    shared_cell *const cell = fresh_cell(f, word);
    const uint64_t now = stamp_now(f, bytes, what);

    if ((cell->late & bytes) != 0)
        complain(f, pc, "%s shared memory that a copy fills, before a wait "
                        "for that", verb(what));
    else if (what != writes && (bytes & ~cell->written) != 0)
        tell_unwritten(f, word, 4, what, pc);
    if (what == reads) {
        shared_read(f, cell, now, word, pc);
        return;
    }
    if (cell->held > 0)
        complain(f, pc, "%s shared memory that wgmma reads, before a wait for "
                        "that", verb(what));
    shared_write(f, cell, now, word, what, pc);
    cell->written = (uint8_t)(cell->written | bytes);
}

} // namespace

void
check_shared(fiber *f, uintptr_t at, size_t size, access what,
              const void *pc)
{
    if (!f->in->shared.allows(at, size)) {
        tell_outside(f, at, size, what, pc);
        return;
    }
    for (uintptr_t word = at & ~(uintptr_t)3; word < at + size; word += 4)
        shared_word(f, word, bytes_of(word, at, size), what, pc);
}

/* ---- copies that arrive late ---- */

void
check_copy_begins(fiber *f, uintptr_t to, size_t size, const void *pc)
{
    if (!checks())
        return;
    if (!f->in->shared.allows(to, size)) {
        tell_outside(f, to, size, writes, pc);
        f->in->stop(illegal_address);
    }
    check_shared(f, to, size, writes, pc);
    for (size_t i = 0; i < size; i += 4)
        fresh_cell(f, to + i)->late = 15;
}

void
check_copy_arrives(fiber *f, uintptr_t to, size_t size, const void *pc)
{
    if (!checks())
        return;
    for (size_t i = 0; i < size; i += 4)
        fresh_cell(f, to + i)->late = 0;
    check_shared(f, to, size, writes, pc);
}

/* ---- what goes on beside the threads ---- */

void
check_tma_arrives(fiber *f, uintptr_t to, size_t size)
{
    if (!checks())
        return;
    f->in->clock++;
    for (size_t i = 0; i < size; i += 4) {
        shared_cell *const cell = fresh_cell(f, to + i);

        cell->late = 0;
        cell->written = 15;
        cell->write = stamp_now(f, 15, writes) | stamp_tma;
    }
}

namespace {

/* Did the thread that wrote it have its stores seen by others than threads, and
 * then a barrier with F's, or an arrival for which F's warp waited? */
bool
is_fenced(const fiber *f, uint64_t write)
{
    const async_state &s = f->in->async;
    const unsigned by = stamp_thread(write);

    if ((write & stamp_tma) != 0)
        return true;
    if (by / GB_WARP == f->warp)
        return stamp_clock(write) < s.fence[by];
    return stamp_clock(write) < s.fence_before_barrier[by] ||
           (!s.shown.empty() &&
            stamp_clock(write) < s.shown[f->warp * f->in->n_threads + by]);
}

} // namespace

void
check_mma_begins(fiber *f, uintptr_t at, size_t size, const void *pc)
{
    if (!checks())
        return;
    if (!f->in->shared.allows(at, size)) {
        tell_outside(f, at, size, reads, pc);
        f->in->stop(illegal_address);
    }
    for (size_t i = 0; i < size; i += 4) {
        shared_cell *const cell = fresh_cell(f, at + i);

        shared_word(f, at + i, 15, reads, pc);
        if (cell->written != 0 && !is_fenced(f, cell->write))
            complain(f, pc, "wgmma reads what thread %u wrote without a fence "
                            "for the async proxy, and a barrier, after it",
                     stamp_thread(cell->write));
        cell->held++;
    }
}

void
check_mma_ends(fiber *f, uintptr_t at, size_t size, const void *pc)
{
    if (!checks())
        return;
    for (size_t i = 0; i < size; i += 4) {
        shared_cell *const cell = fresh_cell(f, at + i);

        cell->held--;
        shared_read(f, cell, stamp_now(f, 15, reads), at + i, pc);
    }
}

} // namespace emu
