/* SPDX-License-Identifier: MIT */
/*
 * alloc/plan.h - an offset for every tensor of a graph.
 *
 * A plan knows no buffer and touches no data.  Each tensor belongs to a slot
 * that the caller chose; slots of the same buffer type share a pool.  A pool is
 * made of chunks, each the range of offsets of one buffer: of one chunk, unless
 * that would be larger than the largest buffer of the type.  No tensor lies in
 * two.
 */
#ifndef GB_ALLOC_PLAN_H
#define GB_ALLOC_PLAN_H

#include "ggml-backend-impl.h"

#include "lib/alloc/free-list.h"
#include "lib/alloc/lifetime.h"

/* The memory of one buffer type. */
struct gb_plan_pool {
    ggml_backend_buffer_type_t buft;
    int first_slot; /* of those that share it */
    size_t max_size; /* bytes of a chunk */
};

/* The range of one buffer. */
struct gb_plan_chunk {
    struct gb_free_list free_list;
    ggml_backend_buffer_type_t buft;
    int32_t pool;
    int32_t next; /* chunk of the same pool, -1 for none */
};

/* All zero is a plan without slots; one thread at a time. */
struct gb_plan {
    int n_slots, n_pools;
    int32_t *slot_pools; /* pool of each slot */
    struct gb_plan_pool *pools;
    struct gb_plan_chunk *chunks; /* the first of each pool, by its number; and
                                     all that any plan so far has needed */
    int32_t n_chunks;
    size_t max_chunks;
    struct gb_lifetimes life; /* of the planned graph, with places */
};

/*
 * N_BUFTS slots.  On failure nothing is held that gb_plan_clear would not free.
 */
enum ggml_status gb_plan_init(
    struct gb_plan *plan, const ggml_backend_buffer_type_t *bufts, int n_bufts);

/* Give the memory back; all is zero then. */
void gb_plan_clear(struct gb_plan *plan);

/*
 * Plan GRAPH, instead of any before.
 *
 *   node_ids, leaf_ids   the slot of each node and leaf, NULL for slot 0;
 *                        looked at only where the tensor needs a place.  What
 *                        is neither has the slot of the node that it comes with
 *
 * Returns GGML_STATUS_ALLOC_FAILED without memory, when sizes overflow and for
 * a tensor that is larger than its buffer type's largest buffer, and
 * GGML_STATUS_FAILED for a slot that does not exist; the plan is useless then.
 */
enum ggml_status gb_plan_make(
    struct gb_plan *plan, const struct ggml_cgraph *graph, const int *node_ids,
    const int *leaf_ids);

/* Bytes that the plan needs in the buffer of a chunk. */
static inline size_t
gb_plan_need(const struct gb_plan *plan, int32_t chunk)
{
    return plan->chunks[chunk].free_list.high_water;
}

/*
 * Does TENSOR need at most SIZE bytes in BUFT, which a tensor of the same
 * layout needs there?  Only a backend with rules of its own has to be asked.
 */
static inline bool
gb_plan_same_room(
    ggml_backend_buffer_type_t buft, struct ggml_tensor *tensor, size_t size)
{
    return buft->iface.get_alloc_size == NULL ||
           ggml_backend_buft_get_alloc_size(buft, tensor) <= size;
}

#endif
