/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/repeat.c - a tensor tiled over a larger shape, and the sum of tiles:
 * REPEAT of any type, REPEAT_BACK of floating-point types.
 */
#include "backends/cuda/kernels/args-move.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/shape.h"
#include "backends/cuda/ops/units.h"

static bool
repeat_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return gb_cuda_can_be_moved(node) && gb_cuda_can_be_moved(node->src[0]);
}

static void
repeat_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const size_t unit = gb_cuda_unit(node, node->src[0]);
    struct gb_cuda_move_args args = {
        .dst = gb_cuda_in_units(node, unit),
        .src0 = gb_cuda_in_units(node->src[0], unit),
        .size = (int32_t)unit,
    };

    args.n = gb_cuda_n_units(&args.dst);
    GB_CUDA_LAUNCH(emit, gb_repeat, gb_cuda_blocks(args.n, 256), 0, &args);
}

const struct gb_cuda_op gb_cuda_op_repeat = {
    .supports = repeat_supports,
    .emit = repeat_emit,
};

/* From this many tiles on a thread block shares the sum of an element, if there
 * are not elements enough to fill a card with one thread each. */
#define MIN_TILES    1024
#define MAX_ELEMENTS 16384

static void
repeat_back_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    struct gb_cuda_repeat_back_args args = {
        .dst = gb_cuda_arg(node),
        .src = gb_cuda_arg(a),
        .n = ggml_nelements(node),
        .n_tiles = 1,
        .src_type = gb_cuda_float_of(a->type),
    };

    for (int d = 0; d < GGML_MAX_DIMS; d++) {
        args.tiles[d] = a->ne[d] / node->ne[d];
        args.n_tiles *= args.tiles[d];
    }
    if (args.n_tiles >= MIN_TILES && args.n < MAX_ELEMENTS)
        GB_CUDA_LAUNCH(emit, gb_repeat_back_by_block,
                       gb_cuda_blocks(args.n, 1), 0, &args);
    else
        GB_CUDA_LAUNCH(
            emit, gb_repeat_back, gb_cuda_blocks(args.n, 256), 0, &args);
}

const struct gb_cuda_op gb_cuda_op_repeat_back = {
    .emit = repeat_back_emit,
};
