/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/conv.c - transposed convolutions.
 *
 * CONV_TRANSPOSE_1D, with stride s:
 *     dst[x, o] = sum over all c, l and k with l * s + k = x of
 *                 src0[k, o, c] * src1[l, c]
 *
 *   src0   kernel [K, OC, IC]
 *   src1   input [L, IC]
 *   dst    [(L - 1) * s + K, OC]
 *
 * CONV_TRANSPOSE_2D, with the same stride both ways, likewise over x and y:
 *   src0   kernel [KW, KH, OC, IC]
 *   src1   input [IW, IH, IC, N]
 *   dst    [(IW - 1) * s + KW, (IH - 1) * s + KH, OC, N]
 *
 * Kernels are F32 or F16, inputs F32, both with any strides; dst is F32 and
 * contiguous.  There is no padding, and dilation is 1.
 *
 * Computed as a scatter: the output begins as zeros, and each input element
 * adds the kernel times itself at its place.  The input is copied to the shared
 * memory once (prepare), contiguous and in index order.
 *
 * Threads   a tile is one channel of the output (in two dimensions: of one
 *           image), so that no two threads add to the same element.
 * Accuracy  F32 sums in the order of c, then of the kernel's rows, then of
 *           input elements.  With an F16 kernel the input is rounded to F16
 *           first, as the interface has it.
 */
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/params.h"
#include "backends/cpu/ops/rows.h"
#include "lib/base/checked.h"

#include <string.h>

/* Types, strides and the stride parameter, which both operations have in
 * common.  Sizes below 2^30 keep l * s + k within an int64_t. */
static bool
conv_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    return (a->type == GGML_TYPE_F16 || a->type == GGML_TYPE_F32) &&
           b->type == GGML_TYPE_F32 && node->type == GGML_TYPE_F32 &&
           ggml_is_contiguous(node) && gb_cpu_param_i32(node, 0) > 0 &&
           gb_cpu_is_countable(a) && gb_cpu_is_countable(b);
}

/* Has the output (L - 1) * s + K elements along dimension D?  Of an empty input
 * it is zeros, and may have any length. */
static bool
is_covered(const struct ggml_tensor *node, int d)
{
    const int64_t stride = gb_cpu_param_i32(node, 0);

    return node->src[1]->ne[d] == 0 ||
           node->ne[d] == (node->src[1]->ne[d] - 1) * stride +
                              node->src[0]->ne[d];
}

/* Bytes of the input as contiguous F32. */
static size_t
conv_shared(const struct ggml_tensor *node)
{
    return gb_mul_or_max(
        (size_t)ggml_nelements(node->src[1]), sizeof(float));
}

/* Tiles of the prepare phase: rows of the input. */
static int64_t
input_tiles(const struct ggml_tensor *node)
{
    return ggml_is_empty(node->src[1]) ? 0
                                       : gb_cpu_tiles_by_rows(node->src[1]);
}

/* Round N floats to the nearest F16 numbers, in place. */
static void
round_row(const struct gb_cpu_kernels *k, int64_t n, float *values)
{
    uint16_t halves[GB_CPU_BUFFER];

    for (int64_t i = 0; i < n; i += GB_CPU_BUFFER) {
        const int64_t len = n - i < GB_CPU_BUFFER ? n - i : GB_CPU_BUFFER;

        k->f32_to_f16(len, halves, values + i);
        k->f16_to_f32(len, values + i, halves);
    }
}

/* Copy the rows of a tile of the input to the shared memory, rounded to F16 if
 * the kernel is F16. */
static enum ggml_status
input_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *b = task->node->src[1];
    const int64_t n = b->ne[0];
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(b, tile);

    for (int64_t row = rows.first; row < rows.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(b, row);
        const struct gb_cpu_line from =
            gb_cpu_line_at(b, at.i1, at.i2, at.i3);
        const struct gb_cpu_line to = {
            .data = (char *)((float *)task->shared + row * n),
            .stride = sizeof(float),
            .type = GGML_TYPE_F32,
        };

        gb_cpu_line_copy(task->k, &to, 0, &from, 0, n);
        if (task->node->src[0]->type == GGML_TYPE_F16)
            round_row(task->k, n, (float *)task->shared + row * n);
    }
    return GGML_STATUS_SUCCESS;
}

/* Bytes of scratch: one row of the kernel as floats. */
static size_t
kernel_row_scratch(const struct ggml_tensor *node)
{
    return gb_mul_or_max((size_t)node->src[0]->ne[0], sizeof(float));
}

/* Add the kernel's row times each of the WIDTH elements of an input row to a
 * row of the output: dst[x * stride + i] += kernel[i] * input[x]. */
static void
spread_row(const struct gb_cpu_task *task, float *dst, const float *kernel,
           const float *input, int64_t width)
{
    const int64_t stride = gb_cpu_param_i32(task->node, 0);

    for (int64_t x = 0; x < width; x++)
        task->k->add_scaled_f32(task->node->src[0]->ne[0], dst + x * stride,
                                kernel, input[x]);
}

/* Channels of the input, its dimension D, to go through: none if input or
 * kernel are empty, since the number of empty channels has no limit. */
static int64_t
n_channels(const struct ggml_tensor *node, int d)
{
    return ggml_is_empty(node->src[0]) || ggml_is_empty(node->src[1])
               ? 0
               : node->src[1]->ne[d];
}

/* A tile for each channel of the output. */
static int64_t
conv_1d_tiles(const struct ggml_tensor *node)
{
    return node->ne[1];
}

/* One channel of the output: row TILE of dst, from row TILE of each input
 * channel's kernel. */
static enum ggml_status
conv_1d_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    const int64_t channels = n_channels(node, 1);
    float *const dst = (void *)gb_cpu_row_ptr(node, tile, 0, 0);

    memset(dst, 0, (size_t)node->ne[0] * sizeof(float));
    for (int64_t c = 0; c < channels; c++) {
        const struct gb_cpu_line line = gb_cpu_line_at(a, tile, c, 0);
        const float *kernel =
            gb_cpu_line_read(task->k, &line, 0, a->ne[0], task->scratch);

        spread_row(task, dst, kernel,
                   (const float *)task->shared + c * b->ne[0], b->ne[0]);
    }
    return GGML_STATUS_SUCCESS;
}

/* Parameters are stride, padding and dilation, the last two 0 and 1. */
static bool
conv_1d_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    return conv_can_run(node) && ggml_is_matrix(b) && a->ne[2] == b->ne[1] &&
           a->ne[3] == 1 && is_covered(node, 0) &&
           gb_cpu_has_shape(node, node->ne[0], a->ne[1], 1, 1) &&
           gb_cpu_param_i32(node, 1) == 0 && gb_cpu_param_i32(node, 2) == 1;
}

const struct gb_cpu_op gb_cpu_op_conv_transpose_1d = {
    .n_src = 2,
    .can_run = conv_1d_can_run,
    .tiles = conv_1d_tiles,
    .scratch = kernel_row_scratch,
    .shared = conv_shared,
    .prepare_tiles = input_tiles,
    .prepare = input_run,
    .run = conv_1d_run,
};

static bool
conv_2d_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    return conv_can_run(node) && a->ne[3] == b->ne[2] &&
           is_covered(node, 0) && is_covered(node, 1) &&
           node->ne[2] == a->ne[2] && node->ne[3] == b->ne[3];
}

/* A tile for each channel of each image. */
static int64_t
conv_2d_tiles(const struct ggml_tensor *node)
{
    return node->ne[2] * node->ne[3];
}

/*
 * Add to DST, the plane of output channel O and image N, what input channel C
 * contributes: each row of the kernel's plane (O, C) times each input row.
 */
static void
spread_plane(const struct gb_cpu_task *task, float *dst, int64_t o, int64_t c,
             int64_t n)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    const int64_t stride = gb_cpu_param_i32(node, 0);
    const float *input = (const float *)task->shared +
                         (n * b->ne[2] + c) * b->ne[1] * b->ne[0];

    for (int64_t kh = 0; kh < a->ne[1]; kh++) {
        const struct gb_cpu_line line = gb_cpu_line_at(a, kh, o, c);
        const float *kernel =
            gb_cpu_line_read(task->k, &line, 0, a->ne[0], task->scratch);

        for (int64_t y = 0; y < b->ne[1]; y++)
            spread_row(task, dst + (y * stride + kh) * node->ne[0], kernel,
                       input + y * b->ne[0], b->ne[0]);
    }
}

/* One plane of the output: channel O of image N. */
static enum ggml_status
conv_2d_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const int64_t o = tile % node->ne[2];
    const int64_t n = tile / node->ne[2];
    const int64_t channels = n_channels(node, 2);
    float *const dst = (void *)gb_cpu_row_ptr(node, 0, o, n);

    memset(dst, 0, (size_t)(node->ne[0] * node->ne[1]) * sizeof(float));
    for (int64_t c = 0; c < channels; c++)
        spread_plane(task, dst, o, c, n);
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_conv_transpose_2d = {
    .n_src = 2,
    .can_run = conv_2d_can_run,
    .tiles = conv_2d_tiles,
    .scratch = kernel_row_scratch,
    .shared = conv_shared,
    .prepare_tiles = input_tiles,
    .prepare = input_run,
    .run = conv_2d_run,
};
