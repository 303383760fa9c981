/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/api/packing.h - how activations lie in memory once they are
 * packed for a product.
 *
 * Float weights meet floats.  Quantised weights meet q8 activations: int8 codes
 * with a float scale for each sub-block,
 *
 *     activation = d * (high + low / 256)
 *
 * The high part is always there.  A sub-block with an outlier (gb_is_outlier),
 * which would cost the other values all their precision, either has a low part,
 * eight bits more, or leaves the outlier out of its codes: it is then a float
 * beside them.  The perplexity of SmolLM2-135M is 18.34 with float activations
 * and stays so; with 8 bits alone it is between 18.40 and 18.49.
 *
 * Three layouts, one for each path (gemm.h):
 *
 *   GEMM    an activation panel: a row of blocks, then how many outliers are
 *           before each 512 values and in all, then the outliers
 *
 *           | codes  d sum corr | codes  d sum corr | ...   sub_block + 12 bytes
 *           | before | before | ... | all             4 a 512 values, and 4
 *           | value place | ...                             8 each
 *
 *   GEMV    super-blocks of 256 values in the order in which the type's codes
 *           come out of a register (struct gb_q8_super_block)
 *
 *           | high 256 | scale 16 x 4 | sums 64 .. 128 | has_low | .. | low 256 |
 *
 *   skinny  the same struct, lane-interleaved: vector i (64 bytes) has the four
 *           values from 4 * i on of all sixteen sub-blocks, one in each lane
 *
 *           lane        0          1                15
 *           vector 0  | v0..v3   | v16..v19 | ... | v240..v243 |
 *           vector 1  | v4..v7   | v20..v23 | ... | v244..v247 |
 *
 * Products by tiles take weights of all types as BF16, in one part or in more,
 * and activations likewise:
 *
 *   tiles   for 16 columns together, 1 KiB for each 32 values and each part: 64
 *           bytes of each column
 *
 *           | values 0..31, part 0: c0 | c1 | .. | c15 | part 1: c0 | .. | values 32.. |
 */
#ifndef GB_CPU_KERNELS_API_PACKING_H
#define GB_CPU_KERNELS_API_PACKING_H

#include "backends/cpu/kernels/api/format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The path of a product: its activations are packed for it, its micro-kernel
 * follows from it (gemm.h). */
enum gb_path {
    GB_PATH_GEMV,       /* column by column; super-blocks, or floats */
    GB_PATH_SKINNY,     /* up to 16 columns; interleaved super-blocks, or floats */
    GB_PATH_GEMM,       /* panels of weights; activation panels, or floats */
    GB_PATH_GEMM_PACKED, /* the same, floats packed in panels of columns */
    GB_PATH_TILES        /* panels of weights; BF16 tiles of columns */
};

/* ---- GEMM: activation panels ---- */

/* Behind the codes of a sub-block. */
struct gb_panel_block_end {
    float d;
    float sum;          /* of the values, outliers too, for the weights' min */
    int32_t correction; /* zero-point correction: minus the weights' bias times
                           the sum of the codes */
};

/* An activation that is not among the codes of its sub-block, which has a zero
 * there. */
struct gb_outlier {
    float value;
    int32_t place; /* among the GB_OUTLIER_VALUES of its part of the row */
};

/* Of 32 values no more are left out: four that are alike are not nine times as
 * large as the mean. */
#define GB_OUTLIERS 3

/* Values in a part of a panel, whose outliers stand together. */
#define GB_OUTLIER_VALUES 512

/* Where the sub-block of value K of a panel is. */
static inline size_t
gb_panel_block_at(const struct gb_format *format, int64_t k)
{
    const size_t n = (size_t)k;

    if (format->sub_block == 0)
        return n * sizeof(float);
    return n / (size_t)format->sub_block *
           ((size_t)format->sub_block + sizeof(struct gb_panel_block_end));
}

/* Where a panel of K values says how many outliers are before each
 * GB_OUTLIER_VALUES of them, and in all: int32_t. */
static inline size_t
gb_panel_counts_at(const struct gb_format *format, int64_t k)
{
    return gb_panel_block_at(format, k);
}

/* Where its outliers are. */
static inline size_t
gb_panel_outliers_at(const struct gb_format *format, int64_t k)
{
    const size_t parts =
        (size_t)(k + GB_OUTLIER_VALUES - 1) / GB_OUTLIER_VALUES;

    return gb_panel_counts_at(format, k) + (parts + 1) * sizeof(int32_t);
}

/* Bytes of a panel of K values: whole cache lines, an odd number of them, since
 * panels a power of two apart would meet in the same sets of the cache. */
static inline size_t
gb_activation_panel_bytes(const struct gb_format *format, int64_t k)
{
    size_t bytes = gb_panel_block_at(format, k);

    if (format->sub_block != 0)
        bytes = gb_panel_outliers_at(format, k) +
                (size_t)(k / 32) * GB_OUTLIERS * sizeof(struct gb_outlier);
    return (bytes + 127) / 128 * 128 + 64;
}

/* Floats that are packed for several columns (kernels/gemm/float.h): bytes of a
 * column of K values. */
static inline size_t
gb_float_panel_bytes(int64_t k)
{
    return (size_t)((k + 15) / 16 * 16) * sizeof(float);
}

/* ---- products by tiles ---- */

/* Columns are packed so many together; the last ones are completed with
 * zeros. */
#define GB_TILE_COLS   16
#define GB_TILE_VALUES 32

/* BF16 values whose sum an activation is: floats that weights of F32 and F16 are
 * multiplied with are to keep all their bits. */
static inline int
gb_tile_parts(const struct gb_format *format)
{
    return format->sub_block != 0 || format->activation == GGML_TYPE_BF16 ? 1
                                                                          : 3;
}

/* Bytes for each column of K values. */
static inline size_t
gb_tile_column_bytes(const struct gb_format *format, int64_t k)
{
    return (size_t)((k + GB_TILE_VALUES - 1) / GB_TILE_VALUES) *
           (GB_TILE_VALUES * sizeof(uint16_t)) *
           (size_t)gb_tile_parts(format);
}

/* Rows and columns whose sums are four tiles. */
#define GB_TILE_BLOCK (2 * GB_TILE_COLS)

/* Bytes of what ROWS by COLS results are before the whole row was multiplied: sums
 * of whole blocks. */
static inline size_t
gb_tile_sums_bytes(int64_t rows, int64_t cols)
{
    const int64_t n = GB_TILE_BLOCK;

    return (size_t)((rows + n - 1) / n * n) * (size_t)((cols + n - 1) / n * n) *
           sizeof(float);
}

/* ---- GEMV and skinny GEMM: super-blocks ---- */

#define GB_SUPER_BLOCK 256 /* activations; 0 behind the end of a row */

/* Scales and sums are those of 16 sub-blocks of 16 values or of 8 of 32, in the
 * order of the values, or of sixteen lanes. */
struct gb_q8_super_block {
    int8_t high[GB_SUPER_BLOCK];
    float scale[16]; /* what sums are multiplied with: d, or 256 * d where there
                        is no low part */
    union {
        float sum[16]; /* of the values, times minus the bias where there are no
                          mins: what a weight's min or scale is multiplied with */
        int32_t correction[2][16]; /* of lanes */
        struct {              /* lanes, for types with mins: the sums of the 16 */
            int8_t codes[32]; /* sub-blocks as high parts, then as low parts, */
            float scale[8];   /* and minus their scales, four times each */
        } sub_block_sums;
    };
    int32_t has_low[4]; /* for the codes that are unpacked together; of lanes the
                           first is for all */
    int32_t unused[28]; /* up to an odd number of cache lines: else columns of
                           4096 values would meet in the same sets of the
                           cache */
    int8_t low[GB_SUPER_BLOCK]; /* valid where has_low */
};

/* Ternary digits are stored five to a byte: five vectors, one for each digit of
 * 52 bytes. */
#define GB_TERNARY_DIGITS 5

struct gb_q8_ternary {
    int8_t high[GB_TERNARY_DIGITS * 64];
    float scale[16];
    int32_t correction[16];
    int32_t has_low;
    int32_t unused[15];
    int8_t low[GB_TERNARY_DIGITS * 64];
};

/* Bytes of a column of K values, packed for PATH. */
static inline size_t
gb_path_activation_bytes(
    const struct gb_format *format, enum gb_path path, int64_t k)
{
    const size_t n = (size_t)k;

    if (path == GB_PATH_GEMM_PACKED)
        return gb_float_panel_bytes(k);
    if (path == GB_PATH_TILES)
        return gb_tile_column_bytes(format, k);
    if (format->sub_block == 0 || path == GB_PATH_GEMM)
        return gb_activation_panel_bytes(format, k);
    return (n + GB_SUPER_BLOCK - 1) / GB_SUPER_BLOCK *
           (path == GB_PATH_GEMV && format->gemv == GB_GEMV_LANES_TERNARY
                ? sizeof(struct gb_q8_ternary)
                : sizeof(struct gb_q8_super_block));
}

#endif
