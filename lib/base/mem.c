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
