/* SPDX-License-Identifier: MIT */
/*
 * gguf/index.h - finding names among many, without looking at each.
 *
 * A hash set of numbers; the names themselves stay where they are and are reached
 * through a function.
 */
#ifndef GB_GGUF_INDEX_H
#define GB_GGUF_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The name with number I of OWNER. */
typedef const char *(*gb_gguf_name_fn)(const void *owner, size_t i);

struct gb_gguf_index {
    uint32_t *slots; /* number + 1; 0 is free */
    size_t n_slots;  /* a power of two, or 0 */
    size_t n_used;
};

/* The number of NAME, or -1. */
int64_t gb_gguf_index_find(
    const struct gb_gguf_index *index, gb_gguf_name_fn name_of,
    const void *owner, const char *name);

/* Enters number I, whose name is new; false without memory or above 2^32 - 2. */
bool gb_gguf_index_add(
    struct gb_gguf_index *index, gb_gguf_name_fn name_of, const void *owner,
    size_t i);

/* Enters numbers 0 … n - 1 afresh, after one was taken out.  Cannot fail. */
void gb_gguf_index_rebuild(
    struct gb_gguf_index *index, gb_gguf_name_fn name_of, const void *owner,
    size_t n);

void gb_gguf_index_clear(struct gb_gguf_index *index);

#endif
