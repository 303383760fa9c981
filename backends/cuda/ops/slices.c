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

/* The slices of the product that member I of GROUP, a sum, adds: two of the
 * first one, or one. */
static int
slices_of(const struct gb_fuse_group *group, int i,
          const struct ggml_tensor *slices[2])
{
    const struct ggml_tensor *sum = group->nodes[i];

    if (i > 1) {
        slices[0] = gb_cuda_other_operand(sum, group->nodes[i - 1]);
        return 1;
    }
    slices[0] = sum->src[0];
    slices[1] = sum->src[1];
    return 2;
}

/* Which one along dimension 1 of PRODUCT it is; -1: none, or not a whole one. */
static int64_t
index_of(const struct ggml_tensor *slice, const struct ggml_tensor *product)
{
    const size_t offset =
        (size_t)((const char *)slice->data - (const char *)product->data);

    if (slice->type != GGML_TYPE_F32 ||
        !gb_cuda_has_shape(slice, product->ne[0], product->ne[2], 1, 1) ||
        slice->nb[0] != product->nb[0] || offset % product->nb[1] != 0 ||
        (slice->ne[1] > 1 && slice->nb[1] != product->nb[2]) ||
        offset / product->nb[1] >= (size_t)product->ne[1])
        return -1;
    return (int64_t)(offset / product->nb[1]);
}

static bool
is_product_good(const struct ggml_tensor *product)
{
    const struct ggml_tensor *weights = product->src[1];

    if (product->type != GGML_TYPE_F32 || !ggml_is_contiguous(product) ||
        product->ne[3] != 1 || product->ne[1] > INT32_MAX ||
        product->src[0]->type != GGML_TYPE_F32 ||
        !ggml_are_same_shape(product->src[0], product) ||
        weights->type != GGML_TYPE_F32)
        return false;
    for (int i = 0; i < GGML_MAX_DIMS; i++) {
        if (weights->ne[i] != product->ne[i] && weights->ne[i] != 1)
            return false;
    }
    return true;
}

static bool
slices_support(const struct gb_cuda_limits *limits,
               const struct gb_fuse_group *group)
{
    const struct ggml_tensor *product = group->nodes[0], *slices[2];

    (void)limits;
    if (!is_product_good(product))
        return false;
    for (int i = 1; i < group->n_nodes; i++) {
        const int n = slices_of(group, i, slices);

        if (group->nodes[i]->type != GGML_TYPE_F32 ||
            !gb_cuda_has_shape(group->nodes[i], product->ne[0],
                               product->ne[2], 1, 1))
            return false;
        for (int j = 0; j < n; j++) {
            if (index_of(slices[j], product) < 0)
                return false;
        }
    }
    return true;
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
        const int n = slices_of(group, i, slices);

        args.sums[i - 1] = gb_cuda_arg_if_written(group, i);
        for (int j = 0; j < n; j++)
            args.slices[args.n_slices++] =
                (int32_t)index_of(slices[j], product);
    }
    GB_CUDA_LAUNCH(emit, gb_sum_slices, gb_cuda_blocks(args.n, 256), 0, &args);
}

const struct gb_cuda_fused gb_cuda_fused_slices = {
    .supports = slices_support,
    .emit = slices_emit,
};
