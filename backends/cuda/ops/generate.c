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

static bool
arange_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return gb_cuda_has_f32_rows(node) && node->ne[1] == 1 &&
           node->ne[2] == 1 && node->ne[3] == 1;
}

static void
arange_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const struct gb_cuda_arange_args args = {
        .dst = gb_cuda_arg(node),
        .start = gb_cuda_param_f32(node, 0),
        .step = gb_cuda_param_f32(node, 2),
    };

    GB_CUDA_LAUNCH(
        emit, gb_arange_f32, gb_cuda_blocks(node->ne[0], 256), 0, &args);
}

const struct gb_cuda_op gb_cuda_op_arange = {
    .supports = arange_supports,
    .emit = arange_emit,
};

/* The parameter's values fit a row, and there is a time for each row. */
static bool
timestep_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const int32_t dim = gb_cuda_param_i32(node, 0);

    (void)limits;
    return gb_cuda_has_sources(node, 1) && a->type == GGML_TYPE_F32 &&
           node->type == GGML_TYPE_F32 && dim >= 0 && dim <= node->ne[0] &&
           node->ne[2] == 1 && node->ne[3] == 1 && !ggml_is_empty(a) &&
           a->ne[0] >= node->ne[1];
}

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
    const int32_t half = gb_cuda_param_i32(node, 0) / 2;
    const double ratio =
        half > 0 ? -log2(gb_cuda_param_i32(node, 1)) / half : 0.0;
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
    .supports = timestep_supports,
    .emit = timestep_emit,
};

static bool
diag_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];

    (void)limits;
    return gb_cuda_has_sources(node, 1) && a->type == GGML_TYPE_F32 &&
           node->type == GGML_TYPE_F32 && a->ne[1] == 1 &&
           gb_cuda_has_shape(node, a->ne[0], a->ne[0], a->ne[2], a->ne[3]);
}

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
    .supports = diag_supports,
    .emit = diag_emit,
};
