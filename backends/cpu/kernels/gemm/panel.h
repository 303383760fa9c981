/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm/panel.h - a packed panel: VF_LEN rows of weights, unpacked,
 * one in each lane of a vector.
 */
#ifndef GB_CPU_KERNELS_GEMM_PANEL_H
#define GB_CPU_KERNELS_GEMM_PANEL_H

#include "backends/cpu/kernels/api/gemm.h"
#include "backends/cpu/simd/dot4.h"

#include <stdint.h>

/* Kernels for many types are one function with the type's parts as constant
 * arguments; it has to be inlined for them to become constants. */
#define GB_INLINE static inline __attribute__((__always_inline__))

/* KC.  Of a row of quantised weights GB_PANEL_STEP values are in a panel at a
 * time, but all that are left where it has room for them, which is for
 * GB_PANEL_K; of float weights up to GB_PANEL_K_FLOAT units. */
#define GB_PANEL_STEP   512
#define GB_PANEL_K      640
#define GB_PANEL_K_FLOAT 1024

/* VF_LEN rows by up to KC values.  Only the members of the weights' kind are
 * set: rows, codes, scales and mins, or floats. */
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
