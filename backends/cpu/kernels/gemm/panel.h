/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm/panel.h - a packed panel: VF_LEN rows of weights, unpacked, one
 * in each lane of a vector.
 */
#ifndef GB_CPU_KERNELS_GEMM_PANEL_H
#define GB_CPU_KERNELS_GEMM_PANEL_H

#include "backends/cpu/kernels/api/gemm.h"
#include "backends/cpu/simd/dot4.h"

#include <stdint.h>

/* Kernels for many types are one function with the type's parts as constant
 * arguments; it has to be inlined for them to become constants. */
#define GB_INLINE static inline __attribute__((__always_inline__))

/* Values of a row of quantised weights in a panel: so many at a time, but all
 * that are left where one panel has room for them; of float weights. */
#define GB_PANEL_STEP   512
#define GB_PANEL_K      640
#define GB_PANEL_K_FLOAT 1024

struct gb_panel {
    uint8_t *rows; /* room for VF_LEN rows before they are transposed */
    /* Quantised: code 4 * j + b of row r is byte b of lane r of vector j, or
     * vectors are those of a vq4, where VQ_TILES is 1. */
    uint8_t *codes;
    float *scales; /* scales[VF_LEN * sub_block + row] */
    float *mins;   /* what is added to each value, likewise */
    /* Floats: value j of row r is floats[VF_LEN * j + r]. */
    float *floats;
};

#endif
