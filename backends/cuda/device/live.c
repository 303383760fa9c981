/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/live.c - the streams of all backends that live.
 */
#include "backends/cuda/device/live.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gb_cuda_live *first;

void
gb_cuda_live_add(struct gb_cuda_live *live)
{
    pthread_mutex_lock(&lock);
    live->next = first;
    first = live;
    pthread_mutex_unlock(&lock);
}

void
gb_cuda_live_remove(struct gb_cuda_live *live)
{
    struct gb_cuda_live **at = &first;

    pthread_mutex_lock(&lock);
    while (*at != NULL && *at != live)
        at = &(*at)->next;
    if (*at != NULL)
        *at = live->next;
    pthread_mutex_unlock(&lock);
}

void
gb_cuda_live_drain(void)
{
    pthread_mutex_lock(&lock);
    for (struct gb_cuda_live *live = first; live != NULL; live = live->next) {
        if (!gb_cuda_enter_cleanup(live->hold))
            continue;
        gb_cuda_queue_drain(live->hold->card, live->queue);
        gb_cuda_leave(live->hold);
    }
    pthread_mutex_unlock(&lock);
}
