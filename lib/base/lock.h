/* SPDX-License-Identifier: MIT */
/*
 * base/lock.h - the locks of what the whole process shares.
 *
 * They are held for a while that the library itself determines: nothing is
 * called meanwhile that a client or a backend wrote.  fork takes all of them, so
 * that a child finds them free and what they guard whole.
 */
#ifndef GB_BASE_LOCK_H
#define GB_BASE_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>

/* Who has one of them may take those behind it. */
enum gb_lock {
    GB_LOCK_CPU_VARIANT,
    GB_LOCK_NUMA,
    GB_LOCK_GRIDS,
    GB_LOCK_TRACE,
    GB_LOCK_LEVELS,
    GB_LOCK_REGISTRY,
    GB_LOCK_HOOK,
    GB_LOCK_SINK,
    GB_LOCK_ENV,
    GB_LOCK_COUNT
};

void gb_lock(enum gb_lock lock);
void gb_unlock(enum gb_lock lock);

/*
 * Call RUN under LOCK unless that was done; it is done when the call returns.
 * pthread_once is not for this: in a child of fork it may wait for a thread that
 * the child does not have.
 */
void gb_once(atomic_bool *is_done, enum gb_lock lock, void (*run)(void));

/* How many forks lie between the first process and this one. */
unsigned gb_fork_count(void);

#endif
