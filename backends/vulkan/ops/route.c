/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/route.c - the experts of a token and how much they count, by one
 * dispatch: SOFT_MAX, the order of the probabilities, those that come first, and
 * their shares of their sum.
 */
#include "backends/vulkan/ops/fused.h"
#include "backends/vulkan/ops/rows.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-route.h"

_Static_assert(GB_VK_ROUTE_MOST <= GB_VK_TEAM_ROW,
               "a team has a row, as it has of the operations one by one");

/* Members of a group; a short one ends with PICKED. */
enum { VALUES, ORDER, PICKED, SUMS, SHARES, N_MEMBERS };

static bool
has_shape(const struct ggml_tensor *t, int64_t ne0, int64_t ne1, int64_t ne2)
{
    return t->ne[0] == ne0 && t->ne[1] == ne1 && t->ne[2] == ne2 &&
           t->ne[3] == 1;
}

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
           ggml_is_matrix(values) && gb_vk_is_dense(a) &&
           values->ne[0] <= GB_VK_ROUTE_MOST;
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
           has_shape(from, 1, values->ne[0], values->ne[1]) &&
           is_like(ids, order) && ids->nb[0] == order->nb[0] &&
           (ids->ne[1] == 1 || ids->nb[1] == order->nb[1]) &&
           ids->ne[0] <= order->ne[0] &&
           has_shape(ids, ids->ne[0], order->ne[1], 1) &&
           picked->type == GGML_TYPE_F32 && ggml_is_contiguous(picked) &&
           has_shape(picked, 1, ids->ne[0], ids->ne[1]);
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
           has_shape(a, n, rows, 1) && ggml_is_contiguous(a) &&
           has_shape(b, n, rows, 1) && ggml_is_contiguous(b) &&
           shares->src[1] == sums && sums->type == GGML_TYPE_F32 &&
           ggml_is_contiguous(sums) && shares->type == GGML_TYPE_F32 &&
           ggml_is_contiguous(shares);
}

static bool
route_supports(
    const struct gb_vk_limits *limits, const struct gb_fuse_group *group)
{
    return gb_vk_can_use(limits, GB_VK_route) &&
           are_values_good(group->nodes[VALUES]) && can_pick(group) &&
           (group->n_nodes == PICKED + 1 || can_share(group));
}

static void
route_emit(struct gb_vk_emit *emit, const struct gb_fuse_group *group)
{
    const struct ggml_tensor *values = group->nodes[VALUES];
    const struct ggml_tensor *a = values->src[0];
    const struct ggml_tensor *last = group->nodes[group->n_nodes - 1];
    struct gb_vk_bind binds[1 + N_MEMBERS] = { gb_vk_read(a) };
    struct gb_vk_route_params params = {
        .src_nb = (uint32_t)a->nb[1],
        .n = (uint32_t)values->ne[0],
        .n_rows = (uint32_t)values->ne[1],
        .n_picked = (uint32_t)group->nodes[PICKED]->ne[1],
        .is_descending = gb_vk_param_i32(group->nodes[ORDER], 0) ==
                         GGML_SORT_ORDER_DESC,
        .written = group->written & ((1u << group->n_nodes) - 1),
        .scale = gb_vk_param_f32(values, 0),
    };

    for (int i = 0; i < N_MEMBERS; i++)
        binds[1 + i] = i < group->n_nodes ? gb_vk_write_if(group, i, last)
                                          : gb_vk_write(last);
    emit->add(emit, GB_VK_route, gb_vk_groups(params.n_rows, GB_VK_TEAMS),
              binds, 1 + N_MEMBERS, &params, sizeof(params));
}

const struct gb_vk_fused gb_vk_fused_route = {
    .supports = route_supports,
    .emit = route_emit,
};
