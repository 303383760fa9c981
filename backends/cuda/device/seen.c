/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/seen.c - what a graph looked like when it was planned.
 */
#include "backends/cuda/device/seen.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* What is computed depends on everything of a tensor before its name. */
enum { LOOK_SIZE = offsetof(struct ggml_tensor, name) };

struct gb_cuda_look {
    struct ggml_tensor *tensor;
    char bytes[LOOK_SIZE];
};

/* ---- taking a look ---- */

/* Tensors that have an index, which are looked at in this order. */
struct numbering {
    struct ggml_hash_set set;
    int32_t *indices; /* by slot of the set */
    struct gb_cuda_seen *seen;
};

/* The index of T, a new one if it has none. */
static int32_t
number(struct numbering *n, struct ggml_tensor *t)
{
    const size_t slot = ggml_hash_find(&n->set, t);

    if (ggml_hash_insert(&n->set, t) != GGML_HASHSET_ALREADY_EXISTS) {
        struct gb_cuda_look *look = &n->seen->looks[n->seen->n_looks];

        look->tensor = t;
        memcpy(look->bytes, t, LOOK_SIZE);
        n->indices[slot] = n->seen->n_looks++;
    }
    return n->indices[slot];
}

static void
number_all(struct numbering *n, const struct ggml_cgraph *cgraph)
{
    for (int i = 0; i < cgraph->n_nodes; i++)
        number(n, cgraph->nodes[i]);
    for (int i = 0; i < cgraph->n_nodes; i++) {
        const struct ggml_tensor *node = cgraph->nodes[i];

        struct gb_cuda_sources *sources = &n->seen->sources[i];

        for (int j = 0; j < GGML_MAX_SRC; j++) {
            if (node->src[j] != NULL)
                sources->looks[sources->n++] = number(n, node->src[j]);
        }
        if (node->view_src != NULL)
            number(n, node->view_src);
    }
}

/* At most so many tensors: nodes, their sources, and what they are views of. */
static size_t
most_looks(const struct ggml_cgraph *cgraph)
{
    size_t n = 0;

    for (int i = 0; i < cgraph->n_nodes; i++) {
        n += 2;
        for (int j = 0; j < GGML_MAX_SRC; j++)
            n += cgraph->nodes[i]->src[j] != NULL;
    }
    return n;
}

void
gb_cuda_seen_take(struct gb_cuda_seen *seen, const struct ggml_cgraph *cgraph)
{
    const size_t most = most_looks(cgraph);
    struct numbering n = { .seen = seen };

    gb_cuda_seen_clear(seen);
    if (most == 0)
        return;
    n.set = ggml_hash_set_new(2 * most);
    n.indices = calloc(n.set.size + 1, sizeof(*n.indices));
    seen->looks = calloc(most, sizeof(*seen->looks));
    seen->moved = calloc(most, sizeof(*seen->moved));
    seen->sources =
        calloc((size_t)cgraph->n_nodes, sizeof(*seen->sources));
    if (n.set.size > 0 && n.indices != NULL && seen->looks != NULL &&
        seen->moved != NULL && seen->sources != NULL) {
        number_all(&n, cgraph);
        seen->n_nodes = cgraph->n_nodes;
    } else {
        gb_cuda_seen_clear(seen);
    }
    free(n.indices);
    ggml_hash_set_free(&n.set);
}

/* ---- comparing ---- */

/* Is T a view that is elsewhere now, in what it was a view of before? */
static bool
is_moved_view(const struct gb_cuda_look *look)
{
    struct ggml_tensor before, now = *look->tensor;

    memcpy(&before, look->bytes, LOOK_SIZE);
    if (now.view_src == NULL || now.data == NULL || before.data == NULL ||
        (uintptr_t)now.data - now.view_offs !=
            (uintptr_t)before.data - before.view_offs)
        return false;
    now.data = before.data;
    now.view_offs = before.view_offs;
    return memcmp(&now, &before, LOOK_SIZE) == 0;
}

/* The nodes are compared first: what they name is there if they are as they
 * were. */
static bool
has_same_nodes(
    const struct gb_cuda_seen *seen, const struct ggml_cgraph *cgraph)
{
    if (seen->n_nodes != cgraph->n_nodes || seen->n_nodes == 0)
        return false;
    for (int i = 0; i < seen->n_nodes; i++) {
        if (seen->looks[i].tensor != cgraph->nodes[i])
            return false;
    }
    return true;
}

enum gb_cuda_change
gb_cuda_seen_compare(
    struct gb_cuda_seen *seen, const struct ggml_cgraph *cgraph)
{
    enum gb_cuda_change change = GB_CUDA_SAME;

    if (!has_same_nodes(seen, cgraph))
        return GB_CUDA_OTHER;
    for (int i = 0; i < seen->n_looks; i++) {
        struct gb_cuda_look *look = &seen->looks[i];

        seen->moved[i] = memcmp(look->bytes, look->tensor, LOOK_SIZE) != 0;
        if (!seen->moved[i])
            continue;
        if (!is_moved_view(look))
            return GB_CUDA_OTHER;
        memcpy(look->bytes, look->tensor, LOOK_SIZE);
        change = GB_CUDA_MOVED;
    }
    return change;
}

bool
gb_cuda_seen_has_moved(const struct gb_cuda_seen *seen, int i)
{
    const struct gb_cuda_sources *sources = &seen->sources[i];
    bool has_moved = seen->moved[i];

    for (int j = 0; j < sources->n; j++)
        has_moved |= seen->moved[sources->looks[j]];
    return has_moved;
}

void
gb_cuda_seen_clear(struct gb_cuda_seen *seen)
{
    free(seen->looks);
    free(seen->moved);
    free(seen->sources);
    *seen = (struct gb_cuda_seen){ .n_nodes = 0 };
}
