/* SPDX-License-Identifier: MIT */
/*
 * base/mem.c - the one place that asks the system for memory.
 */
#include "config.h"

#include "lib/base/mem.h"

#include "lib/base/checked.h"

#ifdef GB_FAULT_INJECTION
#include <stdatomic.h>
#endif
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/*
 * Blocks of at least twice this size ask for pages of it (madvise(2)), but not
 * for their first bytes: a page is cleared as a whole when it is touched, which
 * is a waste where a large block was asked for and little is used.  Walks over
 * graphs of 100,000 nodes take 0.6 of the time.
 */
#define LARGE_PAGE ((size_t)2 << 20)

#ifdef GB_FAULT_INJECTION
static gb_mem_fault_fn fault_hook;
static void *fault_data;
static atomic_size_t n_blocks;

void
gb_mem_set_fault(gb_mem_fault_fn hook, void *data)
{
    fault_hook = hook;
    fault_data = data;
}

static bool
is_made_to_fail(void)
{
    return fault_hook != NULL && fault_hook(fault_data);
}

/* Relaxed: the count is read when all threads are done. */
size_t
gb_mem_n_blocks(void)
{
    return atomic_load_explicit(&n_blocks, memory_order_relaxed);
}

static void
count_given(void)
{
    atomic_fetch_add_explicit(&n_blocks, 1, memory_order_relaxed);
}

static void
count_freed(void)
{
    atomic_fetch_sub_explicit(&n_blocks, 1, memory_order_relaxed);
}
#else
static bool
is_made_to_fail(void)
{
    return false;
}

static void
count_given(void)
{
}

static void
count_freed(void)
{
}
#endif

/* Ask for large pages, where there are any; nothing depends on the answer. */
static void
advise(void *block, size_t size)
{
#ifdef MADV_HUGEPAGE
    const uintptr_t begin = (uintptr_t)block + LARGE_PAGE;
    const uintptr_t first = (begin + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
    const uintptr_t end = ((uintptr_t)block + size) & ~(LARGE_PAGE - 1);

    if (first < end)
        madvise((void *)first, end - first, MADV_HUGEPAGE);
#else
    (void)block;
    (void)size;
#endif
}

/* A block of SIZE bytes that is new or has moved, or NULL. */
static void *
advised(void *block, size_t size)
{
    if (block != NULL && size >= 2 * LARGE_PAGE)
        advise(block, size);
    return block;
}

/* A new block of SIZE bytes, or NULL. */
static void *
counted(void *block, size_t size)
{
    if (block != NULL)
        count_given();
    return advised(block, size);
}

static void
release(void *block)
{
    if (block != NULL)
        count_freed();
    free(block);
}

/* No object is larger than a difference of pointers within it can be. */
static bool
must_fail(size_t size)
{
    return size > PTRDIFF_MAX || is_made_to_fail();
}

/* A block of no bytes is a block too, so that NULL always means failure. */
static size_t
at_least_one(size_t size)
{
    return size > 0 ? size : 1;
}

void *
gb_mem_alloc(size_t size)
{
    if (must_fail(size))
        return NULL;
    return counted(malloc(at_least_one(size)), size);
}

void *
gb_mem_zalloc(size_t count, size_t size)
{
    size_t bytes;

    if (!gb_mul_size(count, size, &bytes) || must_fail(bytes))
        return NULL;
    return counted(calloc(1, at_least_one(bytes)), bytes);
}

void *
gb_mem_realloc(void *ptr, size_t count, size_t size)
{
    size_t bytes;

    if (!gb_mul_size(count, size, &bytes) || must_fail(bytes))
        return NULL;
    if (ptr == NULL)
        return counted(malloc(at_least_one(bytes)), bytes);
    return advised(realloc(ptr, at_least_one(bytes)), bytes);
}

void
gb_mem_free(void *ptr)
{
    release(ptr);
}

char *
gb_mem_strdup(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = gb_mem_alloc(size);

    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}

void *
gb_mem_alloc_aligned(size_t size, size_t align)
{
    void *ptr = NULL;

    if (must_fail(size))
        return NULL;
    if (align < sizeof(void *))
        align = sizeof(void *);
    if (posix_memalign(&ptr, align, at_least_one(size)) != 0)
        return NULL;
    return counted(ptr, size);
}

void
gb_mem_free_aligned(void *ptr)
{
    release(ptr);
}

void *
gb_mem_map(size_t size)
{
    void *ptr;

    if (must_fail(size))
        return NULL;
    ptr = mmap(NULL, size, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return counted(ptr != MAP_FAILED ? ptr : NULL, size);
}

void
gb_mem_unmap(void *ptr, size_t size)
{
    count_freed();
    munmap(ptr, size);
}

/*
 * A large page is cleared as a whole, wherever in it something is written.
 * Memory that has to be zero is filled piece by piece, in as many places as it
 * holds tensors, often some dozens: so less than a few hundred large pages would
 * all be taken at once.
 */
static void
advise_sparse(void *ptr, size_t size)
{
#ifdef MADV_NOHUGEPAGE
    if (size < 256 * LARGE_PAGE)
        madvise(ptr, size, MADV_NOHUGEPAGE);
#else
    (void)ptr;
    (void)size;
#endif
}

/*
 * Linux: pages that are given back are zero when they are touched again; those
 * that a program has locked stay, and are written.  Elsewhere the same advice
 * may leave the old contents.
 */
static bool
give_back(void *ptr, size_t size)
{
#ifdef __linux__
    return madvise(ptr, size, MADV_DONTNEED) == 0;
#else
    (void)ptr;
    (void)size;
    return false;
#endif
}

void
gb_mem_clear_map(void *ptr, size_t size)
{
    advise_sparse(ptr, size);
    if (!give_back(ptr, size))
        memset(ptr, 0, size);
}
