/* SPDX-License-Identifier: MIT */
/*
 * base/mem.h - all memory that the library asks the system for.
 *
 * Every function gives NULL when there is none (and logs nothing: the caller
 * knows what it was for).  In builds with --enable-fault-injection the hook
 * below decides before each allocation whether it fails.  Any thread.
 */
#ifndef GB_BASE_MEM_H
#define GB_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>

void *gb_mem_alloc(size_t size);

/* COUNT * SIZE zeroed bytes; NULL when the product does not fit. */
void *gb_mem_zalloc(size_t count, size_t size);

/* On failure the old block is untouched. */
void *gb_mem_realloc(void *ptr, size_t count, size_t size);

/* For blocks of the three above; NULL is allowed. */
void gb_mem_free(void *ptr);

char *gb_mem_strdup(const char *text);

/* ALIGN is a power of two; freed with gb_mem_free_aligned. */
void *gb_mem_alloc_aligned(size_t size, size_t align);
void gb_mem_free_aligned(void *ptr);

/*
 * SIZE > 0 bytes straight from the system, zeroed and beginning on a page; freed
 * by gb_mem_unmap with the same SIZE.  gb_mem_clear_map makes all of it zero
 * again by giving its pages back, so that what was not used, and what will not
 * be, costs nothing.
 */
void *gb_mem_map(size_t size);
void gb_mem_unmap(void *ptr, size_t size);
void gb_mem_clear_map(void *ptr, size_t size);

#ifdef GB_FAULT_INJECTION
/*
 * Tests only.  HOOK is asked before every allocation; true makes it fail.
 * NULL takes the hook away.
 */
typedef bool (*gb_mem_fault_fn)(void *data);
void gb_mem_set_fault(gb_mem_fault_fn hook, void *data);

/* Tests only.  Blocks that were given and not freed yet. */
size_t gb_mem_n_blocks(void);
#endif

#endif
