/* SPDX-License-Identifier: MIT */
/*
 * model/array.c - growing arrays of token ids and of bytes.
 */
#include "tools/model/array.h"

#include "tools/common/tool.h"

#include <stdlib.h>
#include <string.h>

/* Room for N more items of SIZE bytes after the USED ones in *AT. */
static bool
grow(void **at, size_t *room, size_t used, size_t n, size_t size)
{
    size_t wanted = *room == 0 ? 64 : *room;
    void *larger;

    if (n <= *room - used)
        return true;
    while (wanted - used < n && wanted <= SIZE_MAX / 4 / size)
        wanted *= 2;
    larger = wanted - used < n ? NULL : realloc(*at, wanted * size);
    if (larger == NULL)
        return tool_error("no memory");
    *at = larger;
    *room = wanted;
    return true;
}

bool
ids_push(struct ids *ids, int32_t id)
{
    void *at = ids->at;

    if (!grow(&at, &ids->room, ids->n, 1, sizeof(id)))
        return false;
    ids->at = at;
    ids->at[ids->n++] = id;
    return true;
}

bool
bytes_push(struct bytes *bytes, const void *from, size_t n)
{
    void *at = bytes->at;

    if (n == 0)
        return true;
    if (!grow(&at, &bytes->room, bytes->n, n, 1))
        return false;
    bytes->at = at;
    memcpy(bytes->at + bytes->n, from, n);
    bytes->n += n;
    return true;
}

void
ids_clear(struct ids *ids)
{
    free(ids->at);
    memset(ids, 0, sizeof(*ids));
}

void
bytes_clear(struct bytes *bytes)
{
    free(bytes->at);
    memset(bytes, 0, sizeof(*bytes));
}

void *
new_zeroed(size_t n, size_t size)
{
    void *items = calloc(n == 0 ? 1 : n, size);

    if (items == NULL)
        tool_error("no memory");
    return items;
}
