/* SPDX-License-Identifier: MIT */
/*
 * base/lock.c - the locks of what the whole process shares, and what becomes of
 * them when it forks.
 */
#include "config.h"

#include "lib/base/lock.h"

#include "lib/base/attr.h"

#include <pthread.h>

static pthread_mutex_t locks[GB_LOCK_COUNT] = {
    [GB_LOCK_CPU_VARIANT] = PTHREAD_MUTEX_INITIALIZER,
    [GB_LOCK_NUMA] = PTHREAD_MUTEX_INITIALIZER,
    [GB_LOCK_GRIDS] = PTHREAD_MUTEX_INITIALIZER,
    [GB_LOCK_TRACE] = PTHREAD_MUTEX_INITIALIZER,
    [GB_LOCK_LEVELS] = PTHREAD_MUTEX_INITIALIZER,
    [GB_LOCK_REGISTRY] = PTHREAD_MUTEX_INITIALIZER,
    [GB_LOCK_HOOK] = PTHREAD_MUTEX_INITIALIZER,
    [GB_LOCK_SINK] = PTHREAD_MUTEX_INITIALIZER,
    [GB_LOCK_ENV] = PTHREAD_MUTEX_INITIALIZER,
};

static unsigned n_forks; /* changed where there is one thread */

void
gb_lock(enum gb_lock lock)
{
    pthread_mutex_lock(&locks[lock]);
}

void
gb_unlock(enum gb_lock lock)
{
    pthread_mutex_unlock(&locks[lock]);
}

void
gb_once(atomic_bool *is_done, enum gb_lock lock, void (*run)(void))
{
    if (GB_LIKELY(atomic_load_explicit(is_done, memory_order_acquire)))
        return;
    gb_lock(lock);
    /* Relaxed: changed under the lock alone. */
    if (!atomic_load_explicit(is_done, memory_order_relaxed)) {
        run();
        atomic_store_explicit(is_done, true, memory_order_release);
    }
    gb_unlock(lock);
}

unsigned
gb_fork_count(void)
{
    return n_forks;
}

static void
before_fork(void)
{
    for (int i = 0; i < GB_LOCK_COUNT; i++)
        gb_lock((enum gb_lock)i);
}

static void
after_fork(void)
{
    for (int i = GB_LOCK_COUNT; i > 0; i--)
        gb_unlock((enum gb_lock)(i - 1));
}

static void
in_child(void)
{
    n_forks++;
    after_fork();
}

/*
 * Before anybody can have a lock.  Without the memory for it, forks of a process
 * whose other threads use the library are at the client's risk.
 */
GB_AT_START static void
watch_forks(void)
{
    (void)pthread_atfork(before_fork, after_fork, in_child);
}
