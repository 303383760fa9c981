/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm/pack-floats.c - columns of floats, packed for products with
 * float weights (GB_PATH_GEMM_PACKED).
 *
 * VF_COLS columns stand together as one stream, VF_LEN units of each in turn
 * (float.h shows the layout).  A call packs one column, since columns are rows
 * of the operand before, and each is packed by the thread that has just made
 * it.  What is behind the last value, up to VF_LEN units, is zero.
 */
#include "backends/cpu/kernels/gemm/float.h"
#include "backends/cpu/kernels/api/prototypes.h"

_Static_assert(GB_PACKED_COLS % VF_COLS == 0 && 16 % VF_LEN == 0,
               "whole panels in any pack, whole vectors in any column");

/* The first N of VF_LEN values of TYPE. */
GB_INLINE vf
read_values(enum ggml_type type, const char *p, int64_t n)
{
    const uint16_t *halves = (const uint16_t *)(const void *)p;
    const float *floats = (const float *)(const void *)p;

    if (n < VF_LEN)
        return type == GGML_TYPE_F32    ? vf_load_n(floats, n)
               : type == GGML_TYPE_F16  ? vf_load_f16_n(halves, n)
                                        : vf_load_bf16_n(halves, n);
    return type == GGML_TYPE_F32   ? vf_load(floats)
           : type == GGML_TYPE_F16 ? vf_load_f16(halves)
                                   : vf_load_bf16(halves);
}

/* Write a row of K activations to DST, VF_LEN units of it every STEP floats.
 * Units are floats, or with IN_PAIRS two BF16 values, to which they are
 * rounded: then two vectors of floats make one vector of units. */
GB_INLINE void
pack_row(bool in_pairs, enum ggml_type type, int64_t k, const char *row,
         float *dst, int64_t step)
{
    const size_t bytes =
        type == GGML_TYPE_F32 ? sizeof(float) : sizeof(uint16_t);

    for (int64_t i = 0; i < k; dst += step) {
        for (int half = 0; half <= in_pairs; half++, i += VF_LEN) {
            const bool is_there = !in_pairs || i < k;
            const vf v = is_there ? read_values(type, row + (size_t)i * bytes,
                                                k - i)
                                  : vf_zero();

            if (in_pairs)
                vf_store_bf16(
                    (uint16_t *)(void *)dst + half * VF_LEN, v);
            else
                vf_store(dst, v);
        }
    }
}

/* The same with constants for the arguments that the loop depends on. */
static void
pack_row_of(bool in_pairs, enum ggml_type type, int64_t k, const char *row,
            float *dst, int64_t step)
{
    if (VF_PAIRS && in_pairs)
        pack_row(true, type, k, row, dst, step);
    else if (type == GGML_TYPE_F32)
        pack_row(false, GGML_TYPE_F32, k, row, dst, step);
    else if (type == GGML_TYPE_F16)
        pack_row(false, GGML_TYPE_F16, k, row, dst, step);
    else
        pack_row(false, GGML_TYPE_BF16, k, row, dst, step);
}

/* Column COL of COLS.  Its panel begins at a multiple of VF_COLS columns; the
 * last panel may have fewer columns, which then are less far apart. */
void
GB_K(pack_floats)(const struct gb_format *format, int64_t k, int64_t cols, int64_t col,
           const void *row, enum ggml_type type, void *packed)
{
    const int64_t first = col / VF_COLS * VF_COLS;
    const int64_t left = cols - first;
    float *panel =
        (float *)(void *)((char *)packed + (size_t)first * gb_float_panel_bytes(k));

    pack_row_of(gb_takes_pairs(format), type, k, row,
                panel + (col - first) * VF_LEN,
                (left < VF_COLS ? left : VF_COLS) * VF_LEN);
}
