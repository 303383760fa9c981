/* SPDX-License-Identifier: MIT */
/*
 * sched/index.c - the graph as numbers.
 *
 * Every tensor is looked up where it appears, once; all later steps find what
 * they need in arrays.
 */
#include "config.h"

#include "lib/sched/sched.h"

#include "lib/backend/transfer.h"
#include "lib/base/array.h"
#include "lib/base/status.h"
#include "lib/op/op.h"

static enum ggml_status
no_memory(void)
{
    return gb_fail(GGML_STATUS_ALLOC_FAILED, "sched: no memory for the graph");
}

/* Is it one of the descriptions that copy.c made? */
static bool
is_own_copy(
    const struct ggml_backend_sched *s, const struct ggml_tensor *tensor)
{
    const uintptr_t at = (uintptr_t)tensor, pool = (uintptr_t)s->pool;

    return at >= pool && at - pool < s->max_pool * sizeof(*s->pool);
}

/* What the client chose. */
static int32_t
chosen_backend(
    const struct ggml_backend_sched *s, const struct ggml_tensor *tensor)
{
    int32_t number;

    if (s->chosen.n_tensors == 0)
        return -1;
    number = gb_index_find(&s->chosen, tensor);
    return number >= 0 ? s->chosen_backends[number] : -1;
}

/* A number for what has none, and whose root has one; -1 without memory. */
static int32_t
add_new(struct ggml_backend_sched *s, struct ggml_tensor *tensor, int32_t root)
{
    const ggml_backend_buffer_t home = gb_transfer_home(tensor);
    const int32_t number = gb_index_add_new(&s->index, tensor);
    struct gb_sched_tensor *tensors;

    if (number < 0)
        return -1;
    tensors = gb_array_room(s->tensors, &s->max_tensors, (size_t)number + 1,
                            sizeof(*tensors));
    if (tensors == NULL)
        return -1;
    s->tensors = tensors;
    tensors[number] = (struct gb_sched_tensor){
        .home = home != NULL ? home->buft : NULL,
        .backend = chosen_backend(s, tensor),
        .root = root,
        .copies = -1,
    };
    return number;
}

static enum ggml_status
enter_new(
    struct ggml_backend_sched *s, struct ggml_tensor *tensor, int32_t *number)
{
    int32_t root = -1;

    GB_NEED_OR(GGML_STATUS_FAILED, !is_own_copy(s, tensor),
               "sched: a source of the graph is the copy %s of an earlier "
               "split: build the graph anew", tensor->name);
    if (tensor->view_src != NULL) {
        root = gb_index_find(&s->index, tensor->view_src);
        /* Views of views do not exist. */
        if (root < 0)
            root = add_new(s, tensor->view_src, -1);
        if (root < 0)
            return no_memory();
    }
    *number = add_new(s, tensor, root);
    return *number >= 0 ? GGML_STATUS_SUCCESS : no_memory();
}

static inline enum ggml_status
enter(struct ggml_backend_sched *s, struct ggml_tensor *tensor, int32_t *number)
{
    *number = gb_index_find(&s->index, tensor);
    return *number >= 0 ? GGML_STATUS_SUCCESS : enter_new(s, tensor, number);
}

/* A source that is new is no leaf and no node. */
static enum ggml_status
enter_stray(
    struct ggml_backend_sched *s, struct ggml_tensor *source, int32_t *number)
{
    int32_t *strays = gb_array_room(s->strays, &s->max_strays, s->n_strays + 1,
                           sizeof(*strays));
    if (strays == NULL)
        return no_memory();
    s->strays = strays;
    GB_TRY(enter_new(s, source, number));
    strays[s->n_strays++] = *number;
    return GGML_STATUS_SUCCESS;
}

/*
 * What a node writes that is not its own memory.  Nearly all operations write
 * their results only, which may be views.
 */
static inline uint16_t
writes_of(const struct ggml_tensor *node)
{
    const unsigned sources = gb_op_writes(node->op);
    uint16_t writes = sources == GB_OP_WRITES_ANYTHING
                          ? GB_SCHED_WRITES_ANYTHING : (uint16_t)sources;

    if (node->view_src != NULL && node->op != GGML_OP_NONE)
        writes |= GB_SCHED_WRITES_ROOT;
    return writes;
}

/* Where the links of the node begin that comes next, with room for all. */
static int32_t *
next_links(struct ggml_backend_sched *s)
{
    if (s->max_links - s->n_links < GGML_MAX_SRC) {
        int32_t *links =
            gb_array_room(s->links, &s->max_links, s->n_links + GGML_MAX_SRC,
                          sizeof(*links));

        if (links == NULL)
            return NULL;
        s->links = links;
    }
    return s->links + s->n_links;
}

enum ggml_status
gb_sched_enter_leaf(struct ggml_backend_sched *s, int i)
{
    return enter(s, s->graph.leafs[i], &s->leafs[i]);
}

enum ggml_status
gb_sched_enter_node(struct ggml_backend_sched *s, int i)
{
    struct ggml_tensor *tensor = s->graph.nodes[i];
    struct gb_sched_node *node = &s->nodes[i];
    int32_t *links = next_links(s);
    int n = GGML_MAX_SRC;

    if (links == NULL)
        return no_memory();
    while (n > 0 && tensor->src[n - 1] == NULL)
        n--;
    for (int slot = 0; slot < n; slot++) {
        struct ggml_tensor *source = tensor->src[slot];

        links[slot] = -1;
        if (source == NULL)
            continue;
        /* Very often it is the node before. */
        links[slot] = i > 0 && source == s->graph.nodes[i - 1]
                          ? s->nodes[i - 1].number
                          : gb_index_find(&s->index, source);
        if (links[slot] < 0)
            GB_TRY(enter_stray(s, source, &links[slot]));
    }
    node->links = s->n_links;
    node->n_links = (uint8_t)n;
    node->is_view = gb_op_is_view(tensor->op);
    node->writes = node->is_view ? 0 : writes_of(tensor);
    s->n_links += (size_t)n;
    return enter(s, tensor, &node->number);
}

enum ggml_status
gb_sched_begin_index(struct ggml_backend_sched *s)
{
    const size_t n_leafs = (size_t)s->graph.n_leafs;
    const size_t n_nodes = (size_t)s->graph.n_nodes;
    int32_t *leafs;
    struct gb_sched_node *nodes;

    s->n_links = 0;
    s->n_strays = 0;
    if (!gb_index_reset(&s->index, (int64_t)n_leafs + s->graph.n_nodes))
        return no_memory();
    leafs = gb_array_room(s->leafs, &s->max_leafs, n_leafs, sizeof(*leafs));
    if (leafs == NULL)
        return no_memory();
    s->leafs = leafs;
    nodes = gb_array_room(s->nodes, &s->max_nodes, n_nodes, sizeof(*nodes));
    if (nodes == NULL)
        return no_memory();
    s->nodes = nodes;
    return GGML_STATUS_SUCCESS;
}
