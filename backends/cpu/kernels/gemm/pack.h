/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm/pack.h - a row of N quantised activations as a column for
 * one path; TYPE is F32 or the format's own.
 */
#ifndef GB_CPU_KERNELS_GEMM_PACK_H
#define GB_CPU_KERNELS_GEMM_PACK_H

#include "backends/cpu/kernels/api/packing.h"
#include "backends/cpu/kernels/api/variant.h"

/* For the GEMM: an activation panel.  N is a multiple of 32. */
void GB_K_OF(BYTES, pack_panel)(const struct gb_format *format, int64_t n,
                                const void *row, enum ggml_type type,
                                void *column);

/* For GEMV and the skinny GEMM: super-blocks, the last one completed with
 * zeros. */
void GB_K_OF(BYTES, pack_super_blocks)(const struct gb_format *format,
                                       enum gb_path path, int64_t n,
                                       const void *row, enum ggml_type type,
                                       void *column);

#endif
