/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/weights.h - the parts of products that differ by type.
 */
#ifndef GB_CPU_KERNELS_WEIGHTS_H
#define GB_CPU_KERNELS_WEIGHTS_H

#include "backends/cpu/isa/level.h"
#include "backends/cpu/isa/weight.h"
#include "backends/cpu/simd/q32.h"

/* How grids' rows are read for one column. */
#ifdef __AVX512VBMI__
#define GB_ORDER_GRID       GB_ORDER_ROWS
#define GB_ORDER_GRID_LANES GB_ORDER_LANES
#define GB_ONE_GRID         GB_ONE_FIRST
#else
#define GB_ORDER_GRID       GB_ORDER_PLAIN
#define GB_ORDER_GRID_LANES GB_ORDER_PLAIN
#define GB_ONE_GRID         GB_ONE_PIECES
#endif

/* Where wide codes are signed, these would cost more than they bring. */
#define GB_ONE_WIDE    (Q_WIDE_OFFSET == 128 ? GB_ONE_FIRST : GB_ONE_PIECES)
#define GB_ONE_WIDE_PAIRS \
    (Q_WIDE_OFFSET == 128 ? GB_ONE_PAIRS : GB_ONE_PIECES)
#define GB_ONE_WIDE_SUMS \
    (Q_WIDE_OFFSET == 128 ? GB_ONE_SUMS : GB_ONE_PIECES)
#define GB_ONE_TERNARY (Q_WIDE_OFFSET == 128 ? GB_ONE_DIGITS : GB_ONE_PIECES)

#define GB_WEIGHT(group, type, name, act, values, bytes, piece, offset,       \
                  has_min, steps, order, one, one_offset)                     \
    static const struct gb_layout gb_layout_##name = {                        \
        GGML_TYPE_##act, values, bytes, piece, offset, has_min, steps,        \
        GB_ORDER_##order, GB_ONE_##one, one_offset                            \
    };                                                                        \
    void GB_K_OF(group, dots_##name)(int64_t k, int64_t rows, const void *x,  \
                                     size_t pitch, const void *column,        \
                                     float *dst);                             \
    void GB_K_OF(group, unpack_##name)(int64_t k, int64_t rows,               \
                                       const void *x, size_t pitch,           \
                                       const struct gb_panel *panel);         \
    void GB_K_OF(group, floats_##name)(int64_t n, float *dst, const void *x); \
    void GB_K_OF(group, turn_##name)(int64_t k, int64_t rows, const void *x,  \
                                     size_t pitch, struct gb_codes *to);
#include "backends/cpu/kernels/weights.def"
#undef GB_WEIGHT

#endif
