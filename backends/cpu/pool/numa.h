/* SPDX-License-Identifier: MIT */
/*
 * cpu/pool/numa.h - which memory nodes there are, and which threads go to
 * which.
 */
#ifndef GB_CPU_POOL_NUMA_H
#define GB_CPU_POOL_NUMA_H

#include "backends/cpu/pool/affinity.h"

#include "ggml-cpu.h"

#define GB_CPU_NUMA_MAX_NODES 64

struct gb_cpu_numa {
    int n_nodes; /* 0 where the system does not say */
    struct gb_cpu_set cpus[GB_CPU_NUMA_MAX_NODES];
};

/* What the folder ROOT, as /sys/devices/system/node, says. */
void gb_cpu_numa_read(const char *root, struct gb_cpu_numa *out);

/* The same from hwloc; false, with no nodes, where there is none. */
bool gb_cpu_numa_read_hwloc(struct gb_cpu_numa *out);

/*
 * Set the process's strategy; only the first call counts, further ones warn.
 * It holds for pools made afterwards.  Any thread.
 */
void gb_cpu_numa_init(enum ggml_numa_strategy strategy);

/* Has the strategy been set, on a machine with more than one node?  Any
 * thread. */
bool gb_cpu_numa_is_on(void);

/* Where the strategy wants thread INDEX of a pool; false when it does not
 * care. */
bool gb_cpu_numa_wanted(int index, struct gb_cpu_set *out);

#endif
