/* SPDX-License-Identifier: MIT */
/*
 * alloc/free-list.c - best fit in a range of offsets.
 *
 * Each piece knows its neighbours, so that joining needs no search (boundary
 * tags: Knuth, vol.  1, 2.5).  The free pieces are kept sorted by size in one
 * array: a graph seldom has more than a dozen, and moving even thousands of
 * them costs less than walking a tree.
 */
#include "config.h"

#include "lib/alloc/free-list.h"

#include "lib/base/checked.h"
#include "lib/base/mem.h"
#include "lib/base/status.h"

#include <string.h>

/* ---- holes: the free pieces but the last, by size ---- */

/* Position of the first hole that does not come before (SIZE, OFFSET). */
static int32_t
hole_position(const struct gb_free_list *list, size_t size, size_t offset)
{
    int32_t low = 0, high = list->n_holes;

    while (low < high) {
        const int32_t mid = low + (high - low) / 2;
        const struct gb_free_list_hole *hole = &list->holes[mid];

        if (hole->size < size || (hole->size == size && hole->offset > offset))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void
hole_remove_at(struct gb_free_list *list, int32_t at)
{
    list->n_holes--;
    memmove(&list->holes[at], &list->holes[at + 1],
            (size_t)(list->n_holes - at) * sizeof(list->holes[0]));
}

static void
hole_remove(struct gb_free_list *list, int32_t block)
{
    const struct gb_free_list_block *b = &list->blocks[block];

    hole_remove_at(list, hole_position(list, b->size, b->offset));
}

static void
hole_insert(struct gb_free_list *list, int32_t block)
{
    const struct gb_free_list_block *b = &list->blocks[block];
    const int32_t at = hole_position(list, b->size, b->offset);

    memmove(&list->holes[at + 1], &list->holes[at],
            (size_t)(list->n_holes - at) * sizeof(list->holes[0]));
    list->n_holes++;
    list->holes[at] = (struct gb_free_list_hole){
        .size = b->size, .offset = b->offset, .block = block
    };
}

/* ---- blocks: all pieces, linked by offset ---- */

/* Room for MAX_BLOCKS blocks and as many holes. */
static bool
grow_to(struct gb_free_list *list, int32_t max_blocks)
{
    struct gb_free_list_block *blocks;
    struct gb_free_list_hole *holes;

    holes = gb_mem_realloc(list->holes, (size_t)max_blocks, sizeof(*holes));
    if (holes == NULL)
        return false;
    list->holes = holes;
    blocks = gb_mem_realloc(list->blocks, (size_t)max_blocks, sizeof(*blocks));
    if (blocks == NULL)
        return false;
    list->blocks = blocks;
    list->max_blocks = max_blocks;
    return true;
}

/* An unused entry, -1 without memory. */
static int32_t
block_new(struct gb_free_list *list)
{
    const int32_t block = list->spare;

    if (block >= 0) {
        list->spare = list->blocks[block].next;
        return block;
    }
    if (list->n_blocks == list->max_blocks &&
        (list->max_blocks > INT32_MAX / 2 ||
         !grow_to(list, 2 * list->max_blocks)))
        return -1;
    return list->n_blocks++;
}

/* BLOCK, which is free, takes over the bytes of NEXT behind it. */
static void
join_with_next(struct gb_free_list *list, int32_t block)
{
    struct gb_free_list_block *b = &list->blocks[block];
    const int32_t next = b->next;

    b->size += list->blocks[next].size;
    b->next = list->blocks[next].next;
    if (b->next >= 0)
        list->blocks[b->next].prev = block;
    list->blocks[next].next = list->spare;
    list->spare = next;
}

/*
 * Cut SIZE bytes off the front of BLOCK, which is free and has more; what is
 * left is a free block behind it.  False without memory.
 */
static bool
split(struct gb_free_list *list, int32_t block, size_t size)
{
    const int32_t left = block_new(list);
    struct gb_free_list_block *b;

    if (left < 0)
        return false;
    b = &list->blocks[block];
    list->blocks[left] = (struct gb_free_list_block){
        .offset = b->offset + size,
        .size = b->size - size,
        .prev = block,
        .next = b->next,
        .is_free = true,
    };
    if (b->next >= 0)
        list->blocks[b->next].prev = left;
    b->next = left;
    b->size = size;
    return true;
}

bool
gb_free_list_reset(struct gb_free_list *list, size_t alignment, size_t size)
{
    /* Sums of an offset and a size cannot wrap. */
    const size_t most = size < GB_FREE_LIST_ENDLESS ? size
                                                    : GB_FREE_LIST_ENDLESS;

    if (list->max_blocks == 0 && !grow_to(list, 16))
        return false;
    list->alignment = alignment;
    list->high_water = 0;
    list->n_blocks = 1;
    list->spare = -1;
    list->n_holes = 0;
    list->rest = 0;

    /* With a unit that stays free behind all: the rest is never used up. */
    list->blocks[0] = (struct gb_free_list_block){
        .size = (most & ~(alignment - 1)) + alignment,
        .prev = -1,
        .next = -1,
        .is_free = true,
    };
    return true;
}

void
gb_free_list_clear(struct gb_free_list *list)
{
    gb_mem_free(list->blocks);
    gb_mem_free(list->holes);
    memset(list, 0, sizeof(*list));
}

/* From the end; the rest is never used up. */
static int32_t
take_rest(struct gb_free_list *list, size_t size)
{
    const int32_t block = list->rest;
    size_t end;

    if (size >= list->blocks[block].size)
        return GB_FREE_LIST_NO_ROOM;
    if (!split(list, block, size))
        return GB_FREE_LIST_NO_MEMORY;
    list->rest = list->blocks[block].next;
    end = list->blocks[block].offset + size;
    if (list->high_water < end)
        list->high_water = end;
    return block;
}

static int32_t
take_hole(struct gb_free_list *list, int32_t at, size_t size)
{
    const int32_t block = list->holes[at].block;
    const bool is_larger = list->holes[at].size > size;

    if (is_larger && !split(list, block, size))
        return GB_FREE_LIST_NO_MEMORY;
    hole_remove_at(list, at);
    if (is_larger)
        hole_insert(list, list->blocks[block].next);
    return block;
}

int32_t
gb_free_list_take(struct gb_free_list *list, size_t size)
{
    int32_t at, block;

    if (!gb_pad_size(size, list->alignment, &size))
        return GB_FREE_LIST_NO_ROOM;

    at = hole_position(list, size, SIZE_MAX);
    block = at < list->n_holes ? take_hole(list, at, size)
                               : take_rest(list, size);
    if (block >= 0)
        list->blocks[block].is_free = false;
    return block;
}

void
gb_free_list_free(struct gb_free_list *list, int32_t block)
{
    struct gb_free_list_block *b = &list->blocks[block];

    GB_INVARIANT(!b->is_free);
    b->is_free = true;

    if (b->prev >= 0 && list->blocks[b->prev].is_free) {
        hole_remove(list, b->prev);
        block = b->prev;
        join_with_next(list, block);
        b = &list->blocks[block];
    }
    if (b->next == list->rest) {
        join_with_next(list, block);
        list->rest = block;
        return;
    }
    if (list->blocks[b->next].is_free) {
        hole_remove(list, b->next);
        join_with_next(list, block);
    }
    hole_insert(list, block);
}
