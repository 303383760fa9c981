/* SPDX-License-Identifier: MIT */
/*
 * alloc/plan.h - an offset for every tensor of a graph.
 *
 * A plan knows no buffer and touches no data.  Each tensor belongs to a slot
 * that the caller chose; slots of the same buffer type share a pool, which is
 * the range of offsets of one buffer.
 */
#ifndef GB_ALLOC_PLAN_H
#define GB_ALLOC_PLAN_H

#include "ggml-backend-impl.h"

#include "lib/alloc/free-list.h"
#include "lib/alloc/lifetime.h"

/* The range of one buffer type. */
struct gb_plan_pool {
    ggml_backend_buffer_type_t buft;
    int first_slot; /* of those that share it */
    struct gb_free_list free_list;
};

enum gb_place_state {
    GB_PLACE_NONE,     /* not reached yet; none are left in a whole plan */
    GB_PLACE_EXTERNAL, /* a view, or it had data when it was planned */
    GB_PLACE_HELD,     /* to the end of the graph, once the plan is whole */
    GB_PLACE_LEFT,     /* given back, or taken over by a node in place */
};

struct gb_plan_place {
    size_t offset;
    size_t size;        /* bytes that the tensor needed */
    int32_t pool;
    int32_t block;      /* of the free list, -1 for a tensor without bytes */
    int32_t taken_from; /* number of whose place it took over, -1 for none */
    enum gb_place_state state;
};

/* All zero is a plan without slots; one thread at a time. */
struct gb_plan {
    int n_slots, n_pools;
    int32_t *slot_pools; /* pool of each slot */
    struct gb_plan_pool *pools;
    struct gb_lifetimes life;     /* of the planned graph */
    struct gb_plan_place *places; /* by tensor's number */
    int32_t max_places;
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
 * Returns GGML_STATUS_ALLOC_FAILED without memory or when sizes overflow, and
 * GGML_STATUS_FAILED for a slot that does not exist; the plan is useless then.
 */
enum ggml_status gb_plan_make(
    struct gb_plan *plan, const struct ggml_cgraph *graph, const int *node_ids,
    const int *leaf_ids);

/* Bytes that the plan needs in the buffer of a pool. */
static inline size_t
gb_plan_need(const struct gb_plan *plan, int pool)
{
    return plan->pools[pool].free_list.high_water;
}

/* Type, counts and strides alike?  Asked for every node: no branch a number. */
static inline bool
gb_plan_same_layout(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    uint64_t differ = (uint64_t)(a->type != b->type);

    for (int i = 0; i < GGML_MAX_DIMS; i++)
        differ |= (uint64_t)(a->ne[i] ^ b->ne[i]) | (a->nb[i] ^ b->nb[i]);
    return differ == 0;
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
