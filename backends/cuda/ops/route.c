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

/* Members of a group; a short one ends with PICKED. */
enum { VALUES, ORDER, PICKED, SUMS, SHARES };

/* Is T of the type of OF, and begins where that does? */
static bool
is_like(const struct ggml_tensor *t, const struct ggml_tensor *of)
{
    return t->data == of->data && t->type == of->type;
}

static bool
are_values_good(const struct ggml_tensor *values)
{
    const struct ggml_tensor *a = values->src[0];

    return values->src[1] == NULL && a->type == GGML_TYPE_F32 &&
           values->type == GGML_TYPE_F32 && ggml_is_contiguous(values) &&
           ggml_is_matrix(values) && gb_cuda_is_dense(a) &&
           values->ne[0] <= GB_CUDA_ROUTE_MOST;
}

/* Indices are the first of each row, the result what they pick of the row. */
static bool
can_pick(const struct gb_fuse_group *group)
{
    const struct ggml_tensor *values = group->nodes[VALUES];
    const struct ggml_tensor *order = group->nodes[ORDER];
    const struct ggml_tensor *picked = group->nodes[PICKED];
    const struct ggml_tensor *from = picked->src[0], *ids = picked->src[1];

    return order->src[0] == values && ggml_is_contiguous(order) &&
           is_like(from, values) && ggml_is_contiguous(from) &&
           gb_cuda_has_shape(from, 1, values->ne[0], values->ne[1], 1) &&
           is_like(ids, order) && ids->nb[0] == order->nb[0] &&
           (ids->ne[1] == 1 || ids->nb[1] == order->nb[1]) &&
           ids->ne[0] <= order->ne[0] &&
           gb_cuda_has_shape(ids, ids->ne[0], order->ne[1], 1, 1) &&
           picked->type == GGML_TYPE_F32 && ggml_is_contiguous(picked) &&
           gb_cuda_has_shape(picked, 1, ids->ne[0], ids->ne[1], 1);
}

static bool
can_share(const struct gb_fuse_group *group)
{
    const struct ggml_tensor *picked = group->nodes[PICKED];
    const struct ggml_tensor *sums = group->nodes[SUMS];
    const struct ggml_tensor *shares = group->nodes[SHARES];
    const struct ggml_tensor *a = sums->src[0], *b = shares->src[0];
    const int64_t n = picked->ne[1], rows = picked->ne[2];

    return is_like(a, picked) && is_like(b, picked) &&
           gb_cuda_has_shape(a, n, rows, 1, 1) && ggml_is_contiguous(a) &&
           gb_cuda_has_shape(b, n, rows, 1, 1) && ggml_is_contiguous(b) &&
           shares->src[1] == sums && sums->type == GGML_TYPE_F32 &&
           ggml_is_contiguous(sums) && shares->type == GGML_TYPE_F32 &&
           ggml_is_contiguous(shares);
}

static bool
route_supports(const struct gb_cuda_limits *limits,
               const struct gb_fuse_group *group)
{
    (void)limits;
    return are_values_good(group->nodes[VALUES]) && can_pick(group) &&
           (group->n_nodes == PICKED + 1 || can_share(group));
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
    const struct ggml_tensor *values = group->nodes[VALUES];
    const struct ggml_tensor *a = values->src[0];
    const int64_t n = values->ne[0], n_picked = group->nodes[PICKED]->ne[1];
    const struct gb_cuda_route_args args = {
        .src = { a->data, (int64_t)a->nb[1] },
        .values = rows_of(group, VALUES, n * 4),
        .order = rows_of(group, ORDER, n * 4),
        .picked = rows_of(group, PICKED, n_picked * 4),
        .sums = rows_of(group, SUMS, 4),
        .shares = rows_of(group, SHARES, n_picked * 4),
        .n_rows = values->ne[1],
        .n = (int32_t)n,
        .n_picked = (int32_t)n_picked,
        .scale = gb_cuda_param_f32(values, 0),
        .is_descending = gb_cuda_param_i32(group->nodes[ORDER], 0) ==
                         GGML_SORT_ORDER_DESC,
    };

    GB_CUDA_LAUNCH(emit, gb_route, gb_cuda_blocks(args.n_rows, 1), 0, &args);
}

const struct gb_cuda_fused gb_cuda_fused_route = {
    .supports = route_supports,
    .emit = route_emit,
};
