/* SPDX-License-Identifier: MIT */
/*
 * cpu/pool/affinity.c - on which CPUs a thread may run, and its priority.
 *
 * A set of CPUs has the form of the system's cpu_set_t, but a fixed size that
 * holds any machine's, so that no macro of the C library is needed to walk it.
 * Systems other than Linux have no such calls; there threads run where they
 * like.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_setaffinity */
#endif
#include "config.h"

#include "backends/cpu/pool/affinity.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

bool
gb_cpu_set_has(const struct gb_cpu_set *set, int cpu)
{
    const size_t word = (size_t)cpu / GB_CPU_WORD_BITS;

    return cpu >= 0 && cpu < GB_CPU_SET_BITS &&
           (set->words[word] >> ((size_t)cpu % GB_CPU_WORD_BITS) & 1) != 0;
}

void
gb_cpu_set_add(struct gb_cpu_set *set, int cpu)
{
    if (cpu >= 0 && cpu < GB_CPU_SET_BITS)
        set->words[(size_t)cpu / GB_CPU_WORD_BITS] |=
            1ul << ((size_t)cpu % GB_CPU_WORD_BITS);
}

int
gb_cpu_set_count(const struct gb_cpu_set *set)
{
    int n = 0;

    for (int cpu = 0; cpu < GB_CPU_SET_BITS; cpu++)
        n += gb_cpu_set_has(set, cpu);
    return n;
}

void
gb_cpu_set_parse(struct gb_cpu_set *set, const char *list)
{
    memset(set, 0, sizeof(*set));
    while (*list != '\0') {
        char *end;
        const long first = strtol(list, &end, 10);
        long last = first;

        if (end == list)
            return;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        if (last >= GB_CPU_SET_BITS)
            last = GB_CPU_SET_BITS - 1;
        for (long cpu = first; cpu <= last; cpu++)
            gb_cpu_set_add(set, (int)cpu);
        list = *end == ',' ? end + 1 : "";
    }
}

#ifdef __linux__

bool
gb_cpu_affinity_get(struct gb_cpu_set *out)
{
    struct gb_cpu_set set;

    memset(&set, 0, sizeof(set));
    if (sched_getaffinity(0, sizeof(set), (cpu_set_t *)(void *)&set) != 0)
        return false;
    *out = set;
    return true;
}

bool
gb_cpu_affinity_set(const struct gb_cpu_set *set)
{
    return sched_setaffinity(
               0, sizeof(*set), (const cpu_set_t *)(const void *)set) == 0;
}

#else

bool
gb_cpu_affinity_get(struct gb_cpu_set *out)
{
    (void)out;
    return false;
}

bool
gb_cpu_affinity_set(const struct gb_cpu_set *set)
{
    (void)set;
    return false;
}

#endif

/* Shares of the range that the first-in-first-out policy has, in percent. */
bool
gb_cpu_priority_set(enum ggml_sched_priority priority)
{
    static const int percent[] = {
        [GGML_SCHED_PRIO_NORMAL] = 0,
        [GGML_SCHED_PRIO_MEDIUM] = 40,
        [GGML_SCHED_PRIO_HIGH] = 80,
        [GGML_SCHED_PRIO_REALTIME] = 90,
    };
    const int low = sched_get_priority_min(SCHED_FIFO);
    const int high = sched_get_priority_max(SCHED_FIFO);
    struct sched_param param;

    if (priority == GGML_SCHED_PRIO_NORMAL)
        return true;
    memset(&param, 0, sizeof(param));
    param.sched_priority = low + (high - low) * percent[priority] / 100;
    return pthread_setschedparam(pthread_self(), SCHED_FIFO, &param) == 0;
}
