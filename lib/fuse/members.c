/* SPDX-License-Identifier: MIT */
/*
 * fuse/members.c - what the nodes of a group are to each other.
 */
#include "lib/fuse/members.h"

#include "lib/node/shape.h"

const struct ggml_tensor *
gb_fuse_operand(
    const struct ggml_tensor *node, const struct ggml_tensor *inner)
{
    return node->src[0] == inner ? node->src[1] : node->src[0];
}

/* What member I, which comes after another one, has besides; NULL: it is not
 * there. */
static const struct ggml_tensor *
besides(const struct gb_fuse_group *group, int i)
{
    return i < 0 ? NULL
                 : gb_fuse_operand(group->nodes[i], group->nodes[i - 1]);
}

/* Are all members rows of F32 of one shape? */
static bool
are_alike(const struct gb_fuse_group *group)
{
    for (int i = 0; i < group->n_nodes; i++)
        if (!gb_node_has_f32_rows(group->nodes[i]) ||
            !ggml_are_same_shape(group->nodes[i], group->nodes[0]))
            return false;
    return true;
}

/* ---- norms ---- */

struct gb_fuse_norm
gb_fuse_norm_of(const struct gb_fuse_group *group)
{
    const bool gets = group->pattern == GB_FUSE_GET_NORM;
    const bool adds = group->pattern == GB_FUSE_ADD_NORM;
    const int norm = gets || adds ? 1 : 0;
    const int bias = group->n_nodes > norm + 2 ? norm + 2 : -1;

    return (struct gb_fuse_norm){
        .get = gets ? 0 : -1,
        .add = adds ? 0 : -1,
        .norm = norm,
        .mul = norm + 1,
        .bias = bias,
        .addend = adds ? group->nodes[0]->src[1] : NULL,
        .weights = besides(group, norm + 1),
        .bias_values = besides(group, bias),
    };
}

/* Are the rows that NODE, which is valid, picks those of a single matrix? */
static bool
gets_plain_rows(const struct ggml_tensor *node)
{
    return gb_node_has_f32_rows(node->src[0]) &&
           ggml_is_matrix(node->src[0]) && !ggml_is_empty(node->src[0]);
}

bool
gb_fuse_norm_has_rows(const struct gb_fuse_group *group)
{
    const struct gb_fuse_norm norm = gb_fuse_norm_of(group);
    const struct ggml_tensor *first = group->nodes[0];
    const struct ggml_tensor *shape = group->nodes[norm.norm];

    if (norm.get >= 0 ? !gets_plain_rows(first)
                      : !gb_node_has_f32_rows(first->src[0]) ||
                            !ggml_are_same_shape(first->src[0], shape))
        return false;
    return are_alike(group) &&
           (norm.addend == NULL || gb_node_has_rows_for(norm.addend, shape)) &&
           gb_node_has_rows_for(norm.weights, shape) &&
           (norm.bias_values == NULL ||
            gb_node_has_rows_for(norm.bias_values, shape));
}

/* ---- a choice of experts ---- */

/* Is T of the type of OF, and begins where that does? */
static bool
is_like(const struct ggml_tensor *t, const struct ggml_tensor *of)
{
    return t->data == of->data && t->type == of->type;
}

static bool
has_values(const struct ggml_tensor *values, int64_t most)
{
    return values->src[1] == NULL && gb_node_has_f32_rows(values->src[0]) &&
           gb_node_is_flat(values) && ggml_is_matrix(values) &&
           values->ne[0] <= most;
}

static bool
can_pick(const struct gb_fuse_group *group)
{
    const struct ggml_tensor *values = group->nodes[GB_FUSE_VALUES];
    const struct ggml_tensor *order = group->nodes[GB_FUSE_ORDER];
    const struct ggml_tensor *picked = group->nodes[GB_FUSE_PICKED];
    const struct ggml_tensor *from = picked->src[0], *ids = picked->src[1];

    return order->src[0] == values && ggml_is_contiguous(order) &&
           is_like(from, values) && ggml_is_contiguous(from) &&
           gb_node_has_shape(from, 1, values->ne[0], values->ne[1], 1) &&
           is_like(ids, order) && ids->nb[0] == order->nb[0] &&
           (ids->ne[1] == 1 || ids->nb[1] == order->nb[1]) &&
           ids->ne[0] <= order->ne[0] &&
           gb_node_has_shape(ids, ids->ne[0], order->ne[1], 1, 1) &&
           gb_node_is_flat(picked) &&
           gb_node_has_shape(picked, 1, ids->ne[0], ids->ne[1], 1);
}

/* Is T the picked values as a matrix? */
static bool
is_picked(const struct ggml_tensor *t, const struct ggml_tensor *picked)
{
    return is_like(t, picked) && ggml_is_contiguous(t) &&
           gb_node_has_shape(t, picked->ne[1], picked->ne[2], 1, 1);
}

static bool
can_share(const struct gb_fuse_group *group)
{
    const struct ggml_tensor *picked = group->nodes[GB_FUSE_PICKED];
    const struct ggml_tensor *sums = group->nodes[GB_FUSE_SUMS];
    const struct ggml_tensor *shares = group->nodes[GB_FUSE_SHARES];

    return is_picked(sums->src[0], picked) &&
           is_picked(shares->src[0], picked) && shares->src[1] == sums &&
           gb_node_is_flat(sums) && gb_node_is_flat(shares);
}

bool
gb_fuse_is_route(const struct gb_fuse_group *group, int64_t most)
{
    return has_values(group->nodes[GB_FUSE_VALUES], most) &&
           can_pick(group) &&
           (group->n_nodes == GB_FUSE_PICKED + 1 || can_share(group));
}

/* ---- sums of slices ---- */

int
gb_fuse_slices_of(const struct gb_fuse_group *group, int i,
                  const struct ggml_tensor *slices[2])
{
    const struct ggml_tensor *sum = group->nodes[i];

    if (i > 1) {
        slices[0] = besides(group, i);
        return 1;
    }
    slices[0] = sum->src[0];
    slices[1] = sum->src[1];
    return 2;
}

/* Has T rows of a matrix, as many as PRODUCT has along dimension 2? */
static bool
has_rows_of_slice(
    const struct ggml_tensor *t, const struct ggml_tensor *product)
{
    return t->type == GGML_TYPE_F32 &&
           gb_node_has_shape(t, product->ne[0], product->ne[2], 1, 1);
}

int64_t
gb_fuse_slice_index(
    const struct ggml_tensor *slice, const struct ggml_tensor *product)
{
    const size_t offset =
        (size_t)((const char *)slice->data - (const char *)product->data);

    if (!has_rows_of_slice(slice, product) ||
        slice->nb[0] != product->nb[0] || offset % product->nb[1] != 0 ||
        (slice->ne[1] > 1 && slice->nb[1] != product->nb[2]) ||
        offset / product->nb[1] >= (size_t)product->ne[1])
        return -1;
    return (int64_t)(offset / product->nb[1]);
}

static bool
has_product(const struct ggml_tensor *product, int64_t most)
{
    const struct ggml_tensor *a = product->src[0], *weights = product->src[1];

    return gb_node_is_flat(product) && product->ne[1] <= most &&
           product->ne[3] == 1 && a->type == GGML_TYPE_F32 &&
           ggml_are_same_shape(a, product) && weights->type == GGML_TYPE_F32 &&
           gb_node_repeats_for(weights, product);
}

bool
gb_fuse_adds_slices(const struct gb_fuse_group *group, int64_t most)
{
    const struct ggml_tensor *product = group->nodes[0], *slices[2];

    if (!has_product(product, most))
        return false;
    for (int i = 1; i < group->n_nodes; i++) {
        const int n = gb_fuse_slices_of(group, i, slices);

        if (!has_rows_of_slice(group->nodes[i], product))
            return false;
        for (int j = 0; j < n; j++)
            if (gb_fuse_slice_index(slices[j], product) < 0)
                return false;
    }
    return true;
}

/* ---- softmax ---- */

struct gb_fuse_soft_max
gb_fuse_soft_max_of(const struct gb_fuse_group *group)
{
    const int last = group->n_nodes - 1;
    const bool is_scaled = group->nodes[0]->op == GGML_OP_SCALE;
    const int mask = last == is_scaled ? -1 : last - 1;
    struct gb_fuse_soft_max of = {
        .scale = is_scaled ? 0 : -1,
        .mask = mask,
        .soft_max = last,
        .scores = group->nodes[0]->src[0],
    };

    if (mask >= 0 && group->nodes[mask]->op == GGML_OP_ADD)
        of.addend = gb_fuse_operand(
            group->nodes[mask], is_scaled ? group->nodes[0] : of.scores);
    return of;
}

bool
gb_fuse_soft_max_has_rows(const struct gb_fuse_group *group)
{
    const struct gb_fuse_soft_max of = gb_fuse_soft_max_of(group);
    const struct ggml_tensor *last = group->nodes[of.soft_max];

    return are_alike(group) && last->src[1] == NULL &&
           gb_node_has_f32_rows(of.scores) &&
           ggml_are_same_shape(of.scores, last) &&
           (of.addend == NULL || gb_node_has_rows_for(of.addend, last));
}
