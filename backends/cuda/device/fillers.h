/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/fillers.h - threads that fill the slots of a ring from pageable
 * memory, which one thread reads more slowly than a card's link takes it.
 *
 * Chunk I of the memory, all of the same size but the last, goes into slot I
 * modulo their number.  One thread calls these functions; those that fill call
 * nothing of the driver's.
 */
#ifndef GB_CUDA_DEVICE_FILLERS_H
#define GB_CUDA_DEVICE_FILLERS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { GB_CUDA_MAX_FILLERS = 8, GB_CUDA_MAX_SLOTS = 16 };

struct gb_cuda_fillers {
    const char *from; /* what is copied */
    size_t size;
    char *slots;
    size_t slot_size;
    size_t n_slots;

    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t changed;
    size_t next;      /* chunk that nobody has begun with */
    size_t n_allowed; /* chunks from the first on whose slots are free */
    size_t filled[GB_CUDA_MAX_SLOTS]; /* the chunk in each, plus one; 0: none */
    pthread_t threads[GB_CUDA_MAX_FILLERS];
    int n_threads;
};

/*
 * Begin with N threads or as many as there can be; the members of the first
 * group are set, the others are not looked at.  False: there is none, and
 * nothing to end.
 */
bool gb_cuda_fillers_begin(struct gb_cuda_fillers *f, int n);

/* Slots of the first N chunks are free, as soon as the chunk that is there
 * was used. */
void gb_cuda_fillers_allow(struct gb_cuda_fillers *f, size_t n);

/* Wait until chunk I, which is allowed, is in its slot. */
void gb_cuda_fillers_await(struct gb_cuda_fillers *f, size_t i);

/* Wait for the threads; chunks that are not allowed yet stay where they are. */
void gb_cuda_fillers_end(struct gb_cuda_fillers *f);

#endif
