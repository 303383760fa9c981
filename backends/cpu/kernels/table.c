/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/table.c - a variant's kernels as a table.
 */
#include "backends/cpu/isa/compiled.h"
#include "backends/cpu/kernels/api/kernels.h"
#include "backends/cpu/kernels/api/prototypes.h"

#define GB_STRING(x)     #x
#define GB_VARIANT_NAME(x) GB_STRING(x)

extern const struct gb_cpu_kernels GB_K(table);

const struct gb_cpu_kernels GB_K(table) = {
    .variant = GB_VARIANT_NAME(GB_VARIANT),
    .needs = GB_CPU_COMPILED,
#define GB_KERNEL(group, result, name, parameters) .name = GB_K_OF(group, name),
#include "backends/cpu/kernels/api/kernels.def"
#undef GB_KERNEL
};
