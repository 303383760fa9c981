/* SPDX-License-Identifier: MIT */
/*
 * cpu/pool/event.c - spin, then sleep: on a futex on Linux, on a condition
 * variable elsewhere.
 *
 * No wake-up is lost.  A waiter counts itself among the sleepers, reads the
 * number of signals, and asks its condition once more; whoever signals has
 * stored what it did, raises that number, and then reads the count of sleepers.
 * All of these accesses are in one order (seq_cst), so that one of the two sees
 * the other: the waiter the condition, or the signaller the sleeper.
 *
 * Source  Drepper, "Futexes Are Tricky" (2011), for the use of the system call.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall */
#endif
#include "config.h"

#include "backends/cpu/pool/event.h"

#ifdef HAVE_LINUX_FUTEX_H

#include <linux/futex.h>
#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>

bool
gb_cpu_event_init(struct gb_cpu_event *event)
{
    atomic_init(&event->signals, 0);
    atomic_init(&event->sleepers, 0);
    return true;
}

void
gb_cpu_event_clear(struct gb_cpu_event *event)
{
    (void)event;
}

static void
wake_all(struct gb_cpu_event *event)
{
    syscall(SYS_futex, &event->signals, FUTEX_WAKE_PRIVATE, INT_MAX, NULL,
            NULL, 0);
}

/* Returns at once when the number is not SEEN any more, and perhaps for
 * nothing. */
static void
sleep_while(struct gb_cpu_event *event, uint32_t seen)
{
    syscall(SYS_futex, &event->signals, FUTEX_WAIT_PRIVATE, seen, NULL, NULL,
            0);
}

#else

bool
gb_cpu_event_init(struct gb_cpu_event *event)
{
    atomic_init(&event->signals, 0);
    atomic_init(&event->sleepers, 0);
    if (pthread_mutex_init(&event->lock, NULL) != 0)
        return false;
    if (pthread_cond_init(&event->changed, NULL) != 0) {
        pthread_mutex_destroy(&event->lock);
        return false;
    }
    return true;
}

void
gb_cpu_event_clear(struct gb_cpu_event *event)
{
    pthread_cond_destroy(&event->changed);
    pthread_mutex_destroy(&event->lock);
}

static void
wake_all(struct gb_cpu_event *event)
{
    pthread_mutex_lock(&event->lock);
    pthread_cond_broadcast(&event->changed);
    pthread_mutex_unlock(&event->lock);
}

static void
sleep_while(struct gb_cpu_event *event, uint32_t seen)
{
    pthread_mutex_lock(&event->lock);
    if (atomic_load(&event->signals) == seen)
        pthread_cond_wait(&event->changed, &event->lock);
    pthread_mutex_unlock(&event->lock);
}

#endif

/* Tell the processor that this loop waits: it saves power and, with two threads
 * a core, time of the other one. */
static inline void
relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

void
gb_cpu_event_signal(struct gb_cpu_event *event)
{
    atomic_fetch_add(&event->signals, 1);
    if (atomic_load(&event->sleepers) > 0)
        wake_all(event);
}

/* Spinning first is worth it since most waits of a graph end within some
 * microseconds, and a sleep costs about as much. */
void
gb_cpu_event_wait(struct gb_cpu_event *event, uint32_t spins,
                  gb_cpu_ready_fn ready, const void *data)
{
    for (uint32_t i = 0; i < spins; i++) {
        if (ready(data))
            return;
        relax();
    }
    for (;;) {
        uint32_t seen;
        bool is_ready;

        atomic_fetch_add(&event->sleepers, 1);
        seen = atomic_load(&event->signals);
        is_ready = ready(data);
        if (!is_ready)
            sleep_while(event, seen);
        atomic_fetch_sub(&event->sleepers, 1);
        if (is_ready)
            return;
    }
}
