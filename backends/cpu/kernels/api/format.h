/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/api/format.h - the descriptor of a data type that weights have,
 * and the kernels that read such weights.
 *
 * A block is what the type stores together: one float, 32 values (Q4_0 to Q8_0,
 * IQ4_NL) or a super-block of 256 (the K, TQ and IQ types).  A sub-block is the
 * 16 or 32 values of it that share a scale, and a min if the type has mins:
 *
 *     value = scale * (code - bias) + min
 *
 * Codes are bytes from 0 to 127, or wide codes, which use all eight bits
 * (simd/q32.h).  Code and activation are multiplied as dot4: four products of
 * bytes summed into 32 bits.
 */
#ifndef GB_CPU_KERNELS_API_FORMAT_H
#define GB_CPU_KERNELS_API_FORMAT_H

#include "ggml.h"

#include <stddef.h>
#include <stdint.h>

/* In which order codes come out of a register when a super-block is unpacked by
 * shifts and masks, in sub-blocks of 16 values. */
enum gb_order {
    GB_ORDER_PLAIN,
    GB_ORDER_NIBBLES,  /* 16 bytes hold 32 values: 0 to 15 in the low nibbles */
    GB_ORDER_HALVES,   /* 32 bytes hold 64 values: 0 to 31 in the low nibbles */
    GB_ORDER_QUARTERS, /* 32 bytes hold 128 values: 0 to 31 in the lowest two
                          bits of each */
    /* Codebook types where table lookups are fast (Q_HAS_TABLE_128).  64 codes
     * are entry i of each sub-block of 32 for ENTRIES, four values of each
     * sub-block of 16 for LANES. */
    GB_ORDER_ENTRIES,
    GB_ORDER_LANES,
};

/*
 * How the activations of a GEMV are laid out for the type (packing.h).  In
 * order, each sub-block has its scale.  Lane-interleaved, lane l of a vector
 * has values that share one scale, so that the products of a super-block with a
 * lane are one sum of integers.
 */
enum gb_gemv_order {
    GB_GEMV_IN_ORDER,
    GB_GEMV_LANES_SUMS,     /* lanes; with sums of sub-blocks for the mins */
    GB_GEMV_LANES_QUARTERS, /* the same where lanes are quarters of vectors */
    GB_GEMV_LANES_BIAS,     /* lanes; each begins with its zero-point
                               correction, minus gemv_bias times its codes */
    GB_GEMV_LANES_PAIRS,    /* with one for vectors 0 and 1, one for 2 and 3 */
    GB_GEMV_LANES_TERNARY,  /* as LANES_BIAS, five vectors (gb_q8_ternary) */
};

/* Of the int8 GEMM, by what differs in its inner loop. */
enum gb_micro_kernel {
    GB_MICRO_KERNEL_NONE, /* floats */
#define GB_MICRO_KERNEL(sub_block, dot4s, has_min) \
    GB_MICRO_KERNEL_##sub_block##_##dot4s##_##has_min,
#include "backends/cpu/kernels/api/micro-kernels.def"
#undef GB_MICRO_KERNEL
};

/* In the initializer of a format: the members that its micro-kernel depends on. */
#define GB_MICRO_KERNEL_OF(sub_block_, dot4s_, has_min_)                      \
    .micro_kernel = GB_MICRO_KERNEL_##sub_block_##_##dot4s_##_##has_min_,     \
    .sub_block = sub_block_, .dot4s = dot4s_, .has_min = has_min_,            \
    .gemv_cols = Q64_GEMV_COLS, .skinny_cols = Q64_SKINNY_COLS

struct gb_format {
    enum ggml_type activation; /* what activations may be instead of F32 */
    int block;      /* values in a block of the type */
    size_t bytes;   /* of a block */
    enum gb_micro_kernel micro_kernel;
    int sub_block;  /* values that share a scale: 16 or 32; 0: floats */
    int bias;       /* a code minus its value */
    int has_min;
    int gemv_cols;   /* columns up to which a product is a GEMV for each */
    int skinny_cols; /* and up to which it is a skinny GEMM; from there on panels
                        are faster (Q64_SKINNY_COLS) */
    int dot4s;      /* that a sum of 16 bits can hold: 2 * 127 * dot4s * the
                       largest code is below 2^15; 0: wide codes */
    enum gb_order order;
    enum gb_gemv_order gemv;
    int gemv_bias;
};

struct gb_panel;       /* kernels/gemm/panel.h */
struct gb_interleaved; /* kernels/format/interleave.h */

/* dst[r] = row r of weights times COLUMN, activations packed for GEMV; rows
 * begin at X, PITCH bytes apart. */
typedef void (*gb_gemv_fn)(int64_t k, int64_t rows, const void *x, size_t pitch,
                           const void *column, float *dst);

/* K values of ROWS rows from X on into a panel of the GEMM; rows up to its
 * width are 0. */
typedef void (*gb_unpack_fn)(int64_t k, int64_t rows, const void *x,
                             size_t pitch, const struct gb_panel *panel);

/* N values of a row from X on, as floats. */
typedef void (*gb_floats_fn)(int64_t n, float *dst, const void *x);

/* K values of ROWS rows from X on, lane-interleaved for the skinny GEMM; the
 * super-blocks of a row lie one behind the other. */
typedef void (*gb_interleave_fn)(int64_t k, int64_t rows, const void *x,
                                 size_t pitch, struct gb_interleaved *to);

/* Of repacked weights (api/repacked.h): K values of rows LANE to LANE + VF_LEN
 * - 1 of a group into a panel; X is where the group has the first of them. */
typedef void (*gb_unpack_lanes_fn)(int64_t k, int lane, const void *x,
                                   const struct gb_panel *panel);

struct gb_product; /* kernels/api/gemm.h */

/* Of repacked weights: the skinny GEMM. */
typedef void (*gb_skinny_fn)(const struct gb_product *p);

struct gb_format_kernels {
    const struct gb_format *format;
    gb_gemv_fn gemv;
    gb_unpack_fn unpack; /* of repacked weights: rows that are not there */
    gb_floats_fn floats;
    gb_interleave_fn interleave; /* NULL for floats */
    /* Repacked weights alone have these; the others have NULL. */
    gb_unpack_lanes_fn unpack_lanes;
    gb_skinny_fn skinny;
};

/* Vectors of 64 codes that are unpacked together: where nibbles lie so, both
 * have codes of the same sub-blocks. */
static inline int
gb_step_units(const struct gb_format *format)
{
    return format->order == GB_ORDER_NIBBLES ? 2 : 1;
}

/* The sub-block of 16 values at place I of that order. */
static inline int
gb_order_sub_block(enum gb_order order, int i)
{
    switch (order) {
    case GB_ORDER_NIBBLES:
        return i / 8 * 8 + i % 4 * 2 + i / 4 % 2;
    case GB_ORDER_HALVES:
        return i / 8 * 8 + i / 2 % 2 * 4 + i / 4 % 2 * 2 + i % 2;
    case GB_ORDER_QUARTERS:
        return i / 2 % 2 * 8 + i / 4 * 2 + i % 2;
    default:
        return i;
    }
}

/* The sub-block in lane I of what is lane-interleaved for the skinny GEMM: what
 * a transpose of four by four dot4 operands makes of vectors in that order. */
static inline int
gb_interleaved_sub_block(enum gb_order order, int i)
{
    return order == GB_ORDER_ENTRIES || order == GB_ORDER_LANES
               ? i
               : gb_order_sub_block(order, i % 4 * 4 + i / 4);
}

/* The first of the four values of lane L in vector I of activations that are
 * lane-interleaved for GEMV. */
static inline int
gb_lane_value(enum gb_order order, int l, int i)
{
    switch (order) {
    case GB_ORDER_ENTRIES:
        return l / 2 * 32 + i * 8 + l % 2 * 4;
    case GB_ORDER_LANES:
        return l * 16 + i * 4;
    default:
        return gb_order_sub_block(order, 4 * i + l / 4) * 16 + l % 4 * 4;
    }
}

#endif
