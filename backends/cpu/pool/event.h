/* SPDX-License-Identifier: MIT */
/*
 * cpu/pool/event.h - waiting until something has become true.
 *
 * Whoever makes it true stores that first, with release order at least, and
 * then signals.  A waiter spins for a bounded number of times, then sleeps, so
 * that a thread which waits for one that has no processor gives up its own.
 */
#ifndef GB_CPU_POOL_EVENT_H
#define GB_CPU_POOL_EVENT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct gb_cpu_event {
    _Atomic uint32_t signals;  /* so far; sleepers watch it */
    _Atomic uint32_t sleepers; /* threads that sleep or are about to */
#ifndef HAVE_LINUX_FUTEX_H
    pthread_mutex_t lock;
    pthread_cond_t changed;
#endif
};

/* Is it true?  Reads with acquire order what the signaller stored. */
typedef bool (*gb_cpu_ready_fn)(const void *data);

bool gb_cpu_event_init(struct gb_cpu_event *event);
void gb_cpu_event_clear(struct gb_cpu_event *event);

/* Wake all sleepers. */
void gb_cpu_event_signal(struct gb_cpu_event *event);

/* Return when READY says so: ask SPINS times, then sleep between signals. */
void gb_cpu_event_wait(struct gb_cpu_event *event, uint32_t spins,
                       gb_cpu_ready_fn ready, const void *data);

#endif
