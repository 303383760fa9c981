/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/outprod.c - sums of outer products (OUT_PROD).
 */
#include "backends/cuda/kernels/args-outprod.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/formats.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/shape.h"

/* Of a tile: along dimension 0 and along dimension 1. */
#define ROWS 128
#define COLS 8

static bool
out_prod_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return gb_cuda_can_read(node->src[0]);
}

static const enum gb_cuda_kernel kernels[GGML_TYPE_COUNT] = {
#define GB_CUDA_BLOCKS(TYPE, name) \
    [GGML_TYPE_##TYPE] = GB_CUDA_KERNEL_gb_out_prod_##name,
#define GB_CUDA_FLOATS(TYPE, name, type) GB_CUDA_BLOCKS(TYPE, name)
#include "backends/cuda/kernels/formats.def"
#undef GB_CUDA_FLOATS
#undef GB_CUDA_BLOCKS
};

static void
out_prod_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    struct gb_cuda_out_prod_args args = {
        .dst = gb_cuda_arg(node),
        .a = gb_cuda_arg(node->src[0]),
        .b = gb_cuda_arg(node->src[1]),
        .i_tiles = (node->ne[0] + ROWS - 1) / ROWS,
        .j_tiles = (node->ne[1] + COLS - 1) / COLS,
    };

    args.n_tiles = args.i_tiles * args.j_tiles * node->ne[2] * node->ne[3];
    emit->add(emit, kernels[node->src[0]->type],
              gb_cuda_blocks(args.n_tiles, 1), 0, &args, sizeof(args));
}

const struct gb_cuda_op gb_cuda_op_out_prod = {
    .supports = out_prod_supports,
    .emit = out_prod_emit,
};
