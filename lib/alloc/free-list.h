/* SPDX-License-Identifier: MIT */
/*
 * alloc/free-list.h - best fit in a range of offsets.
 *
 * Offsets only: no memory is touched.  How far the range was used says how large
 * the buffer must be.
 */
#ifndef GB_ALLOC_FREE_LIST_H
#define GB_ALLOC_FREE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of the range; all pieces together cover it without gaps. */
struct gb_free_list_block {
    size_t offset;
    size_t size;
    int32_t prev, next; /* neighbours by offset, -1 for none */
    bool is_free;
};

/* A free piece, in the order in which they are looked through. */
struct gb_free_list_hole {
    size_t size;
    size_t offset;
    int32_t block;
};

/* All zero is a list without memory; one thread at a time. */
struct gb_free_list {
    size_t alignment;
    size_t high_water; /* where the highest piece ever given away ends */
    struct gb_free_list_block *blocks;
    int32_t n_blocks;     /* used entries, in use or spare */
    int32_t max_blocks;
    int32_t spare;        /* first unused entry, linked by next; -1 for none */
    int32_t rest;         /* the free piece at the end, which is in no hole */
    struct gb_free_list_hole *holes; /* smallest first; of equals the later */
    int32_t n_holes;      /* room is max_blocks: freeing never fails */
};

/* The most bytes that a range can have: no real buffer has so many. */
#define GB_FREE_LIST_ENDLESS (SIZE_MAX / 2)

/*
 * SIZE bytes are free, in units of ALIGNMENT (a power of two), and nothing was
 * ever used.  False when there is no memory.
 */
bool gb_free_list_reset(
    struct gb_free_list *list, size_t alignment, size_t size);

/* Give the memory back; the list is all zero then. */
void gb_free_list_clear(struct gb_free_list *list);

/* Instead of a block. */
#define GB_FREE_LIST_NO_ROOM   (-1)
#define GB_FREE_LIST_NO_MEMORY (-2)

/*
 * Take SIZE bytes, rounded up, from the smallest free piece that has them, or
 * from the end if none has.  Returns the piece's block, for gb_free_list_free
 * and gb_free_list_offset, or why there is none.
 */
int32_t gb_free_list_take(struct gb_free_list *list, size_t size);

/* Put a block back and join it with free neighbours. */
void gb_free_list_free(struct gb_free_list *list, int32_t block);

static inline size_t
gb_free_list_offset(const struct gb_free_list *list, int32_t block)
{
    return list->blocks[block].offset;
}

static inline size_t
gb_free_list_size(const struct gb_free_list *list, int32_t block)
{
    return list->blocks[block].size;
}

#endif
