/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/fillers.c - threads that fill the slots of a ring.
 */
#include "backends/cuda/device/fillers.h"

#include <signal.h>
#include <string.h>

static size_t
n_chunks(const struct gb_cuda_fillers *f)
{
    return (f->size + f->slot_size - 1) / f->slot_size;
}

static void
fill(const struct gb_cuda_fillers *f, size_t i)
{
    const size_t offset = i * f->slot_size, left = f->size - offset;

    memcpy(f->slots + i % f->n_slots * f->slot_size, f->from + offset,
           left < f->slot_size ? left : f->slot_size);
}

/* Until all chunks were begun with. */
static void *
fill_chunks(void *data)
{
    struct gb_cuda_fillers *f = data;

    pthread_mutex_lock(&f->lock);
    while (f->next < n_chunks(f)) {
        const size_t i = f->next;

        if (i >= f->n_allowed) {
            pthread_cond_wait(&f->changed, &f->lock);
            continue;
        }
        f->next++;
        pthread_mutex_unlock(&f->lock);
        fill(f, i);
        pthread_mutex_lock(&f->lock);
        f->filled[i % f->n_slots] = i + 1;
        pthread_cond_broadcast(&f->changed);
    }
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

/* The program's signals are not for these threads. */
static int
start_threads(struct gb_cuda_fillers *f, int n)
{
    sigset_t all, before;
    int n_started = 0;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (n_started < n &&
           pthread_create(&f->threads[n_started], NULL, fill_chunks, f) == 0)
        n_started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return n_started;
}

bool
gb_cuda_fillers_begin(struct gb_cuda_fillers *f, int n)
{
    if (n > GB_CUDA_MAX_FILLERS)
        n = GB_CUDA_MAX_FILLERS;
    if (pthread_mutex_init(&f->lock, NULL) != 0)
        return false;
    if (pthread_cond_init(&f->changed, NULL) != 0) {
        pthread_mutex_destroy(&f->lock);
        return false;
    }
    f->next = 0;
    f->n_allowed = 0;
    memset(f->filled, 0, sizeof(f->filled));
    f->n_threads = start_threads(f, n);
    if (f->n_threads > 0)
        return true;
    gb_cuda_fillers_end(f);
    return false;
}

void
gb_cuda_fillers_allow(struct gb_cuda_fillers *f, size_t n)
{
    pthread_mutex_lock(&f->lock);
    f->n_allowed = n;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

void
gb_cuda_fillers_await(struct gb_cuda_fillers *f, size_t i)
{
    pthread_mutex_lock(&f->lock);
    while (f->filled[i % f->n_slots] != i + 1)
        pthread_cond_wait(&f->changed, &f->lock);
    pthread_mutex_unlock(&f->lock);
}

void
gb_cuda_fillers_end(struct gb_cuda_fillers *f)
{
    pthread_mutex_lock(&f->lock);
    f->next = n_chunks(f);
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
    for (int i = 0; i < f->n_threads; i++)
        pthread_join(f->threads[i], NULL);
    pthread_cond_destroy(&f->changed);
    pthread_mutex_destroy(&f->lock);
}
