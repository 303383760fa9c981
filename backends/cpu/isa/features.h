/* SPDX-License-Identifier: MIT */
/*
 * cpu/isa/features.h - what a processor may have, as bits of a word.
 *
 * The list is features.def.  What a variant of the kernels was compiled for
 * (compiled.h) and what the machine has (machine.h) are both words of these bits,
 * so that "can it run here?" is one operation.
 */
#ifndef GB_CPU_ISA_FEATURES_H
#define GB_CPU_ISA_FEATURES_H

#include <stdint.h>

enum gb_cpu_feature {
#define GB_CPU_FEATURE(id, name) GB_CPU_##id,
#include "backends/cpu/isa/features.def"
#undef GB_CPU_FEATURE
    GB_CPU_FEATURE_COUNT
};

#define GB_CPU_BIT(feature) (UINT32_C(1) << (feature))

_Static_assert(GB_CPU_FEATURE_COUNT <= 32, "features are bits of 32");

#endif
