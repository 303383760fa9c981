/* SPDX-License-Identifier: MIT */
/*
 * base/array.h - arrays that grow.
 */
#ifndef GB_BASE_ARRAY_H
#define GB_BASE_ARRAY_H

#include "lib/base/mem.h"

#include <stddef.h>
#include <stdint.h>

/*
 * ARRAY, or where it lies now, with room for NEED items of SIZE bytes; *max is
 * how many it has room for.  NULL, with nothing changed, without memory.
 */
static inline void *
gb_array_room(void *array, size_t *max, size_t need, size_t size)
{
    const size_t more = *max <= SIZE_MAX / 2 ? 2 * *max : SIZE_MAX;
    const size_t room = need < more ? more : need;
    void *grown;

    if (need <= *max && array != NULL)
        return array;
    grown = gb_mem_realloc(array, room > 0 ? room : 1, size);
    if (grown != NULL)
        *max = room > 0 ? room : 1;
    return grown;
}

#endif
