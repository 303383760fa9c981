/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/simd/integers.h - checks of one level's words for small integers:
 * integers-level.c is compiled once for each level.
 */
#ifndef GB_TESTS_CPU_SIMD_INTEGERS_H
#define GB_TESTS_CPU_SIMD_INTEGERS_H

#include "backends/cpu/kernels/api/variant-name.h"

/* Each gives the first word that does not do what q32.h or dot4.h say; NULL for
 * none. */
#define GB_DECLARE(variant, floats) \
    const char *GB_CPU_NAME(variant, check_integers)(void);
GB_CPU_VARIANTS(GB_DECLARE)
#undef GB_DECLARE

#endif
