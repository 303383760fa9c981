/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/generate.c - tensors made of numbers, all F32: ARANGE,
 * TIMESTEP_EMBEDDING, DIAG.
 */
#include "backends/cuda/kernels/args-generate.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/shape.h"

#include <math.h>

static void
arange_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const struct gb_cuda_arange_args args = {
        .dst = gb_cuda_arg(node),
        .start = gb_node_param_f32(node, 0),
        .step = gb_node_param_f32(node, 2),
    };

    GB_CUDA_LAUNCH(
        emit, gb_arange_f32, gb_cuda_blocks(node->ne[0], 256), 0, &args);
}

const struct gb_cuda_op gb_cuda_op_arange = {
    .emit = arange_emit,
};

/* The twelve upper bits of X: times a number below 4,096 the product is
 * exact. */
static float
upper_bits(double x)
{
    const float value = (float)x;
    uint32_t bits;
    float upper;

    memcpy(&bits, &value, sizeof(bits));
    bits &= ~(uint32_t)0xfff;
    memcpy(&upper, &bits, sizeof(upper));
    return upper;
}

/*
 * Frequencies fall from 1 to nearly 1 / max_period in equal ratios; the
 * logarithm of the ratio is split, since its error counts once for each step,
 * and that of a frequency as often as there are times.
 */
static void
timestep_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const int32_t half = gb_node_param_i32(node, 0) / 2;
    const double ratio =
        half > 0 ? -log2(gb_node_param_i32(node, 1)) / half : 0.0;
    const float high = upper_bits(ratio);
    const struct gb_cuda_timestep_args args = {
        .dst = gb_cuda_arg(node),
        .times = gb_cuda_arg(node->src[0]),
        .n = ggml_nelements(node),
        .half = half,
        .high = high,
        .low = (float)(ratio - (double)high),
    };

    GB_CUDA_LAUNCH(
        emit, gb_timestep_f32, gb_cuda_blocks(args.n, 256), 0, &args);
}

const struct gb_cuda_op gb_cuda_op_timestep = {
    .emit = timestep_emit,
};

static void
diag_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const struct gb_cuda_diag_args args = {
        .dst = gb_cuda_arg(node),
        .src = gb_cuda_arg(node->src[0]),
        .n = ggml_nelements(node),
    };

    GB_CUDA_LAUNCH(emit, gb_diag_f32, gb_cuda_blocks(args.n, 256), 0, &args);
}

const struct gb_cuda_op gb_cuda_op_diag = {
    .emit = diag_emit,
};
