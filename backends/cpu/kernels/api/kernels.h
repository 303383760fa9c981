/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/api/kernels.h - the table of one variant's kernels, and choosing it.
 */
#ifndef GB_CPU_KERNELS_API_KERNELS_H
#define GB_CPU_KERNELS_API_KERNELS_H

#include "backends/cpu/kernels/api/attention.h"
#include "backends/cpu/kernels/api/gemm.h"
#include "backends/cpu/kernels/api/scores.h"

#include "ggml.h"

#include <stdbool.h>
#include <stdint.h>

struct gb_cpu_kernels {
    const char *variant; /* "generic", "avx2", … */
    uint32_t needs;    /* GB_CPU_BIT(…) of each feature */
    bool is_for_tests; /* used where it is named only: tiles in plain C */
#define GB_KERNEL(group, result, name, parameters) result(*name) parameters;
#include "backends/cpu/kernels/api/kernels.def"
#undef GB_KERNEL
};

/* The best table that this machine can run, or the one that
 * GGMLBACKEND_CPU_LEVEL names.  Chosen once; any thread. */
const struct gb_cpu_kernels *gb_cpu_kernels(void);

/* One sentence on why that variant was chosen; static. */
const char *gb_cpu_kernels_reason(void);

/* All tables that this machine can run, slowest first, NULL behind the last. */
const struct gb_cpu_kernels *const *gb_cpu_kernels_all(void);

/* The best table for a machine with these features, on which pairs_are_slow()
 * says so. */
const struct gb_cpu_kernels *gb_cpu_kernels_for(uint32_t features,
                                                bool are_pairs_slow);

/* Tests only: use another table from now on; NULL for the machine's best.  Not
 * while a graph is computed. */
void gb_cpu_kernels_use(const struct gb_cpu_kernels *kernels);

#endif
