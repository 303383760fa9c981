/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/kernels/guard.h - memory that ends where nothing may be read.
 */
#ifndef GB_TESTS_CPU_KERNELS_GUARD_H
#define GB_TESTS_CPU_KERNELS_GUARD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct guarded {
    void *data; /* SIZE bytes, behind which a page follows that is not there */
    void *map;
    size_t mapped;
};

static inline struct guarded
guarded_new(size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t whole = (size + page - 1) / page * page;
    struct guarded g = { .mapped = whole + page };

    g.map = mmap(NULL, g.mapped, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (g.map == MAP_FAILED)
        return (struct guarded){ 0 };
    mprotect((char *)g.map + whole, page, PROT_NONE);
    g.data = (char *)g.map + whole - size;
    return g;
}

static inline void
guarded_free(struct guarded *g)
{
    if (g->map != NULL)
        munmap(g->map, g->mapped);
}

#endif
