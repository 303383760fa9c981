/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/softmax.c - softmax of rows, with a scale and a mask, and its
 * gradient.
 */
#include "backends/vulkan/ops/fused.h"
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/rows.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-softmax.h"
#include "backends/vulkan/shaders/params-softmaxback.h"

/* The mask has a row for each row of a matrix, and perhaps more. */
static bool
is_mask_for(const struct ggml_tensor *mask, const struct ggml_tensor *a)
{
    return (mask->type == GGML_TYPE_F32 || mask->type == GGML_TYPE_F16) &&
           gb_vk_is_dense(mask) && mask->ne[0] == a->ne[0] &&
           mask->ne[1] >= a->ne[1] && mask->ne[2] > 0 && mask->ne[3] > 0;
}

static bool
soft_max_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *mask = node->src[1];

    (void)limits;
    return a != NULL && gb_vk_has_f32_rows(a) && gb_vk_has_f32_rows(node) &&
           ggml_are_same_shape(a, node) &&
           (mask == NULL || is_mask_for(mask, a));
}

static uint32_t
power_of_2_up_to(int64_t n)
{
    int64_t power = 1;

    while (power <= n / 2)
        power *= 2;
    return (uint32_t)power;
}

/* Operands of the pipelines. */
enum { DST, SRC, MASK, SCALED, MASKED, N_OPERANDS };

/* NODE by PARAMS, which have what is not of NODE or its shape alone. */
static void
emit_soft_max(struct gb_vk_emit *emit, const struct ggml_tensor *node,
              const struct gb_vk_bind *binds,
              struct gb_vk_softmax_params *params)
{
    static const struct gb_vk_row_pipelines pipelines =
        GB_VK_ROW_PIPELINES(soft_max);

    params->n = (uint32_t)node->ne[0];
    params->n_rows = (uint32_t)ggml_nrows(node);
    params->power = power_of_2_up_to(node->ne[2]);
    params->scale = gb_vk_param_f32(node, 0);
    params->max_bias = gb_vk_param_f32(node, 1);
    emit->add(emit, gb_vk_row_pipeline(&pipelines, params->n),
              gb_vk_row_groups(params->n, params->n_rows), binds, N_OPERANDS,
              params, sizeof(*params));
}

static void
soft_max_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *mask = node->src[1];
    struct gb_vk_softmax_params params = {
        .ne = GB_VK_ROW_NE(node),
        .dst_nb = GB_VK_ROW_NB(node),
        .src_nb = GB_VK_ROW_NB(a),
        /* The same rows for all matrices. */
        .mask_nb = { mask == NULL ? 0 : (uint32_t)mask->nb[1] },
        .mask_type = mask == NULL ? GB_VK_F32 : gb_vk_float_of(mask->type),
        .flags = mask == NULL ? 0 : GB_VK_SOFT_MAX_HAS_MASK,
    };
    const struct gb_vk_bind binds[N_OPERANDS] = {
        [DST] = gb_vk_write(node), [SRC] = gb_vk_read(a),
        [MASK] = gb_vk_read(mask == NULL ? a : mask),
        [SCALED] = gb_vk_write(node), [MASKED] = gb_vk_write(node),
    };

    emit_soft_max(emit, node, binds, &params);
}

/* A head's slope depends on how many there are. */
static bool
soft_max_may(const struct ggml_tensor *node, int dim)
{
    return dim != 2 || gb_vk_param_f32(node, 1) == 0.0f;
}

/* All matrices have the same mask. */
static const struct gb_vk_parts soft_max_parts = {
    .dims = { [1] = true, [2] = true, [3] = true },
    .sources = { GB_VK_ALIKE, { [1] = 2 } },
    .may = soft_max_may,
};

const struct gb_vk_op gb_vk_op_soft_max = {
    .supports = soft_max_supports,
    .parts = &soft_max_parts,
    .emit = soft_max_emit,
};

/* ---- with what stands before it ---- */

/* Where the nodes of a group are; -1: it is not there. */
struct parts {
    int scale, mask, soft_max;
};

static struct parts
parts_of(const struct gb_fuse_group *group)
{
    const int soft_max = group->n_nodes - 1;
    const bool is_scaled = group->nodes[0]->op == GGML_OP_SCALE;

    return (struct parts){
        .scale = is_scaled ? 0 : -1,
        .mask = soft_max == is_scaled ? -1 : soft_max - 1,
        .soft_max = soft_max,
    };
}

/* What the group makes scores of: an addition may have it on either side, but
 * then the other one is repeated for it. */
static const struct ggml_tensor *
scores_of(const struct gb_fuse_group *group)
{
    return group->nodes[0]->src[0];
}

/* What is added to them; NULL: nothing. */
static const struct ggml_tensor *
addend_of(const struct gb_fuse_group *group)
{
    const struct parts parts = parts_of(group);

    if (parts.mask < 0 || group->nodes[parts.mask]->op != GGML_OP_ADD)
        return NULL;
    return gb_vk_other_operand(
        group->nodes[parts.mask],
        parts.scale < 0 ? scores_of(group) : group->nodes[parts.scale]);
}

static bool
fused_soft_max_supports(
    const struct gb_vk_limits *limits, const struct gb_fuse_group *group)
{
    const struct ggml_tensor *node = group->nodes[group->n_nodes - 1];
    const struct ggml_tensor *addend = addend_of(group);

    (void)limits;
    return gb_vk_has_alike_rows(group) && node->src[1] == NULL &&
           gb_vk_has_f32_rows(scores_of(group)) &&
           ggml_are_same_shape(scores_of(group), node) &&
           (addend == NULL || gb_vk_has_rows_for(addend, node));
}

/* What comes before NODE, in PARAMS and BINDS. */
static void
set_before(const struct gb_fuse_group *group, const struct parts *parts,
           struct gb_vk_bind *binds, struct gb_vk_softmax_params *params)
{
    const struct ggml_tensor *node = group->nodes[parts->soft_max];

    if (parts->scale >= 0) {
        params->factor = gb_vk_param_f32(group->nodes[parts->scale], 0);
        params->flags |= GB_VK_SOFT_MAX_FACTOR;
        binds[SCALED] = gb_vk_write_if(group, parts->scale, node);
        if (gb_fuse_is_written(group, parts->scale))
            params->flags |= GB_VK_SOFT_MAX_SCALED;
    }
    if (parts->mask < 0)
        return;
    binds[MASKED] = gb_vk_write_if(group, parts->mask, node);
    if (gb_fuse_is_written(group, parts->mask))
        params->flags |= GB_VK_SOFT_MAX_MASKED;
}

static void
fused_soft_max_emit(struct gb_vk_emit *emit, const struct gb_fuse_group *group)
{
    const struct parts parts = parts_of(group);
    const struct ggml_tensor *node = group->nodes[parts.soft_max];
    const struct ggml_tensor *scores = scores_of(group);
    const struct ggml_tensor *addend = addend_of(group);
    struct gb_vk_softmax_params params = {
        .ne = GB_VK_ROW_NE(node),
        .dst_nb = GB_VK_ROW_NB(node),
        .src_nb = GB_VK_ROW_NB(scores),
        .value = 0xff800000u,
    };
    struct gb_vk_bind binds[N_OPERANDS] = {
        [DST] = gb_vk_write(node), [SRC] = gb_vk_read(scores),
        [MASK] = gb_vk_read(addend == NULL ? scores : addend),
        [SCALED] = gb_vk_write(node), [MASKED] = gb_vk_write(node),
    };

    set_before(group, &parts, binds, &params);
    if (addend != NULL) {
        const uint32_t nb[] = GB_VK_ROW_NB_REPEATED(addend);

        memcpy(params.mask_nb, nb, sizeof(nb));
        params.flags |= GB_VK_SOFT_MAX_ADDS;
    } else if (parts.mask >= 0) {
        params.n_past =
            (uint32_t)gb_vk_param_i32(group->nodes[parts.mask], 0);
        params.flags |= GB_VK_SOFT_MAX_DIAGONAL;
    }
    emit_soft_max(emit, node, binds, &params);
}

const struct gb_vk_fused gb_vk_fused_soft_max = {
    .supports = fused_soft_max_supports,
    .emit = fused_soft_max_emit,
};

/* The gradient is that of a softmax without slopes. */
static bool
soft_max_back_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    if (!gb_vk_has_sources(node, 2) || !gb_vk_has_f32_rows(node))
        return false;
    for (int i = 0; i < 2; i++)
        if (!gb_vk_has_f32_rows(node->src[i]) ||
            !ggml_are_same_shape(node->src[i], node))
            return false;
    return gb_vk_param_f32(node, 1) == 0.0f;
}

static void
soft_max_back_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    static const struct gb_vk_row_pipelines pipelines =
        GB_VK_ROW_PIPELINES(soft_max_back);
    const struct ggml_tensor *dy = node->src[0];
    const struct ggml_tensor *y = node->src[1];
    struct gb_vk_softmax_back_params params = {
        .ne = GB_VK_ROW_NE(node),
        .dst_nb = GB_VK_ROW_NB(node),
        .dy_nb = GB_VK_ROW_NB(dy),
        .y_nb = GB_VK_ROW_NB(y),
        .n = (uint32_t)node->ne[0],
        .n_rows = (uint32_t)ggml_nrows(node),
        .scale = gb_vk_param_f32(node, 0),
    };

    GB_VK_DISPATCH_ONE_OF(
        emit, gb_vk_row_pipeline(&pipelines, params.n),
        gb_vk_row_groups(params.n, params.n_rows), &params,
        gb_vk_write(node), gb_vk_read(dy), gb_vk_read(y));
}

const struct gb_vk_op gb_vk_op_soft_max_back = {
    .supports = soft_max_back_supports,
    .parts = &gb_vk_parts_of_rows,
    .emit = soft_max_back_emit,
};
