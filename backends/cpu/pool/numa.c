/* SPDX-License-Identifier: MIT */
/*
 * cpu/pool/numa.c - which memory nodes there are, and which threads go to
 * which.
 *
 *   distribute   threads go to the nodes in turn
 *   isolate      all threads stay on the node where the strategy was set
 *   numactl      threads stay where the process was put (by numactl or taskset)
 *   mirror       as numactl; the interface reserves it
 *
 * The nodes and the strategy are the process's, written once, under
 * GB_LOCK_NUMA.  Nodes are those that hwloc finds or, without it, those of the
 * system's files.  Only threads are placed: memory goes where the system puts
 * it, to the node of the thread that touches it first.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getcpu */
#endif
#include "config.h"

#include "backends/cpu/pool/numa.h"

#include "lib/base/lock.h"
#include "lib/base/log.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

static bool is_set;
static enum ggml_numa_strategy chosen;
static int home; /* the node where the strategy was set */
static struct gb_cpu_numa nodes;

static bool
read_line(const char *path, char *line, int size)
{
    FILE *file = fopen(path, "re");
    bool is_read;

    if (file == NULL)
        return false;
    is_read = fgets(line, size, file) != NULL;
    fclose(file);
    return is_read;
}

/* One file a node: Linux, Documentation/ABI/stable/sysfs-devices-node. */
void
gb_cpu_numa_read(const char *root, struct gb_cpu_numa *out)
{
    memset(out, 0, sizeof(*out));
    for (int i = 0; i < GB_CPU_NUMA_MAX_NODES; i++) {
        char path[512], list[4096];

        snprintf(path, sizeof(path), "%s/node%d/cpulist", root, i);
        if (!read_line(path, list, sizeof(list)))
            continue;
        gb_cpu_set_parse(&out->cpus[out->n_nodes], list);
        out->n_nodes++;
    }
}

/* The one of NODES that the calling thread is on. */
static int
current_node(const struct gb_cpu_numa *nodes)
{
#ifdef __linux__
    const int cpu = sched_getcpu();

    for (int i = 0; i < nodes->n_nodes; i++) {
        if (gb_cpu_set_has(&nodes->cpus[i], cpu))
            return i;
    }
#else
    (void)nodes;
#endif
    return 0;
}

void
gb_cpu_numa_init(enum ggml_numa_strategy strategy)
{
    struct gb_cpu_numa found;
    bool was_set;

    /* Without the lock: hwloc loads what it likes. */
    if (!gb_cpu_numa_read_hwloc(&found))
        gb_cpu_numa_read("/sys/devices/system/node", &found);
    gb_lock(GB_LOCK_NUMA);
    was_set = is_set;
    if (!was_set) {
        nodes = found;
        chosen = strategy;
        home = current_node(&found);
        is_set = true;
    }
    gb_unlock(GB_LOCK_NUMA);
    /* Without the lock: the client's sink may compute something. */
    if (was_set)
        gb_log(GGML_LOG_LEVEL_WARN,
               "numa: the strategy was set before and stays");
}

bool
gb_cpu_numa_is_on(void)
{
    bool is_on;

    gb_lock(GB_LOCK_NUMA);
    is_on = is_set && nodes.n_nodes > 1;
    gb_unlock(GB_LOCK_NUMA);
    return is_on;
}

bool
gb_cpu_numa_wanted(int index, struct gb_cpu_set *out)
{
    int node = -1;

    if (!gb_cpu_numa_is_on())
        return false;
    if (chosen == GGML_NUMA_STRATEGY_DISTRIBUTE)
        node = index % nodes.n_nodes;
    else if (chosen == GGML_NUMA_STRATEGY_ISOLATE)
        node = home;
    if (node < 0 || gb_cpu_set_count(&nodes.cpus[node]) == 0)
        return false;
    *out = nodes.cpus[node];
    return true;
}
