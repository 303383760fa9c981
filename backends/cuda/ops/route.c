/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/route.c - the experts of a token and how much they count, by one
 * launch: SOFT_MAX, the order of the probabilities, those that come first, and
 * their shares of their sum.
 */
#include "backends/cuda/kernels/args-route.h"
#include "backends/cuda/ops/fused.h"
#include "backends/cuda/ops/shape.h"

#include <string.h>

static bool
route_supports(const struct gb_cuda_limits *limits,
               const struct gb_fuse_group *group)
{
    (void)limits;
    return gb_fuse_is_route(group, GB_CUDA_ROUTE_MOST);
}

/* Rows of member I of N bytes each, if it is there and somebody sees it. */
static struct gb_cuda_route_rows
rows_of(const struct gb_fuse_group *group, int i, int64_t bytes)
{
    struct gb_cuda_route_rows rows = { NULL, bytes };

    if (i < group->n_nodes && gb_fuse_is_written(group, i))
        rows.data = group->nodes[i]->data;
    return rows;
}

static void
route_emit(struct gb_cuda_emit *emit, const struct gb_fuse_group *group)
{
    const struct ggml_tensor *values = group->nodes[GB_FUSE_VALUES];
    const struct ggml_tensor *a = values->src[0];
    const int64_t n = values->ne[0];
    const int64_t n_picked = group->nodes[GB_FUSE_PICKED]->ne[1];
    const struct gb_cuda_route_args args = {
        .src = { a->data, (int64_t)a->nb[1] },
        .values = rows_of(group, GB_FUSE_VALUES, n * 4),
        .order = rows_of(group, GB_FUSE_ORDER, n * 4),
        .picked = rows_of(group, GB_FUSE_PICKED, n_picked * 4),
        .sums = rows_of(group, GB_FUSE_SUMS, 4),
        .shares = rows_of(group, GB_FUSE_SHARES, n_picked * 4),
        .n_rows = values->ne[1],
        .n = (int32_t)n,
        .n_picked = (int32_t)n_picked,
        .scale = gb_node_param_f32(values, 0),
        .is_descending = gb_node_param_i32(group->nodes[GB_FUSE_ORDER], 0) ==
                         GGML_SORT_ORDER_DESC,
    };

    GB_CUDA_LAUNCH(emit, gb_route, gb_cuda_blocks(args.n_rows, 1), 0, &args);
}

const struct gb_cuda_fused gb_cuda_fused_route = {
    .supports = route_supports,
    .emit = route_emit,
};
