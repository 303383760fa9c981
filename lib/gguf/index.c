/* SPDX-License-Identifier: MIT */
/*
 * gguf/index.c - finding names among many, without looking at each.
 *
 * Open addressing with linear probing, at most half full.  Names come from files,
 * so their number is what somebody else chose; a set of names made to collide
 * costs time in proportion to its square, which the reader's limits bound.
 */
#include "config.h"

#include "lib/gguf/index.h"

#include "lib/base/mem.h"

#include <string.h>

/* FNV-1a, 64 bits (Fowler, Noll, Vo), folded. */
static size_t
hash(const char *name)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (; *name != '\0'; name++)
        h = (h ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return (size_t)(h ^ h >> 29);
}

static void
enter(uint32_t *slots, size_t n_slots, const char *name, size_t i)
{
    size_t at = hash(name) & (n_slots - 1);

    while (slots[at] != 0)
        at = (at + 1) & (n_slots - 1);
    slots[at] = (uint32_t)(i + 1);
}

int64_t
gb_gguf_index_find(const struct gb_gguf_index *index, gb_gguf_name_fn name_of,
                   const void *owner, const char *name)
{
    if (index->n_slots == 0)
        return -1;
    for (size_t at = hash(name) & (index->n_slots - 1); index->slots[at] != 0;
         at = (at + 1) & (index->n_slots - 1)) {
        const size_t i = index->slots[at] - 1;

        if (strcmp(name_of(owner, i), name) == 0)
            return (int64_t)i;
    }
    return -1;
}

static bool
grow(struct gb_gguf_index *index, gb_gguf_name_fn name_of, const void *owner)
{
    const size_t n_slots = index->n_slots == 0 ? 64 : 2 * index->n_slots;
    uint32_t *slots = gb_mem_zalloc(n_slots, sizeof(*slots));

    if (slots == NULL)
        return false;
    for (size_t at = 0; at < index->n_slots; at++) {
        if (index->slots[at] != 0) {
            const size_t i = index->slots[at] - 1;

            enter(slots, n_slots, name_of(owner, i), i);
        }
    }
    gb_mem_free(index->slots);
    index->slots = slots;
    index->n_slots = n_slots;
    return true;
}

bool
gb_gguf_index_add(struct gb_gguf_index *index, gb_gguf_name_fn name_of,
                  const void *owner, size_t i)
{
    if (i >= UINT32_MAX - 1)
        return false;
    if (2 * (index->n_used + 1) > index->n_slots &&
        !grow(index, name_of, owner))
        return false;
    enter(index->slots, index->n_slots, name_of(owner, i), i);
    index->n_used++;
    return true;
}

void
gb_gguf_index_rebuild(struct gb_gguf_index *index, gb_gguf_name_fn name_of,
                      const void *owner, size_t n)
{
    if (index->n_slots > 0)
        memset(index->slots, 0, index->n_slots * sizeof(*index->slots));
    for (size_t i = 0; i < n; i++)
        enter(index->slots, index->n_slots, name_of(owner, i), i);
    index->n_used = n;
}

void
gb_gguf_index_clear(struct gb_gguf_index *index)
{
    gb_mem_free(index->slots);
    index->slots = NULL;
    index->n_slots = 0;
    index->n_used = 0;
}
