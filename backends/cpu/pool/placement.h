/* SPDX-License-Identifier: MIT */
/*
 * cpu/pool/placement.h - which thread of a pool goes where.
 */
#ifndef GB_CPU_POOL_PLACEMENT_H
#define GB_CPU_POOL_PLACEMENT_H

#include "backends/cpu/pool/affinity.h"

/*
 * Where thread INDEX of a pool with PARAMS is to run: the CPUs of the mask, or,
 * with strict_cpu, one of them for each thread in turn; without a mask, what
 * the NUMA strategy says.  False when it may run where it likes.
 */
bool gb_cpu_placement(
    const struct ggml_threadpool_params *params, int index,
    struct gb_cpu_set *out);

#endif
