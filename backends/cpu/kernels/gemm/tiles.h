/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm/tiles.h - weights of any type times columns packed for
 * GB_PATH_TILES, in variants that have tiles.
 */
#ifndef GB_CPU_KERNELS_GEMM_TILES_H
#define GB_CPU_KERNELS_GEMM_TILES_H

#include "backends/cpu/kernels/api/gemm.h"
#include "backends/cpu/kernels/api/variant.h"

#if GB_HAS_TILES
void GB_K_OF(TILES, multiply_tiles)(const struct gb_format_kernels *weight,
                                    const struct gb_product *p);
#endif

#endif
