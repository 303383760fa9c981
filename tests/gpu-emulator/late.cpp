/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/late.cpp - copies to shared memory that go on beside the thread.
 *
 * A copy of cp.async is made when the thread waits for it, not earlier (PTX ISA,
 * "Data Movement and Conversion Instructions: Asynchronous copy"): a wait too
 * few leaves old data, and reading them is reported.
 */
#include "tests/gpu-emulator/check.h"
#include "tests/gpu-emulator/count.h"

#include <string.h>

namespace emu {

namespace {

constexpr int copied = 16; /* bytes */

void
arrive(fiber *f, const late_copy &c, const void *pc)
{
    memcpy(c.to, c.from, (size_t)c.valid_bytes);
    memset((char *)c.to + c.valid_bytes, 0, (size_t)(copied - c.valid_bytes));
    check_copy_arrives(f, (uintptr_t)c.to, copied, pc);
}

/* Those of all groups but the last N_PENDING, in order. */
void
arrive_all_but(fiber *f, unsigned n_pending, const void *pc)
{
    late_copies *const copies = &f->in->copies[f->thread];
    std::vector<late_copy> *const list = &copies->list;
    size_t n = 0;

    while (n < list->size() && (*list)[n].group + n_pending < copies->n_groups)
        arrive(f, (*list)[n++], pc);
    list->erase(list->begin(), list->begin() + (long)n);
}

} // namespace
} // namespace emu

extern "C" void
gb_emu_cp_async_16(void *shared, const void *global, int valid_bytes)
{
    emu::fiber *const f = emu::this_fiber();
    const void *const pc = __builtin_return_address(0);
    emu::late_copies *const copies = &f->in->copies[f->thread];

    if (valid_bytes < 0 || valid_bytes > emu::copied ||
        (uintptr_t)shared % emu::copied != 0 ||
        (uintptr_t)global % emu::copied != 0) {
        complain(f, pc, "cp.async: addresses must be multiples of 16, at most "
                        "16 bytes valid");
        f->in->stop(emu::misaligned_address);
    }
    if (valid_bytes > 0)
        emu::check_access(f, (uintptr_t)global, (size_t)valid_bytes,
                          emu::reads, pc);
    if (emu::counting) {
        if (valid_bytes > 0)
            emu::count_access(f, (uintptr_t)global, (size_t)valid_bytes,
                              emu::reads, pc);
        emu::count_access(f, (uintptr_t)shared, emu::copied, emu::writes,
                          (const char *)pc + 1);
    }
    emu::check_copy_begins(f, (uintptr_t)shared, emu::copied, pc);
    copies->list.push_back({ shared, global, valid_bytes, copies->n_groups });
}

extern "C" void
gb_emu_cp_async_commit()
{
    emu::fiber *const f = emu::this_fiber();

    f->in->copies[f->thread].n_groups++;
}

extern "C" void
gb_emu_cp_async_wait(int n_pending)
{
    emu::arrive_all_but(emu::this_fiber(), (unsigned)n_pending,
                        __builtin_return_address(0));
}
