/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm/pack-activations.c - a row of activations as a column of a
 * product, for any path.
 *
 * Activations come as F32, or as the type that the weights' type is multiplied
 * with by the interface's convention (Q8_0, Q8_1, Q8_K, F16, BF16); in the
 * latter case their codes are taken as they are, and have no low parts.
 */
#include "backends/cpu/kernels/api/prototypes.h"
#include "backends/cpu/kernels/gemm/pack.h"
#include "lib/type/blocks.h"

#include <string.h>

/* Bytes of N activations of TYPE in memory, N a multiple of its block; types
 * that are not named have 16 bits a value. */
size_t
GB_K(activation_bytes)(enum ggml_type type, int64_t n)
{
    const size_t values = (size_t)n;

    switch ((int)type) {
    case GGML_TYPE_F32:
        return values * sizeof(float);
    case GGML_TYPE_Q8_0:
        return values / GB_QK * sizeof(struct gb_block_q8_0);
    case GGML_TYPE_Q8_1:
        return values / GB_QK * sizeof(struct gb_block_q8_1);
    case GGML_TYPE_Q8_K:
        return values / GB_QK_K * sizeof(struct gb_block_q8_k);
    default:
        return values * sizeof(uint16_t);
    }
}

/* A row of floats as F32; what has 16 bits becomes F32 without loss. */
static void
column_of_floats(int64_t n, const void *row, enum ggml_type type, float *column)
{
    if (type == GGML_TYPE_F16)
        GB_K_OF(FLOATS, f16_to_f32)(n, column, row);
    else if (type == GGML_TYPE_BF16)
        GB_K_OF(FLOATS, bf16_to_f32)(n, column, row);
    else
        memcpy(column, row, (size_t)n * sizeof(*column));
}

/* Float weights meet floats on any path but GEMM_PACKED (pack-floats.c). */
void
GB_K(pack_activations)(const struct gb_format *format, enum gb_path path,
                       int64_t n, const void *row, enum ggml_type type,
                       void *column)
{
    if (format->sub_block == 0)
        column_of_floats(n, row, type, column);
    else if (path == GB_PATH_GEMM)
        GB_K(pack_panel)(format, n, row, type, column);
    else
        GB_K(pack_super_blocks)(format, path, n, row, type, column);
}
