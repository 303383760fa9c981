/* SPDX-License-Identifier: MIT */
/*
 * alloc/plan.c - an offset for every tensor of a graph, used again when it is
 * free.
 *
 * A node takes over the place of a source that nobody reads afterwards, if its
 * operation can work in place, or else the best fitting free one.  The source may
 * be a view of all of a tensor: a rotation of heads takes the place of the product
 * of which they are another form.  A source's place is free once its last reader
 * has its own.
 */
#include "config.h"

#include "lib/alloc/plan.h"

#include "lib/base/array.h"
#include "lib/base/mem.h"
#include "lib/base/status.h"
#include "lib/op/op.h"

#include <string.h>

static enum ggml_status
no_memory_to_plan(void)
{
    return gb_fail(GGML_STATUS_ALLOC_FAILED,
                   "graph allocator: no memory to plan");
}

/* The pool of slot IDS[i], or of slot 0 where the caller has one slot only. */
static enum ggml_status
pool_of(const struct gb_plan *plan, const int *ids, int i, int32_t *pool)
{
    const int slot = ids != NULL ? ids[i] : 0;

    GB_NEED_OR(GGML_STATUS_FAILED, slot >= 0 && slot < plan->n_slots,
               "graph allocator: slot %d of %d", slot, plan->n_slots);
    *pool = plan->slot_pools[slot];
    return GGML_STATUS_SUCCESS;
}

static struct gb_life *
life_of(struct gb_plan *plan, int32_t number)
{
    return &plan->life.lives[number];
}

/* Bytes of the tensor NUMBER in BUFT; only a few types have to be asked. */
static size_t
room_of(
    const struct gb_plan *plan, int32_t number, ggml_backend_buffer_type_t buft)
{
    return buft->iface.get_alloc_size == NULL
               ? plan->life.lives[number].bytes
               : ggml_backend_buft_get_alloc_size(
                     buft, plan->life.index.tensors[number]);
}

/* ---- chunks ---- */

static bool
reset_chunk(struct gb_plan *plan, int32_t chunk)
{
    struct gb_plan_chunk *c = &plan->chunks[chunk];

    return gb_free_list_reset(&c->free_list,
                              ggml_backend_buft_get_alignment(c->buft),
                              plan->pools[c->pool].max_size);
}

/* A further chunk behind chunk LAST; -1 without memory. */
static int32_t
add_chunk(struct gb_plan *plan, int32_t last)
{
    const int32_t chunk = plan->n_chunks;
    struct gb_plan_chunk *chunks = gb_array_room(
        plan->chunks, &plan->max_chunks, (size_t)chunk + 1, sizeof(*chunks));

    if (chunks == NULL)
        return -1;
    plan->chunks = chunks;
    chunks[chunk] = (struct gb_plan_chunk){
        .buft = chunks[last].buft, .pool = chunks[last].pool, .next = -1
    };
    if (!reset_chunk(plan, chunk)) {
        gb_free_list_clear(&chunks[chunk].free_list);
        return -1;
    }
    chunks[last].next = chunk;
    plan->n_chunks++;
    return chunk;
}

/*
 * Take SIZE bytes from the first of the pool's chunks that has room, which may
 * be a new one.  Returns the block, and in *chunk whose it is, or why there is
 * none.
 */
static int32_t
take(struct gb_plan *plan, int32_t pool, size_t size, int32_t *chunk)
{
    int32_t at = pool;
    int32_t block = gb_free_list_take(&plan->chunks[at].free_list, size);

    while (block == GB_FREE_LIST_NO_ROOM && size <= plan->pools[pool].max_size) {
        const int32_t next = plan->chunks[at].next;

        at = next >= 0 ? next : add_chunk(plan, at);
        if (at < 0)
            return GB_FREE_LIST_NO_MEMORY;
        block = gb_free_list_take(&plan->chunks[at].free_list, size);
    }
    *chunk = at;
    return block;
}

/* ---- places ---- */

static enum ggml_status
fail_to_place(const struct gb_plan *plan, int32_t number, int32_t pool)
{
    const char *name = plan->life.index.tensors[number]->name;
    const size_t bytes = plan->life.lives[number].bytes;
    const struct gb_plan_pool *p = &plan->pools[pool];

    if (bytes <= p->max_size)
        return no_memory_to_plan();
    return gb_fail(GGML_STATUS_ALLOC_FAILED,
                   "graph allocator: no place for the %zu bytes of %s: the "
                   "largest buffer of %s has %zu",
                   bytes, name, ggml_backend_buft_name(p->buft), p->max_size);
}

/* A new place for the tensor NUMBER in the pool of slot IDS[i]. */
static enum ggml_status
place_new(struct gb_plan *plan, int32_t number, const int *ids, int i)
{
    struct gb_life *life = life_of(plan, number);
    struct gb_place *place = &life->place;
    int32_t pool;

    GB_TRY(pool_of(plan, ids, i, &pool));
    place->chunk = pool;
    life->state = GB_PLACE_HELD;
    life->bytes = room_of(plan, number, plan->pools[pool].buft);
    if (life->bytes == 0)
        return GGML_STATUS_SUCCESS;
    place->block = take(plan, pool, life->bytes, &place->chunk);
    if (place->block < 0)
        return fail_to_place(plan, number, pool);
    place->offset = gb_free_list_offset(
        &plan->chunks[place->chunk].free_list, place->block);
    return GGML_STATUS_SUCCESS;
}

/* A place for the tensor NUMBER, unless it has one or needs none. */
static enum ggml_status
place_tensor(struct gb_plan *plan, int32_t number, const int *ids, int i)
{
    struct gb_life *life = life_of(plan, number);

    if (life->state != GB_PLACE_NONE)
        return GGML_STATUS_SUCCESS;
    if (life->has_data || life->is_view) {
        life->state = GB_PLACE_EXTERNAL;
        return life->root < 0 ? GGML_STATUS_SUCCESS
                              : place_tensor(plan, life->root, ids, i);
    }
    return place_new(plan, number, ids, i);
}

/* Who has the place that the tensor NUMBER lies in. */
static int32_t
owner_of(const struct gb_plan *plan, int32_t number)
{
    const int32_t root = plan->life.lives[number].root;

    return root < 0 ? number : root;
}

/* Is a node that reads the tensor FROM once the last one that reads its place? */
static bool
is_last_read(const struct gb_plan *plan, int32_t from)
{
    const struct gb_life *life = &plan->life.lives[from];
    const struct gb_life *owner = &plan->life.lives[owner_of(plan, from)];

    if (life->n_reads != 1 || life->is_output || owner->is_output)
        return false;
    return life == owner ? owner->n_views == 0
                         : owner->n_views == 1 && owner->n_reads == 0;
}

/* May the tensor NUMBER take over the place of FROM, of the same layout? */
static bool
can_take_over(
    const struct gb_plan *plan, int32_t number, int32_t from, int32_t pool)
{
    const struct gb_life *owner = &plan->life.lives[owner_of(plan, from)];

    return owner->state == GB_PLACE_HELD &&
           plan->chunks[owner->place.chunk].pool == pool &&
           is_last_read(plan, from) &&
           room_of(plan, number, plan->pools[pool].buft) <= owner->bytes;
}

static void
take_over(struct gb_plan *plan, int32_t number, int32_t from)
{
    struct gb_life *life = life_of(plan, number);
    struct gb_life *old = life_of(plan, owner_of(plan, from));

    life->bytes = old->bytes;
    life->place = old->place;
    life->place.taken_from = from;
    life->state = GB_PLACE_HELD;
    old->state = GB_PLACE_LEFT;
}

/*
 * A place for the result of the node at position I: that of one of its sources,
 * or a new one.  LINKS are the numbers of its N_SOURCES sources, and its own.
 */
static enum ggml_status
place_node(
    struct gb_plan *plan, const int32_t *links, int n_sources, const int *ids,
    int i)
{
    const int32_t number = links[n_sources];
    struct gb_life *life = life_of(plan, number);
    int n_tried = gb_op_in_place_sources[life->op];
    int32_t pool;

    /* Left already: only views of it were read, before it is computed. */
    if (life->state == GB_PLACE_LEFT)
        life->state = GB_PLACE_NONE;
    if (life->state != GB_PLACE_NONE || life->has_data || life->is_view)
        return place_tensor(plan, number, ids, i);

    GB_TRY(pool_of(plan, ids, i, &pool));
    if (n_tried > n_sources)
        n_tried = n_sources;
    for (int s = 0; s < n_tried; s++) {
        if ((life->alike >> s & 1) == 0 ||
            !can_take_over(plan, number, links[s], pool))
            continue;
        take_over(plan, number, links[s]);
        return GGML_STATUS_SUCCESS;
    }
    return place_new(plan, number, ids, i);
}

/*
 * Nobody reads the tensor any more: its place is free, and so may its root's
 * be.
 */
static void
leave(struct gb_plan *plan, int32_t number)
{
    struct gb_life *life = life_of(plan, number);

    if (life->is_output)
        return;
    if (life->root >= 0) {
        struct gb_life *root = life_of(plan, life->root);

        if (--root->n_views == 0 && root->n_reads == 0)
            leave(plan, life->root);
    }
    if (life->state == GB_PLACE_HELD) {
        if (life->place.block >= 0)
            gb_free_list_free(&plan->chunks[life->place.chunk].free_list,
                              life->place.block);
        life->state = GB_PLACE_LEFT;
    }
}

static void
release(struct gb_plan *plan, int32_t number)
{
    struct gb_life *life = life_of(plan, number);

    if (--life->n_reads == 0 && life->n_views == 0)
        leave(plan, number);
}

static enum ggml_status
place_leafs(struct gb_plan *plan, const int *leaf_ids)
{
    for (int i = 0; i < plan->life.n_leafs; i++)
        GB_TRY(place_tensor(plan, plan->life.links[i], leaf_ids, i));
    return GGML_STATUS_SUCCESS;
}

/*
 * Inputs are written before the graph runs: no other may lie there until then.
 */
static enum ggml_status
place_inputs(struct gb_plan *plan, const int *node_ids)
{
    for (int32_t i = 0; i < plan->life.index.n_tensors; i++) {
        const struct gb_life *life = &plan->life.lives[i];

        if (life->is_input && life->first_node >= 0)
            GB_TRY(place_tensor(plan, i, node_ids, life->first_node));
    }
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
place_nodes(struct gb_plan *plan, const int *node_ids)
{
    const int32_t *links = plan->life.links + plan->life.n_leafs;

    for (int i = 0; i < plan->life.n_nodes; i++) {
        const int n_sources = plan->life.n_sources[i];

        for (int s = 0; s < n_sources; s++)
            GB_TRY(place_tensor(plan, links[s], node_ids, i));
        GB_TRY(place_node(plan, links, n_sources, node_ids, i));
        for (int s = 0; s < n_sources; s++)
            release(plan, links[s]);
        links += n_sources + 1;
    }
    return GGML_STATUS_SUCCESS;
}

/* Everything is free; a chunk's bytes are all in whole units. */
static enum ggml_status
reset_pools(struct gb_plan *plan)
{
    for (int i = 0; i < plan->n_pools; i++) {
        struct gb_plan_pool *pool = &plan->pools[i];
        const size_t unit = ggml_backend_buft_get_alignment(pool->buft);
        const size_t size = ggml_backend_buft_get_max_size(pool->buft);

        pool->max_size =
            (size < GB_FREE_LIST_ENDLESS ? size : GB_FREE_LIST_ENDLESS) &
            ~(unit - 1);
    }
    for (int32_t i = 0; i < plan->n_chunks; i++)
        if (!reset_chunk(plan, i))
            return no_memory_to_plan();
    return GGML_STATUS_SUCCESS;
}

enum ggml_status
gb_plan_make(
    struct gb_plan *plan, const struct ggml_cgraph *graph, const int *node_ids,
    const int *leaf_ids)
{
    if (!gb_lifetimes_build(&plan->life, graph))
        return no_memory_to_plan();
    GB_TRY(reset_pools(plan));
    GB_TRY(place_leafs(plan, leaf_ids));
    GB_TRY(place_inputs(plan, node_ids));
    return place_nodes(plan, node_ids);
}

/* The pool of BUFT, or the number that a new one would get. */
static int32_t
pool_of_type(const struct gb_plan *plan, ggml_backend_buffer_type_t buft)
{
    int32_t i = 0;

    while (i < plan->n_pools && plan->pools[i].buft != buft)
        i++;
    return i;
}

enum ggml_status
gb_plan_init(
    struct gb_plan *plan, const ggml_backend_buffer_type_t *bufts, int n_bufts)
{
    memset(plan, 0, sizeof(*plan));
    plan->slot_pools =
        gb_mem_zalloc((size_t)n_bufts, sizeof(*plan->slot_pools));
    plan->pools = gb_mem_zalloc((size_t)n_bufts, sizeof(*plan->pools));
    plan->chunks = gb_mem_zalloc((size_t)n_bufts, sizeof(*plan->chunks));
    if (plan->slot_pools == NULL || plan->pools == NULL ||
        plan->chunks == NULL)
        return no_memory_to_plan();
    plan->max_chunks = (size_t)n_bufts;

    plan->n_slots = n_bufts;
    for (int i = 0; i < n_bufts; i++) {
        const int32_t pool = pool_of_type(plan, bufts[i]);

        plan->slot_pools[i] = pool;
        if (pool < plan->n_pools)
            continue;
        plan->pools[pool].buft = bufts[i];
        plan->pools[pool].first_slot = i;
        plan->chunks[pool] = (struct gb_plan_chunk){
            .buft = bufts[i], .pool = pool, .next = -1
        };
        plan->n_pools++;
        plan->n_chunks++;
    }
    return GGML_STATUS_SUCCESS;
}

void
gb_plan_clear(struct gb_plan *plan)
{
    for (int32_t i = 0; i < plan->n_chunks; i++)
        gb_free_list_clear(&plan->chunks[i].free_list);
    gb_lifetimes_clear(&plan->life);
    gb_mem_free(plan->chunks);
    gb_mem_free(plan->pools);
    gb_mem_free(plan->slot_pools);
    memset(plan, 0, sizeof(*plan));
}
