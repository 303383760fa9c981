/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/formats.h - the order of activations that a format's GEMV
 * takes on the instruction set that is being compiled.
 *
 * enum gb_order and enum gb_gemv_order (kernels/api/format.h) say what the
 * orders are; a format's descriptor names one of each.
 */
#ifndef GB_CPU_KERNELS_FORMAT_FORMATS_H
#define GB_CPU_KERNELS_FORMAT_FORMATS_H

#include "backends/cpu/kernels/api/format.h"
#include "backends/cpu/simd/q64.h"

/* Codebook formats are lane-interleaved where 64 bytes are looked up at once in
 * a table of 128; elsewhere entries are loaded one by one, in order. */
#define GB_ORDER_CODEBOOK \
    (Q_HAS_TABLE_128 ? GB_ORDER_ENTRIES : GB_ORDER_PLAIN)
#define GB_ORDER_CODEBOOK_LANES \
    (Q_HAS_TABLE_128 ? GB_ORDER_LANES : GB_ORDER_PLAIN)
#define GB_GEMV_CODEBOOK \
    (Q_HAS_TABLE_128 ? GB_GEMV_LANES_BIAS : GB_GEMV_IN_ORDER)

/* Lane-interleaved only where the dot4 of wide codes takes unsigned bytes: with
 * signed ones GEMV in order is faster. */
#define GB_GEMV_UNSIGNED(order) \
    (Q_WIDE_BIAS == 128 ? (order) : GB_GEMV_IN_ORDER)
#define GB_GEMV_WIDE       GB_GEMV_UNSIGNED(GB_GEMV_LANES_BIAS)
#define GB_GEMV_WIDE_PAIRS GB_GEMV_UNSIGNED(GB_GEMV_LANES_PAIRS)
#define GB_GEMV_WIDE_SUMS  GB_GEMV_UNSIGNED(GB_GEMV_LANES_SUMS)
#define GB_GEMV_TERNARY    GB_GEMV_UNSIGNED(GB_GEMV_LANES_TERNARY)

#endif
