/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/table.c - a variant's kernels as a table.
 */
#include "backends/cpu/isa/compiled.h"
#include "backends/cpu/kernels/api/kernels.h"
#include "backends/cpu/kernels/api/prototypes.h"

/* The kernel NAME of a group. */
#define GB_ENTRY_FLOATS(name)  GB_K_OF(FLOATS, name)
#define GB_ENTRY_PAIRS(name)   GB_K_OF(PAIRS, name)
#define GB_ENTRY_BYTES(name)   GB_K_OF(BYTES, name)
#define GB_ENTRY_VARIANT(name) GB_K_OF(VARIANT, name)
#if GB_HAS_TILES
#define GB_ENTRY_TILES(name) GB_K_OF(TILES, name)
#else
#define GB_ENTRY_TILES(name) NULL
#endif

#define GB_STRING(x)     #x
#define GB_VARIANT_NAME(x) GB_STRING(x)

extern const struct gb_cpu_kernels GB_K(table);

const struct gb_cpu_kernels GB_K(table) = {
    .variant = GB_VARIANT_NAME(GB_VARIANT),
    .needs = GB_CPU_COMPILED,
    .is_for_tests =
        GB_HAS_TILES && (GB_CPU_COMPILED & GB_CPU_BIT(GB_CPU_AMX_BF16)) == 0,
#define GB_KERNEL(group, result, name, parameters) \
    .name = GB_ENTRY_##group(name),
#include "backends/cpu/kernels/api/kernels.def"
#undef GB_KERNEL
};
