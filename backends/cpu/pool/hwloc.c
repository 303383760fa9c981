/* SPDX-License-Identifier: MIT */
/*
 * cpu/pool/hwloc.c - the memory nodes as hwloc sees them.
 *
 * The library is opened when somebody asks for the nodes and closed again, so
 * that programs neither need it nor load it otherwise.
 * Source  https://www.open-mpi.org/projects/hwloc/, interface of version 2.
 */
#include "config.h"

#include "backends/cpu/pool/numa.h"

#ifndef GB_HWLOC

bool
gb_cpu_numa_read_hwloc(struct gb_cpu_numa *out)
{
    (void)out;
    return false;
}

#else

#include "lib/base/env.h"

#include <dlfcn.h>
#include <hwloc.h>
#include <string.h>

#define LIBRARY "libhwloc.so.15" /* all of version 2 */

/* What is called, by its name in hwloc.h. */
#define FUNCTIONS(F)             \
    F(hwloc_topology_init)       \
    F(hwloc_topology_load)       \
    F(hwloc_topology_destroy)    \
    F(hwloc_get_nbobjs_by_depth) \
    F(hwloc_get_obj_by_depth)    \
    F(hwloc_bitmap_next)

struct hwloc {
    void *library;
#define MEMBER(name) __typeof__(name) *name;
    FUNCTIONS(MEMBER)
#undef MEMBER
};

static bool
open_library(struct hwloc *h)
{
    h->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (h->library == NULL)
        return false;
#define FIND(name) *(void **)&h->name = dlsym(h->library, #name);
    FUNCTIONS(FIND)
#undef FIND
#define IS_FOUND(name) h->name != NULL &&
    if (FUNCTIONS(IS_FOUND) true)
        return true;
#undef IS_FOUND
    dlclose(h->library);
    return false;
}

/* Nodes without CPUs, which are memory alone, are left out. */
static void
add_node(const struct hwloc *h, hwloc_const_bitmap_t cpus,
         struct gb_cpu_numa *out)
{
    struct gb_cpu_set *set = &out->cpus[out->n_nodes];

    for (int i = h->hwloc_bitmap_next(cpus, -1); i >= 0;
         i = h->hwloc_bitmap_next(cpus, i))
        gb_cpu_set_add(set, i);
    if (gb_cpu_set_count(set) > 0)
        out->n_nodes++;
}

static bool
read_nodes(const struct hwloc *h, struct gb_cpu_numa *out)
{
    const int depth = HWLOC_TYPE_DEPTH_NUMANODE;
    hwloc_topology_t topology;
    bool is_read;

    if (h->hwloc_topology_init(&topology) != 0)
        return false;
    is_read = h->hwloc_topology_load(topology) == 0;
    if (is_read) {
        const int n = h->hwloc_get_nbobjs_by_depth(topology, depth);

        for (int i = 0; i < n && out->n_nodes < GB_CPU_NUMA_MAX_NODES; i++)
            add_node(h,
                     h->hwloc_get_obj_by_depth(topology, depth, (unsigned)i)
                         ->cpuset,
                     out);
    }
    h->hwloc_topology_destroy(topology);
    return is_read;
}

bool
gb_cpu_numa_read_hwloc(struct gb_cpu_numa *out)
{
    struct hwloc h;
    bool is_read;

    memset(out, 0, sizeof(*out));
    /* It obeys variables of its own, which may name files. */
    if (gb_env_is_privileged() || !open_library(&h))
        return false;
    is_read = read_nodes(&h, out);
    dlclose(h.library);
    return is_read;
}

#endif
