/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/loss.c - cross entropy with its gradient, and a step of AdamW.
 */
#include "backends/cuda/kernels/args-loss.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/reduce.h"
#include "backends/cuda/ops/rows.h"
#include "backends/cuda/ops/shape.h"

/* Rows that have elements, and so a share of the loss. */
static int64_t
row_count(const struct ggml_tensor *logits)
{
    return ggml_is_empty(logits) ? 0 : ggml_nrows(logits);
}

static size_t
cross_entropy_scratch(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return (size_t)row_count(node->src[0]) * sizeof(float);
}

/* The mean over the rows, with the sign changed. */
static void
cross_entropy_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    static const struct gb_cuda_row_kernels kernels =
        GB_CUDA_ROW_KERNELS(cross_entropy_f32);
    const struct ggml_tensor *logits = node->src[0];
    const struct gb_cuda_cross_entropy_args args = {
        .logits = gb_cuda_arg(logits),
        .labels = gb_cuda_arg(node->src[1]),
        .parts = (float *)emit->scratch,
        .n_rows = row_count(logits),
    };

    gb_cuda_launch_rows(emit, &kernels, logits->ne[0], args.n_rows, &args,
                        sizeof(args));
    gb_cuda_join_parts(emit, node, args.parts, args.n_rows,
                       -(float)ggml_nrows(logits));
}

const struct gb_cuda_op gb_cuda_op_cross_entropy = {
    .scratch = cross_entropy_scratch,
    .emit = cross_entropy_emit,
};

static void
cross_entropy_back_emit(
    struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    static const struct gb_cuda_row_kernels kernels =
        GB_CUDA_ROW_KERNELS(cross_entropy_back_f32);
    const struct gb_cuda_cross_entropy_back_args args = {
        .dst = gb_cuda_arg(node),
        .logits = gb_cuda_arg(node->src[1]),
        .labels = gb_cuda_arg(node->src[2]),
        .gradient = node->src[0]->data,
        .n_rows = ggml_nrows(node),
    };

    gb_cuda_launch_rows(emit, &kernels, node->ne[0], args.n_rows, &args,
                        sizeof(args));
}

const struct gb_cuda_op gb_cuda_op_cross_entropy_back = {
    .emit = cross_entropy_back_emit,
};

static void
adamw_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const struct gb_cuda_adamw_args args = {
        .weights = gb_cuda_arg(node),
        .gradient = gb_cuda_arg(node->src[1]),
        .first = gb_cuda_arg(node->src[2]),
        .second = gb_cuda_arg(node->src[3]),
        .params = node->src[4]->data,
        .n = ggml_nelements(node),
    };

    GB_CUDA_LAUNCH(emit, gb_adamw_f32, gb_cuda_blocks(args.n, 256), 0, &args);
}

const struct gb_cuda_op gb_cuda_op_adamw = {
    .emit = adamw_emit,
};
