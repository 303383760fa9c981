/* SPDX-License-Identifier: MIT */
/*
 * run/merge.c - joining neighbouring symbols, the best pair first.
 *
 * Pairs wait in a heap.  Joining leaves pairs behind that no longer exist; they
 * are recognised when they come up, by the size the two had together, so a text
 * of n bytes takes n log n steps whatever is in it.
 */
#include "tools/ggmlbackend-run/merge.h"

#include "tools/common/tool.h"

#include <stdlib.h>
#include <string.h>

struct merge_pair {
    double cost;
    size_t left, right;
    size_t size; /* of both together when the pair was rated */
    int32_t id;
};

static bool
is_before(const struct merge_pair *a, const struct merge_pair *b)
{
    return a->cost < b->cost || (a->cost == b->cost && a->left < b->left);
}

/* Room for one more item of SIZE bytes. */
static bool
grow(void **items, size_t *room, size_t n, size_t size)
{
    const size_t wanted = *room == 0 ? 256 : *room * 2;
    void *larger;

    if (n < *room)
        return true;
    larger = wanted > SIZE_MAX / size ? NULL : realloc(*items, wanted * size);
    if (larger == NULL)
        return tool_error("no memory for the text");
    *items = larger;
    *room = wanted;
    return true;
}

static bool
heap_push(struct merge *m, struct merge_pair pair)
{
    void *heap = m->heap;
    size_t i = m->n_pairs;

    if (!grow(&heap, &m->pairs_room, i, sizeof(pair)))
        return false;
    m->heap = heap;
    m->n_pairs++;
    while (i > 0 && is_before(&pair, &m->heap[(i - 1) / 2])) {
        m->heap[i] = m->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    m->heap[i] = pair;
    return true;
}

static struct merge_pair
heap_pop(struct merge *m)
{
    const struct merge_pair top = m->heap[0];
    const struct merge_pair last = m->heap[--m->n_pairs];
    const size_t n = m->n_pairs;
    size_t i = 0, child;

    while ((child = 2 * i + 1) < n) {
        if (child + 1 < n && is_before(&m->heap[child + 1], &m->heap[child]))
            child++;
        if (!is_before(&m->heap[child], &last))
            break;
        m->heap[i] = m->heap[child];
        i = child;
    }
    m->heap[i] = last;
    return top;
}

/* Put the pair of LEFT and its neighbour into the heap if it can be joined. */
static bool
consider(struct merge *m, const void *vocab, const char *text,
         merge_rate_fn rate, size_t left)
{
    struct merge_pair pair = { .left = left };
    const struct symbol *a, *b;

    if (left == SYMBOL_NONE || m->symbols[left].next == SYMBOL_NONE)
        return true;
    pair.right = m->symbols[left].next;
    a = &m->symbols[left];
    b = &m->symbols[pair.right];
    pair.size = a->size + b->size;
    if (!rate(vocab, text, a, b, &pair.id, &pair.cost))
        return true;
    return heap_push(m, pair);
}

/* Is the pair still what it was when it was rated? */
static bool
is_current(const struct merge *m, const struct merge_pair *pair)
{
    const struct symbol *a = &m->symbols[pair->left];
    const struct symbol *b = &m->symbols[pair->right];

    return a->size > 0 && b->size > 0 && a->next == pair->right &&
        a->size + b->size == pair->size;
}

static void
join(struct merge *m, const struct merge_pair *pair)
{
    struct symbol *a = &m->symbols[pair->left];
    struct symbol *b = &m->symbols[pair->right];

    a->size += b->size;
    a->id = pair->id;
    a->next = b->next;
    if (b->next != SYMBOL_NONE)
        m->symbols[b->next].prev = pair->left;
    b->size = 0;
}

void
merge_begin(struct merge *m)
{
    m->n_symbols = 0;
    m->n_pairs = 0;
}

bool
merge_add(struct merge *m, size_t size, int32_t id)
{
    const size_t i = m->n_symbols;
    void *symbols = m->symbols;
    struct symbol *s;

    if (!grow(&symbols, &m->symbols_room, i, sizeof(*s)))
        return false;
    m->symbols = symbols;
    s = &m->symbols[i];
    s->begin = 0;
    s->size = size;
    s->id = id;
    s->prev = SYMBOL_NONE;
    s->next = SYMBOL_NONE;
    if (i > 0) {
        /* Nothing is joined yet, so the one before is as long as it was. */
        s->begin = s[-1].begin + s[-1].size;
        s->prev = i - 1;
        s[-1].next = i;
    }
    m->n_symbols++;
    return true;
}

bool
merge_run(struct merge *m, const void *vocab, const char *text,
          merge_rate_fn rate)
{
    for (size_t i = 0; i < m->n_symbols; i++)
        if (!consider(m, vocab, text, rate, i))
            return false;
    while (m->n_pairs > 0) {
        const struct merge_pair pair = heap_pop(m);

        if (!is_current(m, &pair))
            continue;
        join(m, &pair);
        if (!consider(m, vocab, text, rate, m->symbols[pair.left].prev) ||
            !consider(m, vocab, text, rate, pair.left))
            return false;
    }
    return true;
}

void
merge_clear(struct merge *m)
{
    free(m->symbols);
    free(m->heap);
    memset(m, 0, sizeof(*m));
}
