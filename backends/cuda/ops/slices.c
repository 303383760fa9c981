/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/slices.c - a product element by element, and the sum of slices of it,
 * by one launch: of a mixture of experts, what they made by their weights.
 */
#include "backends/cuda/kernels/args-slices.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/fused.h"
#include "backends/cuda/ops/shape.h"

#include <string.h>

_Static_assert(GB_CUDA_MAX_SLICES >= GB_FUSE_MAX_NODES,
               "a launch makes the sum of a group");

static bool
slices_support(const struct gb_cuda_limits *limits,
               const struct gb_fuse_group *group)
{
    (void)limits;
    return gb_fuse_adds_slices(group, INT32_MAX);
}

static void
slices_emit(struct gb_cuda_emit *emit, const struct gb_fuse_group *group)
{
    const struct ggml_tensor *product = group->nodes[0], *slices[2];
    struct gb_cuda_slices_args args;

    memset(&args, 0, sizeof(args));
    args.src = gb_cuda_arg(product->src[0]);
    args.weights = gb_cuda_arg_repeated(product->src[1]);
    args.products = gb_cuda_arg_if_written(group, 0);
    args.n = product->ne[0] * product->ne[2];
    for (int i = 1; i < group->n_nodes; i++) {
        const int n = gb_fuse_slices_of(group, i, slices);

        args.sums[i - 1] = gb_cuda_arg_if_written(group, i);
        for (int j = 0; j < n; j++)
            args.slices[args.n_slices++] =
                (int32_t)gb_fuse_slice_index(slices[j], product);
    }
    GB_CUDA_LAUNCH(emit, gb_sum_slices, gb_cuda_blocks(args.n, 256), 0, &args);
}

const struct gb_cuda_fused gb_cuda_fused_slices = {
    .supports = slices_support,
    .emit = slices_emit,
};
