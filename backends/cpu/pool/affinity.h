/* SPDX-License-Identifier: MIT */
/*
 * cpu/pool/affinity.h - on which CPUs a thread may run, and how urgent it is.
 */
#ifndef GB_CPU_POOL_AFFINITY_H
#define GB_CPU_POOL_AFFINITY_H

#include "ggml.h"

#include <limits.h>
#include <stdbool.h>

/* A set of CPUs, by their numbers; larger than any machine that Linux knows. */
#define GB_CPU_SET_BITS  8192
#define GB_CPU_WORD_BITS (sizeof(unsigned long) * CHAR_BIT)

struct gb_cpu_set {
    unsigned long words[GB_CPU_SET_BITS / GB_CPU_WORD_BITS];
};

bool gb_cpu_set_has(const struct gb_cpu_set *set, int cpu);
void gb_cpu_set_add(struct gb_cpu_set *set, int cpu);
int gb_cpu_set_count(const struct gb_cpu_set *set);

/* The CPUs of a list such as "0-3,8"; what is not one is left out. */
void gb_cpu_set_parse(struct gb_cpu_set *set, const char *list);

/* Of the calling thread; false where the system cannot say or do that. */
bool gb_cpu_affinity_get(struct gb_cpu_set *out);
bool gb_cpu_affinity_set(const struct gb_cpu_set *set);

/* Give the calling thread a priority; false when it may not have it. */
bool gb_cpu_priority_set(enum ggml_sched_priority priority);

#endif
