/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/getrows.c - rows picked by their numbers (embeddings), and the
 * gradient.
 */
#include "backends/cuda/kernels/args-getrows.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/formats.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/shape.h"

#define THREADS 256

static bool
get_rows_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *src = node->src[0];

    (void)limits;
    return src->type == GGML_TYPE_I32 || gb_cuda_can_read(src);
}

static const enum gb_cuda_kernel get_rows_kernels[GGML_TYPE_COUNT] = {
    [GGML_TYPE_I32] = GB_CUDA_KERNEL_gb_get_rows_i32,
#define GB_CUDA_FLOATS(TYPE, name, type) \
    [GGML_TYPE_##TYPE] = GB_CUDA_KERNEL_gb_get_rows_##name,
#define GB_CUDA_BLOCKS(TYPE, name) \
    [GGML_TYPE_##TYPE] = GB_CUDA_KERNEL_gb_get_rows_##name,
#include "backends/cuda/kernels/formats.def"
#undef GB_CUDA_FLOATS
#undef GB_CUDA_BLOCKS
};

static void
get_rows_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *src = node->src[0];
    const int per_thread = ggml_is_quantized(src->type) ? 4 : 1;
    const struct gb_cuda_get_rows_args args = {
        .dst = gb_cuda_arg(node),
        .src = gb_cuda_arg(src),
        .ids = gb_cuda_arg(node->src[1]),
        .n = ggml_nelements(node) / per_thread,
    };

    emit->add(emit, get_rows_kernels[src->type],
              gb_cuda_blocks(args.n, THREADS), 0, &args, sizeof(args));
}

const struct gb_cuda_op gb_cuda_op_get_rows = {
    .supports = get_rows_supports,
    .emit = get_rows_emit,
};

static const enum gb_cuda_kernel get_rows_back_kernels[GGML_TYPE_COUNT] = {
#define GB_CUDA_FLOATS(TYPE, name, type) \
    [GGML_TYPE_##TYPE] = GB_CUDA_KERNEL_gb_get_rows_back_##name,
#define GB_CUDA_BLOCKS(TYPE, name)
#include "backends/cuda/kernels/formats.def"
#undef GB_CUDA_FLOATS
#undef GB_CUDA_BLOCKS
};

static void
get_rows_back_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const struct gb_cuda_get_rows_back_args args = {
        .dst = gb_cuda_arg(node),
        .src = gb_cuda_arg(node->src[0]),
        .ids = gb_cuda_arg(node->src[1]),
        .n = ggml_nelements(node),
    };

    emit->add(emit, get_rows_back_kernels[node->src[0]->type],
              gb_cuda_blocks(args.n, THREADS), 0, &args, sizeof(args));
}

const struct gb_cuda_op gb_cuda_op_get_rows_back = {
    .emit = get_rows_back_emit,
};
