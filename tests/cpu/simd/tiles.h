/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/simd/tiles.h - checks of one level's words for tiles: tiles-level.c is
 * compiled once for each level.
 */
#ifndef GB_TESTS_CPU_SIMD_TILES_H
#define GB_TESTS_CPU_SIMD_TILES_H

#include "backends/cpu/kernels/api/variant-name.h"

/* Each gives the first thing that is not as tiles.h says; "" for a level without
 * tiles, NULL for none. */
#define GB_DECLARE(variant, floats) \
    const char *GB_CPU_NAME(variant, check_tiles)(void);
GB_CPU_VARIANTS(GB_DECLARE)
#undef GB_DECLARE

#endif
