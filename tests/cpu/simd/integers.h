/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/simd/integers.h - checks of one level's words for small integers:
 * integers-level.c is compiled once for each level.
 */
#ifndef GB_TESTS_CPU_SIMD_INTEGERS_H
#define GB_TESTS_CPU_SIMD_INTEGERS_H

#include "backends/cpu/kernels/api/variant-name.h"

/* The first word that does not do what q32.h or quad.h say; NULL for none. */
typedef const char *(*check_integers_fn)(void);

#define GB_DECLARE(variant, floats) \
    const char *GB_CPU_NAME(variant, check_integers)(void);
GB_CPU_VARIANTS(GB_DECLARE)
#undef GB_DECLARE

#endif
