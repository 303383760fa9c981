/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/pinned.c - ranges of pinned memory; there are few.
 */
#include "backends/cuda/device/pinned.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

struct range {
    struct range *next;
    uintptr_t start;
    size_t size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct range *ranges;

bool
gb_cuda_pinned_add(const void *memory, size_t size)
{
    struct range *range = malloc(sizeof(*range));

    if (range == NULL)
        return false;
    range->start = (uintptr_t)memory;
    range->size = size;
    pthread_mutex_lock(&lock);
    range->next = ranges;
    ranges = range;
    pthread_mutex_unlock(&lock);
    return true;
}

/* With the lock: take the range that starts there out; NULL: none does. */
static struct range *
take_out(uintptr_t start)
{
    struct range **at = &ranges;
    struct range *found;

    while (*at != NULL && (*at)->start != start)
        at = &(*at)->next;
    found = *at;
    if (found != NULL)
        *at = found->next;
    return found;
}

void
gb_cuda_pinned_remove(const void *memory)
{
    struct range *range;

    pthread_mutex_lock(&lock);
    range = take_out((uintptr_t)memory);
    pthread_mutex_unlock(&lock);
    free(range);
}

bool
gb_cuda_is_pinned(const void *memory, size_t size)
{
    const uintptr_t start = (uintptr_t)memory;
    bool is_found = false;

    pthread_mutex_lock(&lock);
    for (const struct range *r = ranges; r != NULL && !is_found; r = r->next)
        is_found = start >= r->start && start - r->start < r->size &&
                   size <= r->size - (start - r->start);
    pthread_mutex_unlock(&lock);
    return is_found;
}
