/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/fused.c - which row computes a group of nodes.
 */
#include "backends/cuda/ops/fused.h"

#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/matmul.h"
#include "backends/cuda/ops/shape.h"

static const struct gb_cuda_fused *const rows[GB_FUSE_PATTERN_COUNT] = {
    [GB_FUSE_ADD_NORM] = &gb_cuda_fused_norm,
    [GB_FUSE_GATE] = &gb_cuda_fused_gate,
    [GB_FUSE_GET_NORM] = &gb_cuda_fused_norm,
    [GB_FUSE_NORM] = &gb_cuda_fused_norm,
    [GB_FUSE_PRODUCT] = &gb_cuda_fused_product,
    [GB_FUSE_PRODUCTS] = &gb_cuda_fused_products,
    [GB_FUSE_ROPE_STORE] = &gb_cuda_fused_stores,
    [GB_FUSE_ROUTE] = &gb_cuda_fused_route,
    [GB_FUSE_SLICES] = &gb_cuda_fused_slices,
    [GB_FUSE_SOFT_MAX] = &gb_cuda_fused_soft_max,
    [GB_FUSE_STORES] = &gb_cuda_fused_stores,
};

const struct gb_cuda_fused *
gb_cuda_fused_of(enum gb_fuse_pattern pattern)
{
    return rows[pattern];
}

/* Is what comes next NODE, packed by PACKING, its blocks, or steps of k, in the
 * order of the elements? */
static bool
comes_next(const struct gb_cuda_emit *emit, const struct ggml_tensor *node,
           enum gb_cuda_packing packing)
{
    const struct ggml_tensor *b = emit->next.b;

    return b != NULL && emit->next.packing == (int)packing &&
           b->data == node->data && b->type == GGML_TYPE_F32 &&
           b->ne[0] % 32 == 0 && node->ne[0] % 32 == 0 &&
           ggml_nelements(b) == ggml_nelements(node) &&
           ggml_is_contiguous(b) && ggml_is_contiguous(node);
}

char *
gb_cuda_columns_for(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    if (!comes_next(emit, node, GB_CUDA_PACK_Q8))
        return NULL;
    emit->kept = emit->next;
    return emit->columns;
}

char *
gb_cuda_halves_for(struct gb_cuda_emit *emit, const struct ggml_tensor *node,
                   int64_t width)
{
    if (!comes_next(emit, node, GB_CUDA_PACK_F16) ||
        emit->next.b->ne[0] != width)
        return NULL;
    emit->kept = emit->next;
    return emit->columns;
}

struct gb_cuda_tensor
gb_cuda_arg_repeated(const struct ggml_tensor *t)
{
    struct gb_cuda_tensor arg = gb_cuda_arg(t);

    for (int i = 0; i < GGML_MAX_DIMS; i++) {
        if (arg.ne[i] == 1)
            arg.nb[i] = 0;
    }
    return arg;
}

struct gb_cuda_tensor
gb_cuda_arg_if_written(const struct gb_fuse_group *group, int i)
{
    static const struct gb_cuda_tensor none;

    return gb_fuse_is_written(group, i) ? gb_cuda_arg(group->nodes[i]) : none;
}
