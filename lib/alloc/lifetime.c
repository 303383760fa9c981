/* SPDX-License-Identifier: MIT */
/*
 * alloc/lifetime.c - who reads which tensor of a graph, and how often.
 *
 * One walk over the graph; every tensor is looked up where it appears, and is a
 * number in an array from then on.
 */
#include "config.h"

#include "lib/alloc/lifetime.h"

#include "lib/base/mem.h"
#include "lib/op/op.h"
#include "lib/tensor/tensor.h"

#include <string.h>

static bool
grow_lives(struct gb_lifetimes *l, size_t max_lives)
{
    struct gb_life *lives = gb_mem_realloc(l->lives, max_lives, sizeof(*lives));

    if (lives == NULL)
        return false;
    l->lives = lives;
    l->max_lives = max_lives;
    return true;
}

static bool
grow_links(struct gb_lifetimes *l, size_t max_links)
{
    int32_t *links = gb_mem_realloc(l->links, max_links, sizeof(*links));

    if (links == NULL)
        return false;
    l->links = links;
    l->max_links = max_links;
    return true;
}

static bool
grow_nodes(struct gb_lifetimes *l, size_t max_nodes)
{
    uint8_t *n_sources =
        gb_mem_realloc(l->n_sources, max_nodes, sizeof(*n_sources));

    if (n_sources == NULL)
        return false;
    l->n_sources = n_sources;
    l->max_nodes = max_nodes;
    return true;
}

/* A number for a tensor that has none, with its life; -1 without memory. */
static int32_t
enter_new(
    struct gb_lifetimes *l, struct ggml_tensor *tensor, int32_t root, int node)
{
    const int32_t number = gb_index_add_new(&l->index, tensor);

    if (number < 0 || ((size_t)number >= l->max_lives &&
                       !grow_lives(l, (size_t)l->index.max_tensors)))
        return -1;
    l->lives[number] = (struct gb_life){
        .bytes = ggml_nbytes(tensor),
        .root = root,
        .first_node = node,
        .place = { .block = -1, .taken_from = -1 },
        .op = (uint8_t)tensor->op,
        .is_input = (tensor->flags & GGML_TENSOR_FLAG_INPUT) != 0,
        .is_output = (tensor->flags & GGML_TENSOR_FLAG_OUTPUT) != 0,
        .is_view = tensor->view_src != NULL,
        .has_data = tensor->data != NULL,
    };
    return number;
}

static void
count_view(struct gb_lifetimes *l, int32_t number)
{
    struct gb_life *life = &l->lives[number];

    if (life->root >= 0 && !life->is_counted) {
        life->is_counted = true;
        l->lives[life->root].n_views++;
    }
}

/* TENSOR's number, which may be a new one; -1 without memory. */
static inline int32_t
enter(struct gb_lifetimes *l, struct ggml_tensor *tensor, int node)
{
    int32_t number = gb_index_find(&l->index, tensor);
    int32_t root = -1;

    if (number >= 0)
        return number;
    if (tensor->view_src != NULL) {
        root = gb_index_find(&l->index, tensor->view_src);
        /*
         * Views of views do not exist, so the root has no root to be entered.
         */
        if (root < 0)
            root = enter_new(l, tensor->view_src, -1, node);
        if (root < 0)
            return -1;
    }
    number = enter_new(l, tensor, root, node);
    if (number >= 0 && l->lives[number].is_output)
        count_view(l, number);
    return number;
}

static bool
enter_leafs(struct gb_lifetimes *l, const struct ggml_cgraph *graph)
{
    struct gb_tensor_walk walk = { { 0, 0 } };

    for (int i = 0; i < graph->n_leafs; i++) {
        int32_t number;

        gb_tensor_walk(&walk, graph->leafs[i]);
        number = enter(l, graph->leafs[i], -1);
        if (number < 0)
            return false;
        l->links[l->n_links++] = number;
    }
    return true;
}

/*
 * Which of its first sources, the tensors NUMBERS, have NODE's layout?  Asked
 * here, where both are at hand.
 */
static uint8_t
sources_alike(
    const struct gb_lifetimes *l, const struct ggml_tensor *node, size_t bytes,
    const int32_t *numbers, size_t n)
{
    uint8_t alike = 0;

    for (size_t s = 0; s < n && s < GB_LIFE_ALIKE; s++)
        if (l->lives[numbers[s]].bytes == bytes &&
            gb_life_same_layout(node, l->index.tensors[numbers[s]]) &&
            gb_life_is_whole(l->index.tensors[numbers[s]]))
            alike |= (uint8_t)(1u << s);
    return alike;
}

/*
 * What NODE writes as well as its result may be a result, too, so it stays: one
 * read more is counted than there are.  LINKS are the numbers of its sources.
 */
static void
keep_written(
    struct gb_lifetimes *l, const struct ggml_tensor *node,
    const int32_t *links)
{
    const unsigned written = gb_op_writes(node->op);

    if (written == 0 || written == GB_OP_WRITES_ANYTHING)
        return;
    for (int s = 0; s < GGML_MAX_SRC; s++) {
        if (node->src[s] == NULL)
            continue;
        l->lives[*links].n_reads += (int32_t)(written >> s & 1);
        links++;
    }
}

static bool
enter_node(struct gb_lifetimes *l, struct ggml_tensor *node, int position)
{
    size_t begin;
    int32_t number;

    if (l->max_links - l->n_links < GGML_MAX_SRC + 1 &&
        !grow_links(l, 2 * l->max_links + GGML_MAX_SRC + 1))
        return false;

    begin = l->n_links;
    for (int s = 0; s < GGML_MAX_SRC; s++) {
        if (node->src[s] == NULL)
            continue;
        number = enter(l, node->src[s], position);
        if (number < 0)
            return false;
        l->lives[number].n_reads++;
        count_view(l, number);
        l->links[l->n_links++] = number;
    }

    keep_written(l, node, l->links + begin);

    number = enter(l, node, position);
    if (number < 0)
        return false;
    /*
     * A view that nobody reads in the graph may be its result, so what it looks
     * at stays.  Not so for operation NONE: such a node only reads its source,
     * to keep it up to here.
     */
    if (node->op != GGML_OP_NONE)
        count_view(l, number);
    l->lives[number].alike =
        sources_alike(l, node, l->lives[number].bytes, l->links + begin,
                      l->n_links - begin);
    l->n_sources[position] = (uint8_t)(l->n_links - begin);
    l->links[l->n_links++] = number;
    return true;
}

bool
gb_lifetimes_build(
    struct gb_lifetimes *l, const struct ggml_cgraph *graph)
{
    const size_t n_leafs = (size_t)graph->n_leafs;
    const size_t n_nodes = (size_t)graph->n_nodes;
    /* Two sources a node is what most graphs stay below. */
    const size_t n_links = n_leafs + 3 * n_nodes + GGML_MAX_SRC;
    struct gb_tensor_walk walk = { { 0, 0 } };

    l->n_leafs = graph->n_leafs;
    l->n_nodes = graph->n_nodes;
    l->n_links = 0;

    if (!gb_index_reset(&l->index, (int64_t)n_leafs + graph->n_nodes) ||
        (l->max_lives < n_leafs + n_nodes &&
         !grow_lives(l, n_leafs + n_nodes)) ||
        (l->max_nodes < n_nodes && !grow_nodes(l, n_nodes)) ||
        (l->max_links < n_links && !grow_links(l, n_links)))
        return false;

    if (!enter_leafs(l, graph))
        return false;
    for (int i = 0; i < graph->n_nodes; i++) {
        gb_tensor_walk(&walk, graph->nodes[i]);
        if (!enter_node(l, graph->nodes[i], i))
            return false;
    }
    return true;
}

void
gb_lifetimes_clear(struct gb_lifetimes *l)
{
    gb_index_clear(&l->index);
    gb_mem_free(l->lives);
    gb_mem_free(l->links);
    gb_mem_free(l->n_sources);
    memset(l, 0, sizeof(*l));
}
