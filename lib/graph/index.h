/* SPDX-License-Identifier: MIT */
/*
 * graph/index.h - tensors numbered in the order in which they are first met.
 *
 * Whoever has to know something about each tensor of a graph numbers them once,
 * and keeps what it knows in arrays from then on.
 */
#ifndef GB_GRAPH_INDEX_H
#define GB_GRAPH_INDEX_H

#include "ggml.h"

/* All zero is an index without room; one thread at a time. */
struct gb_index {
    struct ggml_tensor **tensors; /* by number */
    int32_t n_tensors;
    int32_t max_tensors; /* room in tensors; half of the slots or less */
    int32_t *slots;      /* number plus 1; 0 where a slot is free */
    size_t n_slots;      /* a power of two */
};

/*
 * Forget all tensors, and make room for N_TENSORS of them.  More can be added;
 * it only costs moving.  False, with an empty index, when there is no memory.
 */
bool gb_index_reset(struct gb_index *index, int64_t n_tensors);

/* Give the memory back; the index is all zero then. */
void gb_index_clear(struct gb_index *index);

/*
 * The number of a tensor that has none yet: the next one.  -1, with nothing
 * changed, when there is no memory.
 */
int32_t gb_index_add_new(struct gb_index *index, struct ggml_tensor *tensor);

/*
 * Where to look for the tensor first.  Tensors of one context lie behind each
 * other, and so do their slots: with homes that are scattered, laying out a
 * graph of 10,000 nodes took half as long again.
 */
static inline size_t
gb_index_home(const struct gb_index *index, const struct ggml_tensor *tensor)
{
    return (size_t)((uintptr_t)tensor >> 8) & (index->n_slots - 1);
}

/*
 * Where to look after slot I was taken: other tensors' steps are others (double
 * hashing: Knuth, vol.  3, 6.4), since contexts may well come to lie on each
 * other.
 */
static inline size_t
gb_index_next(
    const struct gb_index *index, const struct ggml_tensor *tensor, size_t i)
{
    const uint64_t product =
        (uint64_t)(uintptr_t)tensor * UINT64_C(0x9e3779b97f4a7c15);

    return (i + ((size_t)(product >> 32) | 1)) & (index->n_slots - 1);
}

/* The tensor's number, -1 when it has none. */
static inline int32_t
gb_index_find(const struct gb_index *index, const struct ggml_tensor *tensor)
{
    size_t i = gb_index_home(index, tensor);

    while (index->slots[i] != 0 &&
           index->tensors[index->slots[i] - 1] != tensor)
        i = gb_index_next(index, tensor, i);
    return index->slots[i] - 1;
}

/* The tensor's number, a new one if it had none; -1 when there is no memory. */
static inline int32_t
gb_index_add(struct gb_index *index, struct ggml_tensor *tensor)
{
    const int32_t number = gb_index_find(index, tensor);

    return number >= 0 ? number : gb_index_add_new(index, tensor);
}

#endif
