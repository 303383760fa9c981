/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/shared.cpp - where a worker's shared memory is.
 */
#include "tests/gpu-emulator/shared.h"

#include "tests/gpu-emulator/forbid.h"

#include <link.h>
#include <string.h>
#include <sys/mman.h>

namespace emu {

namespace {

/* More dynamic shared memory than any card has. */
constexpr size_t most_dynamic = 256 << 10;
constexpr size_t guard_size = 64 << 10;
/* What a launch asks for begins at a multiple of 16, and of nothing more. */
constexpr size_t offset = 16;

/* So that there is a thread-local part, which a first access makes. */
thread_local char anchor;

/* What dl_iterate_phdr() tells of the object that has this function. */
struct object {
    uintptr_t low, high;
    uintptr_t zeroes, zeroes_size;
};

void
find_range(const dl_phdr_info *info, const ElfW(Phdr) *p, object *found)
{
    const uintptr_t low = info->dlpi_addr + p->p_vaddr;
    const uintptr_t high = low + p->p_memsz;

    if (low < found->low)
        found->low = low;
    if (high > found->high)
        found->high = high;
}

int
look_at(dl_phdr_info *info, size_t, void *result)
{
    object here = { UINTPTR_MAX, 0, 0, 0 };

    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *const p = &info->dlpi_phdr[i];

        if (p->p_type == PT_LOAD)
            find_range(info, p, &here);
        if (p->p_type == PT_TLS && info->dlpi_tls_data != nullptr) {
            here.zeroes = (uintptr_t)info->dlpi_tls_data + p->p_filesz;
            here.zeroes_size = p->p_memsz - p->p_filesz;
        }
    }
    if ((uintptr_t)&look_at - here.low >= here.high - here.low)
        return 0;
    *(object *)result = here;
    return 1;
}

/* NULL: no memory. */
void *
map_pages(size_t size)
{
    void *const at = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return at == MAP_FAILED ? nullptr : at;
}

} // namespace

shared_memory::shared_memory()
    : image(0), image_size(0), fixed(0), fixed_size(0), dynamic(0),
      dynamic_size(0), arena(0), arena_size(0), cells(nullptr), cells_size(0)
{
}

shared_memory::~shared_memory()
{
    if (arena != 0)
        munmap((void *)arena, arena_size);
    if (cells != nullptr)
        munmap(cells, cells_size);
}

bool
shared_memory::prepare(size_t size)
{
    object here = { 0, 0, 0, 0 };

    *(volatile char *)&anchor = 0;
    dl_iterate_phdr(look_at, &here);
    image = here.low;
    image_size = here.high - here.low;
    fixed = here.zeroes;
    fixed_size = here.zeroes_size;
    if (size > most_dynamic)
        return false;
    if (arena == 0) {
        arena = (uintptr_t)map_pages(most_dynamic + 2 * guard_size);
        arena_size = arena == 0 ? 0 : most_dynamic + 2 * guard_size;
    }
    if (cells == nullptr) {
        cells_size = ((arena_size + fixed_size) / 4 + 2) * sizeof(*cells);
        cells = (shared_cell *)map_pages(cells_size);
    }
    if (arena == 0 || cells == nullptr)
        return false;
    dynamic = window() + offset;
    dynamic_size = size;
    allow((void *)arena, arena_size);
    forbid((void *)arena, guard_size);
    forbid((void *)(dynamic + size), arena + arena_size - dynamic - size);
    return true;
}

uintptr_t
shared_memory::window() const
{
    return arena + guard_size;
}

void
shared_memory::poison_dynamic()
{
    memset((void *)dynamic, poison, dynamic_size);
}

void
shared_memory::poison_fixed()
{
    memset((void *)fixed, poison, fixed_size);
}

} // namespace emu
