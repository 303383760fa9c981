/* SPDX-License-Identifier: MIT */
/*
 * fuse/seen.c - what a graph looked like when it was planned.
 */
#include "lib/fuse/seen.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* What is computed depends on everything of a tensor before its name.  Of that,
 * where it lies comes last.  A view's parameters are its offset once more. */
enum {
    FIXED_SIZE = offsetof(struct ggml_tensor, view_offs),
    PARAMS = offsetof(struct ggml_tensor, op_params),
    BEHIND_PARAMS = offsetof(struct ggml_tensor, op_params) +
                    sizeof(((struct ggml_tensor *)NULL)->op_params),
};

_Static_assert(offsetof(struct ggml_tensor, data) ==
                       FIXED_SIZE + sizeof(size_t) &&
                   offsetof(struct ggml_tensor, name) ==
                       FIXED_SIZE + sizeof(size_t) + sizeof(void *),
               "a tensor has an offset and an address before its name");

struct gb_fuse_look {
    char fixed[FIXED_SIZE];
    size_t view_offs;
    void *data;
};

/* ---- taking a look ---- */

/* Node NODE is what was looked at as LOOK, or has it as a source. */
struct use {
    int look, node;
};

/* Tensors that have an index, which are looked at in this order. */
struct numbering {
    struct ggml_hash_set set;
    int *indices; /* by slot of the set */
    struct use *uses;
    int n_uses;
    struct gb_fuse_seen *seen;
};

/* The index of T, a new one if it has none. */
static int
number(struct numbering *n, struct ggml_tensor *t)
{
    const size_t slot = ggml_hash_find(&n->set, t);

    if (ggml_hash_insert(&n->set, t) != GGML_HASHSET_ALREADY_EXISTS) {
        struct gb_fuse_look *look = &n->seen->looks[n->seen->n_looks];

        n->seen->tensors[n->seen->n_looks] = t;
        memcpy(look->fixed, t, FIXED_SIZE);
        look->view_offs = t->view_offs;
        look->data = t->data;
        n->indices[slot] = n->seen->n_looks++;
    }
    return n->indices[slot];
}

static void
add_use(struct numbering *n, int look, int node)
{
    n->uses[n->n_uses++] = (struct use){ look, node };
}

static void
number_all(struct numbering *n, const struct ggml_cgraph *cgraph)
{
    for (int i = 0; i < cgraph->n_nodes; i++)
        add_use(n, number(n, cgraph->nodes[i]), i);
    for (int i = 0; i < cgraph->n_nodes; i++) {
        const struct ggml_tensor *node = cgraph->nodes[i];

        for (int j = 0; j < GGML_MAX_SRC; j++) {
            if (node->src[j] != NULL)
                add_use(n, number(n, node->src[j]), i);
        }
        if (node->view_src != NULL)
            number(n, node->view_src);
    }
}

/* Uses in the order of looks: counted, and put from the last one's end on. */
static void
index_uses(const struct numbering *n)
{
    const struct gb_fuse_seen *seen = n->seen;
    int *first = seen->first_user;

    for (int i = 0; i < n->n_uses; i++)
        first[n->uses[i].look]++;
    for (int i = 1; i <= seen->n_looks; i++)
        first[i] += first[i - 1];
    for (int i = n->n_uses - 1; i >= 0; i--)
        seen->users[--first[n->uses[i].look]] = n->uses[i].node;
}

/* At most so many tensors, and uses: nodes, their sources, and what they are
 * views of. */
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

static bool
make_room(struct numbering *n, size_t most)
{
    struct gb_fuse_seen *seen = n->seen;

    n->set = ggml_hash_set_new(2 * most);
    n->indices = calloc(n->set.size + 1, sizeof(*n->indices));
    n->uses = calloc(most, sizeof(*n->uses));
    seen->tensors = calloc(most, sizeof(*seen->tensors));
    seen->looks = calloc(most, sizeof(*seen->looks));
    seen->users = calloc(most, sizeof(*seen->users));
    seen->first_user = calloc(most + 1, sizeof(*seen->first_user));
    seen->moved = calloc(most, sizeof(*seen->moved));
    return n->set.size > 0 && n->indices != NULL && n->uses != NULL &&
           seen->tensors != NULL && seen->looks != NULL &&
           seen->users != NULL && seen->first_user != NULL &&
           seen->moved != NULL;
}

void
gb_fuse_seen_take(struct gb_fuse_seen *seen, const struct ggml_cgraph *cgraph)
{
    const size_t most = most_looks(cgraph);
    struct numbering n = { .seen = seen };

    gb_fuse_seen_clear(seen);
    if (most == 0)
        return;
    if (make_room(&n, most)) {
        number_all(&n, cgraph);
        index_uses(&n);
        seen->n_nodes = cgraph->n_nodes;
    } else {
        gb_fuse_seen_clear(seen);
    }
    free(n.uses);
    free(n.indices);
    ggml_hash_set_free(&n.set);
}

/* ---- comparing ---- */

/* Is T what LOOK has, but for the place? */
static bool
is_alike(const struct gb_fuse_look *look, const struct ggml_tensor *t)
{
    const char *now = (const char *)t;

    if (t->op != GGML_OP_VIEW)
        return memcmp(look->fixed, now, FIXED_SIZE) == 0;
    return memcmp(look->fixed, now, PARAMS) == 0 &&
           memcmp(look->fixed + BEHIND_PARAMS, now + BEHIND_PARAMS,
                  FIXED_SIZE - BEHIND_PARAMS) == 0;
}

/* Is T, of which LOOK has all but the place, a view that is elsewhere now, in
 * what it was a view of before? */
static bool
is_moved_view(const struct gb_fuse_look *look, const struct ggml_tensor *t)
{
    return t->view_src != NULL && t->data != NULL && look->data != NULL &&
           (uintptr_t)t->data - t->view_offs ==
               (uintptr_t)look->data - look->view_offs;
}

/* The nodes are compared first: what they name is there if they are as they
 * were. */
static bool
has_same_nodes(
    const struct gb_fuse_seen *seen, const struct ggml_cgraph *cgraph)
{
    return seen->n_nodes == cgraph->n_nodes && seen->n_nodes > 0 &&
           memcmp(seen->tensors, cgraph->nodes,
                  (size_t)seen->n_nodes * sizeof(*seen->tensors)) == 0;
}

/* Remember where views are now that moved. */
static void
follow(struct gb_fuse_seen *seen)
{
    for (int i = 0; i < seen->n_moved; i++) {
        const struct ggml_tensor *t = seen->tensors[seen->moved[i]];
        struct gb_fuse_look *look = &seen->looks[seen->moved[i]];

        look->view_offs = t->view_offs;
        look->data = t->data;
    }
}

enum gb_fuse_change
gb_fuse_seen_compare(
    struct gb_fuse_seen *seen, const struct ggml_cgraph *cgraph)
{
    if (!has_same_nodes(seen, cgraph))
        return GB_FUSE_OTHER;
    seen->n_moved = 0;
    for (int i = 0; i < seen->n_looks; i++) {
        const struct ggml_tensor *t = seen->tensors[i];
        const struct gb_fuse_look *look = &seen->looks[i];

        if (!is_alike(look, t))
            return GB_FUSE_OTHER;
        if (look->data == t->data && look->view_offs == t->view_offs)
            continue;
        if (!is_moved_view(look, t))
            return GB_FUSE_OTHER;
        seen->moved[seen->n_moved++] = i;
    }
    follow(seen);
    return seen->n_moved > 0 ? GB_FUSE_MOVED : GB_FUSE_SAME;
}

void
gb_fuse_seen_clear(struct gb_fuse_seen *seen)
{
    free(seen->tensors);
    free(seen->looks);
    free(seen->users);
    free(seen->first_user);
    free(seen->moved);
    *seen = (struct gb_fuse_seen){ .n_nodes = 0 };
}
