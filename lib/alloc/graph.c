/* SPDX-License-Identifier: MIT */
/*
 * alloc/graph.c - a place in memory for every tensor of a graph.
 *
 * plan.c gives each tensor an offset in a chunk; buffers follow from it, one for
 * each chunk, and never shrink.
 *
 * A later graph of the same make is laid out by the plan that exists: each of
 * its tensors must play the part of one in the plan, and need no more room than
 * that one.  Large graphs are in no cache, so a tensor that was met gets its
 * address at once, and loses it again if a later one does not fit; but where
 * buffers want to know of tensors, none is told before all fit.
 */
#include "config.h"

#include "lib/alloc/graph.h"

#include "ggml-backend-impl.h"

#include "lib/alloc/check.h"
#include "lib/alloc/plan.h"
#include "lib/base/array.h"
#include "lib/base/mem.h"
#include "lib/base/status.h"
#include "lib/graph/graph.h"
#include "lib/tensor/tensor.h"

#include <string.h>

/* Memory of one chunk of the plan. */
struct memory {
    ggml_backend_buffer_t buffer;
    char *base; /* while addresses are given */
};

struct ggml_gallocr {
    struct gb_plan plan;
    bool is_planned; /* the plan is whole, and the buffers are large enough */
    bool is_told;    /* some buffer wants to know of tensors */
    struct memory *memories; /* by chunk */
    size_t n_memories, max_memories;

    /*
     * The graph that is being laid out: its tensors take the places of those
     * that were planned, whose order it shares.
     */
    struct ggml_tensor **tensors;   /* by number in the plan, which has them */
    int32_t n_met;                  /* of them so far */
    ggml_bitset_t *placed;          /* by number: it got its address so far */
    size_t max_placed;              /* words of these */
    const struct ggml_tensor *lost; /* was external, and has no data now */
    enum ggml_status status;        /* of the last that was placed */
};

ggml_gallocr_t
ggml_gallocr_new_n(ggml_backend_buffer_type_t *bufts, int n_bufs)
{
    struct ggml_gallocr *g;

    GB_NEED_OR(NULL, bufts != NULL && n_bufs > 0,
               "graph allocator: no buffer type");
    for (int i = 0; i < n_bufs; i++)
        GB_NEED_OR(NULL, bufts[i] != NULL,
                   "graph allocator: buffer type %d is NULL", i);

    g = gb_mem_zalloc(1, sizeof(*g));
    if (g == NULL) {
        gb_fail(GGML_STATUS_ALLOC_FAILED, "graph allocator: no memory");
        return NULL;
    }
    if (gb_plan_init(&g->plan, bufts, n_bufs) == GGML_STATUS_SUCCESS)
        return g;
    ggml_gallocr_free(g);
    return NULL;
}

ggml_gallocr_t
ggml_gallocr_new(ggml_backend_buffer_type_t buft)
{
    return ggml_gallocr_new_n(&buft, 1);
}

void
ggml_gallocr_free(ggml_gallocr_t g)
{
    if (g == NULL)
        return;
    for (size_t i = 0; i < g->n_memories; i++)
        ggml_backend_buffer_free(g->memories[i].buffer);
    gb_plan_clear(&g->plan);
    gb_mem_free(g->memories);
    gb_mem_free(g->placed);
    gb_mem_free(g);
}

/* Of all its chunks, which have buffers from the first plan on. */
static size_t
pool_size(const struct ggml_gallocr *g, int32_t pool)
{
    size_t size = 0;

    for (int32_t i = pool; i >= 0; i = g->plan.chunks[i].next)
        if ((size_t)i < g->n_memories && g->memories[i].buffer != NULL)
            size += ggml_backend_buffer_get_size(g->memories[i].buffer);
    return size;
}

size_t
ggml_gallocr_get_buffer_size(ggml_gallocr_t g, int buffer_id)
{
    int32_t pool;

    GB_NEED_OR(0, g != NULL, "graph allocator: none");
    GB_NEED_OR(0, buffer_id >= 0 && buffer_id < g->plan.n_slots,
               "graph allocator: slot %d of %d", buffer_id, g->plan.n_slots);
    pool = g->plan.slot_pools[buffer_id];
    return g->plan.pools[pool].first_slot == buffer_id ? pool_size(g, pool)
                                                       : 0;
}

static enum ggml_status
check_call(const struct ggml_gallocr *g, const struct ggml_cgraph *graph)
{
    GB_NEED_OR(GGML_STATUS_FAILED, g != NULL, "graph allocator: none");
    GB_NEED_OR(GGML_STATUS_FAILED, graph != NULL, "graph allocator: no graph");
    return gb_graph_check_lists(graph);
}

/* ---- reserving ---- */

/*
 * A buffer that is large enough for a chunk of the plan.  The first of a pool
 * has one even for no bytes, for views of what has none.
 */
static enum ggml_status
reserve_buffer(struct ggml_gallocr *g, int32_t chunk)
{
    const size_t need = gb_plan_need(&g->plan, chunk);
    struct memory *m = &g->memories[chunk];

    if (m->buffer != NULL && ggml_backend_buffer_get_size(m->buffer) >= need)
        return GGML_STATUS_SUCCESS;
    if (need == 0 && chunk >= g->plan.n_pools)
        return GGML_STATUS_SUCCESS;
    /* The old one goes first: there may not be room for both. */
    ggml_backend_buffer_free(m->buffer);
    m->buffer =
        ggml_backend_buft_alloc_buffer(g->plan.chunks[chunk].buft, need);
    if (m->buffer == NULL)
        return GGML_STATUS_ALLOC_FAILED;
    ggml_backend_buffer_set_usage(m->buffer,
                                  GGML_BACKEND_BUFFER_USAGE_COMPUTE);
    return GGML_STATUS_SUCCESS;
}

/* Buffers for all chunks; does one of them want to know of tensors? */
static enum ggml_status
reserve_buffers(struct ggml_gallocr *g)
{
    const size_t n = (size_t)g->plan.n_chunks;
    struct memory *memories = gb_array_room(
        g->memories, &g->max_memories, n, sizeof(*memories));

    if (memories == NULL)
        return gb_fail(GGML_STATUS_ALLOC_FAILED, "graph allocator: no memory");
    g->memories = memories;
    for (; g->n_memories < n; g->n_memories++)
        memories[g->n_memories] = (struct memory){ 0 };
    g->is_told = false;
    for (size_t i = 0; i < n; i++) {
        const struct ggml_backend_buffer *buffer;

        GB_TRY(reserve_buffer(g, (int32_t)i));
        buffer = memories[i].buffer;
        g->is_told |= buffer != NULL && (buffer->iface.init_tensor != NULL ||
                                         buffer->iface.reset != NULL);
    }
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
reserve_marks(struct ggml_gallocr *g, int32_t n_tensors)
{
    const size_t n = ggml_bitset_size((size_t)n_tensors);
    ggml_bitset_t *placed =
        gb_array_room(g->placed, &g->max_placed, n, sizeof(*placed));

    if (placed == NULL)
        return gb_fail(GGML_STATUS_ALLOC_FAILED, "graph allocator: no memory");
    g->placed = placed;
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
reserve(struct ggml_gallocr *g, const struct ggml_cgraph *graph,
        const int *node_ids, const int *leaf_ids)
{
    g->is_planned = false;
    GB_TRY(gb_plan_make(&g->plan, graph, node_ids, leaf_ids));
    GB_TRY(reserve_marks(g, g->plan.life.index.n_tensors));
    GB_TRY(reserve_buffers(g));
    g->tensors = g->plan.life.index.tensors;
    g->is_planned = true;
    return GGML_STATUS_SUCCESS;
}

enum ggml_status
gb_alloc_graph_reserve(
    ggml_gallocr_t g, const struct ggml_cgraph *graph, const int *node_ids,
    const int *leaf_ids)
{
    GB_TRY(check_call(g, graph));
    return reserve(g, graph, node_ids, leaf_ids);
}

bool
ggml_gallocr_reserve_n(
    ggml_gallocr_t g, struct ggml_cgraph *graph, const int *node_buffer_ids,
    const int *leaf_buffer_ids)
{
    return gb_alloc_graph_reserve(g, graph, node_buffer_ids,
                                  leaf_buffer_ids) == GGML_STATUS_SUCCESS;
}

bool
ggml_gallocr_reserve(ggml_gallocr_t g, struct ggml_cgraph *graph)
{
    return ggml_gallocr_reserve_n(g, graph, NULL, NULL);
}

/* ---- giving addresses ---- */

/*
 * Each slot's buffer forgets the last graph; a shared one as often as it is
 * shared.
 */
static void
reset_buffers(struct ggml_gallocr *g)
{
    for (int i = 0; i < g->plan.n_slots; i++) {
        int32_t chunk = g->plan.slot_pools[i];

        for (; chunk >= 0; chunk = g->plan.chunks[chunk].next) {
            struct memory *m = &g->memories[chunk];

            if (m->buffer == NULL)
                continue;
            ggml_backend_buffer_reset(m->buffer);
            m->base = ggml_backend_buffer_get_base(m->buffer);
        }
    }
}

static enum ggml_status
put(const struct ggml_gallocr *g, const struct gb_place *place,
    struct ggml_tensor *tensor)
{
    const struct memory *m = &g->memories[place->chunk];

    tensor->buffer = m->buffer;
    /* A buffer of no bytes has no base. */
    tensor->data = m->base != NULL ? m->base + place->offset : NULL;
    return m->buffer->iface.init_tensor == NULL
               ? GGML_STATUS_SUCCESS
               : m->buffer->iface.init_tensor(m->buffer, tensor);
}

/*
 * Give the tensor NUMBER its address, unless it has one; as before when the
 * backend refuses it there.
 */
static inline enum ggml_status
place(struct ggml_gallocr *g, int32_t number)
{
    const struct gb_life *life = &g->plan.life.lives[number];
    struct ggml_tensor *tensor = g->tensors[number];
    const struct ggml_tensor *root = tensor->view_src;
    enum ggml_status status;

    if (life->is_view ? tensor->buffer != NULL || root->buffer == NULL ||
                            root->data == NULL
                      : tensor->data != NULL ||
                            life->state == GB_PLACE_EXTERNAL)
        return GGML_STATUS_SUCCESS;
    status = life->is_view ? ggml_backend_view_init(tensor)
                           : put(g, &life->place, tensor);
    if (status == GGML_STATUS_SUCCESS) {
        ggml_bitset_set(g->placed, (size_t)number);
    } else {
        tensor->buffer = NULL;
        tensor->data = NULL;
    }
    return status;
}

static enum ggml_status
place_all(struct ggml_gallocr *g)
{
    const int32_t n = g->plan.life.index.n_tensors, ahead = 16;

    reset_buffers(g);
    for (int32_t i = 0; i < n; i++) {
        /* Of each tensor that comes, two lines are all that is wanted. */
        if (n - i > ahead) {
            GB_PREFETCH(&g->tensors[i + ahead]->buffer);
            GB_PREFETCH(&g->tensors[i + ahead]->data);
        }
        GB_TRY(place(g, i));
    }
    return GGML_STATUS_SUCCESS;
}

/* No address yet; all buffers know where they begin. */
static void
begin_placing(struct ggml_gallocr *g)
{
    const size_t n = ggml_bitset_size((size_t)g->plan.life.index.n_tensors);

    memset(g->placed, 0, n * sizeof(*g->placed));
    if (!g->is_told)
        reset_buffers(g);
}

/* The tensors that were met have no addresses but their own again. */
static void
take_back(struct ggml_gallocr *g)
{
    for (int32_t i = 0; i < g->n_met; i++) {
        if (!ggml_bitset_get(g->placed, (size_t)i))
            continue;
        g->tensors[i]->buffer = NULL;
        g->tensors[i]->data = NULL;
    }
}

/* ---- meeting a graph: is it of the planned one's make? ---- */

/* Is the planned place good enough for TENSOR? */
static bool
fits_place(
    struct ggml_gallocr *g, const struct gb_life *life,
    struct ggml_tensor *tensor)
{
    ggml_backend_buffer_type_t buft;

    if (tensor->data != NULL || tensor->view_src != NULL)
        return true;
    if (life->state == GB_PLACE_EXTERNAL) {
        g->lost = tensor;
        return false;
    }
    buft = g->plan.chunks[life->place.chunk].buft;
    /* What works in place must have its source's layout in this graph too. */
    if (life->place.taken_from >= 0)
        return gb_life_same_layout(tensor,
                                   g->tensors[life->place.taken_from]) &&
               gb_life_is_whole(g->tensors[life->place.taken_from]) &&
               gb_plan_same_room(buft, tensor, life->bytes);
    return ggml_backend_buft_get_alloc_size(buft, tensor) <= life->bytes;
}

/* TENSOR comes to play the part of NUMBER; numbers are met in their order. */
static bool
meet_new(struct ggml_gallocr *g, int32_t number, struct ggml_tensor *tensor)
{
    const struct gb_life *life = &g->plan.life.lives[number];

    if ((uint8_t)tensor->op != life->op ||
        ((tensor->flags & GGML_TENSOR_FLAG_OUTPUT) != 0) != life->is_output ||
        (tensor->view_src != NULL) != life->is_view)
        return false;
    if (life->root == g->n_met && !meet_new(g, life->root, tensor->view_src))
        return false;
    if (life->root >= 0 && g->tensors[life->root] != tensor->view_src)
        return false;
    g->tensors[number] = tensor;
    g->n_met = number + 1;
    if (!fits_place(g, life, tensor))
        return false;
    if (!g->is_told)
        g->status = place(g, number);
    return g->status == GGML_STATUS_SUCCESS;
}

static inline bool
meet(struct ggml_gallocr *g, int32_t number, struct ggml_tensor *tensor)
{
    return number < g->n_met ? g->tensors[number] == tensor
                             : meet_new(g, number, tensor);
}

/* The links of a node are the numbers of its N_SOURCES sources, and its own. */
static bool
meet_node(
    struct ggml_gallocr *g, const int32_t *link, int n_sources,
    struct ggml_tensor *node)
{
    const int32_t *own = link + n_sources;
    uintptr_t more = 0;
    int s = 0;

    while (link < own && s < GGML_MAX_SRC) {
        struct ggml_tensor *source = node->src[s++];

        if (source != NULL && !meet(g, *link++, source))
            return false;
    }
    while (s < GGML_MAX_SRC)
        more |= (uintptr_t)node->src[s++];
    return link == own && more == 0 && meet(g, *own, node);
}

static inline enum ggml_status
look_at(const struct gb_alloc_looker *looker, const struct ggml_tensor *tensor)
{
    return looker != NULL ? looker->look(looker->data, tensor)
                          : GGML_STATUS_SUCCESS;
}

/*
 * Does every tensor play the part of one in the plan, and need no more room?
 * *fits is false at first.
 */
static enum ggml_status
meet_graph(
    struct ggml_gallocr *g, const struct ggml_cgraph *graph,
    const struct gb_alloc_looker *looker, bool *fits)
{
    const struct gb_lifetimes *life = &g->plan.life;
    const int32_t *links = life->links;
    struct gb_tensor_walk walk = { { 0, 0 } };

    for (int i = 0; i < graph->n_leafs; i++) {
        gb_tensor_walk(&walk, graph->leafs[i]);
        GB_TRY(look_at(looker, graph->leafs[i]));
        if (!meet(g, *links++, graph->leafs[i]))
            return g->status;
    }
    for (int i = 0; i < graph->n_nodes; i++) {
        gb_tensor_walk(&walk, graph->nodes[i]);
        GB_TRY(look_at(looker, graph->nodes[i]));
        if (!meet_node(g, links, life->n_sources[i], graph->nodes[i]))
            return g->status;
        links += life->n_sources[i] + 1;
    }
    *fits = true;
    return GGML_STATUS_SUCCESS;
}

/* ---- laying out a graph ---- */

/* Look at what was laid out, in a build that does. */
static enum ggml_status
check_places(const struct ggml_cgraph *graph)
{
#ifdef GB_DEBUG
    const enum ggml_status status = gb_alloc_check(graph);

    GB_INVARIANT(status != GGML_STATUS_FAILED);
    return status;
#else
    (void)graph;
    return GGML_STATUS_SUCCESS;
#endif
}

/* A graph that was planned just now. */
static enum ggml_status
lay_out_planned(struct ggml_gallocr *g, const struct ggml_cgraph *graph)
{
    begin_placing(g);
    GB_TRY(place_all(g));
    return check_places(graph);
}

/* The same for one of the plan's make, if it is. */
static enum ggml_status
lay_out_met(struct ggml_gallocr *g, const struct ggml_cgraph *graph,
            const struct gb_alloc_looker *looker, bool *fits)
{
    GB_TRY(meet_graph(g, graph, looker, fits));
    if (!*fits)
        return GGML_STATUS_SUCCESS;
    if (g->is_told)
        GB_TRY(place_all(g));
    return GGML_STATUS_SUCCESS;
}

void
gb_alloc_graph_turn(ggml_gallocr_t g, int first, int n)
{
    const int32_t *leafs = g->plan.life.links + first;
    struct gb_life *lives = g->plan.life.lives;
    const struct gb_place place = lives[leafs[0]].place;

    for (int i = 0; i < n - 1; i++)
        lives[leafs[i]].place = lives[leafs[i + 1]].place;
    lives[leafs[n - 1]].place = place;
}

enum ggml_status
gb_alloc_graph_place(
    ggml_gallocr_t g, const struct ggml_cgraph *graph,
    const struct gb_alloc_looker *looker, bool *fits)
{
    const struct gb_lifetimes *life;
    enum ggml_status status;

    *fits = false;
    GB_TRY(check_call(g, graph));
    g->lost = NULL;
    life = &g->plan.life;
    if (!g->is_planned || graph->n_leafs != life->n_leafs ||
        graph->n_nodes != life->n_nodes)
        return GGML_STATUS_SUCCESS;
    begin_placing(g);
    g->n_met = 0;
    g->status = GGML_STATUS_SUCCESS;
    status = lay_out_met(g, graph, looker, fits);
    if (!*fits || status != GGML_STATUS_SUCCESS) {
        take_back(g);
        return status;
    }
    return check_places(graph);
}

bool
ggml_gallocr_alloc_graph(ggml_gallocr_t g, struct ggml_cgraph *graph)
{
    bool fits;

    if (gb_alloc_graph_place(g, graph, NULL, &fits) != GGML_STATUS_SUCCESS)
        return false;
    if (fits)
        return true;
    GB_NEED_OR(false, g->lost == NULL,
               "tensor %s had data when the graph was planned, "
               "and has none now", g->lost->name);
    /* With several slots only the caller knows where each tensor belongs. */
    return g->plan.n_slots == 1 &&
           reserve(g, graph, NULL, NULL) == GGML_STATUS_SUCCESS &&
           lay_out_planned(g, graph) == GGML_STATUS_SUCCESS;
}
