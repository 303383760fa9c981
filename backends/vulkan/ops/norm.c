/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/norm.c - rows, or groups of channels, brought to mean 0 and
 * variance 1, or to a mean square of 1.
 */
#include "backends/vulkan/ops/fused.h"
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/rows.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-groupnorm.h"
#include "backends/vulkan/shaders/params-norm.h"

static int
source_count(const struct ggml_tensor *node)
{
    return node->op == GGML_OP_RMS_NORM_BACK ? 2 : 1;
}

static const struct gb_vk_row_pipelines *
pipelines_of(const struct ggml_tensor *node)
{
    static const struct gb_vk_row_pipelines norm = GB_VK_ROW_PIPELINES(norm);
    static const struct gb_vk_row_pipelines rms_norm =
        GB_VK_ROW_PIPELINES(rms_norm);
    static const struct gb_vk_row_pipelines rms_norm_back =
        GB_VK_ROW_PIPELINES(rms_norm_back);

    if (node->op == GGML_OP_NORM)
        return &norm;
    return node->op == GGML_OP_RMS_NORM ? &rms_norm : &rms_norm_back;
}

/* Operands of the pipelines of NORM and RMS_NORM; those behind src0 mean nothing
 * where a flag does not say so. */
enum { DST, SRC0, SRC1, WEIGHTS, BIAS, SUMS, NORMED, SCALED, N_OPERANDS };

static void
emit_norm(struct gb_vk_emit *emit, const struct ggml_tensor *norm,
          const struct gb_vk_bind *binds, struct gb_vk_norm_params *params)
{
    params->n = (uint32_t)norm->ne[0];
    params->n_rows = (uint32_t)ggml_nrows(norm);
    params->eps = gb_node_param_f32(norm, 0);
    emit->add(emit, gb_vk_row_pipeline(pipelines_of(norm), params->n),
              gb_vk_row_groups(params->n, params->n_rows), binds,
              norm->op == GGML_OP_RMS_NORM_BACK ? SRC1 + 1 : N_OPERANDS,
              params, sizeof(*params));
}

static void
norm_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[source_count(node) - 1];
    struct gb_vk_bind binds[N_OPERANDS] = {
        [DST] = gb_vk_write(node), [SRC0] = gb_vk_read(a),
        [SRC1] = gb_vk_read(b),
    };
    struct gb_vk_norm_params params = {
        .ne = GB_VK_ROW_NE(node),
        .dst_nb = GB_VK_ROW_NB(node),
        .src0_nb = GB_VK_ROW_NB(a),
        .src1_nb = GB_VK_ROW_NB(b),
    };

    for (int i = WEIGHTS; i < N_OPERANDS; i++)
        binds[i] = i < SUMS ? gb_vk_read(a) : gb_vk_write(node);
    emit_norm(emit, node, binds, &params);
}

const struct gb_vk_op gb_vk_op_norm = {
    .parts = &gb_vk_parts_of_rows,
    .emit = norm_emit,
};

/* Channels of a group are the channels by the groups, rounded up; groups that
 * would have none are left out. */
static void
group_norm_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const int64_t groups = gb_node_param_i32(node, 0);
    const int64_t per_group = (node->ne[2] + groups - 1) / groups;
    struct gb_vk_group_norm_params params = {
        .ne = GB_VK_NE(node),
        .dst_nb = GB_VK_ROW_NB(node),
        .src_nb = GB_VK_ROW_NB(a),
        .per_group = (uint32_t)per_group,
        .n_groups = (uint32_t)((node->ne[2] + per_group - 1) / per_group),
        .eps = gb_node_param_f32(node, 1),
    };

    GB_VK_DISPATCH(emit, group_norm, params.n_groups * node->ne[3], &params,
                   gb_vk_write(node), gb_vk_read(a));
}

/* A group has channels, of one image. */
static const struct gb_vk_parts group_norm_parts = {
    .dims = { [3] = true },
    .sources = { GB_VK_ALIKE },
};

const struct gb_vk_op gb_vk_op_group_norm = {
    .parts = &group_norm_parts,
    .emit = group_norm_emit,
};

/* ---- with what stands round it ---- */

static bool
fused_norm_supports(
    const struct gb_vk_limits *limits, const struct gb_fuse_group *group)
{
    (void)limits;
    return gb_fuse_norm_has_rows(group) && gb_vk_writes_whole(group);
}

static uint32_t
written(const struct gb_fuse_group *group, int i, uint32_t flag)
{
    return i >= 0 && gb_fuse_is_written(group, i) ? flag : 0;
}

static uint32_t
flags_of(const struct gb_fuse_group *group, const struct gb_fuse_norm *parts)
{
    const int first = parts->get >= 0 ? parts->get : parts->add;
    uint32_t flags = GB_VK_NORM_WEIGHS;

    flags |= parts->add >= 0 ? GB_VK_NORM_ADDS : 0;
    flags |= parts->get >= 0 ? GB_VK_NORM_GETS : 0;
    flags |= parts->bias >= 0 ? GB_VK_NORM_HAS_BIAS : 0;
    flags |= written(group, first, GB_VK_NORM_SUMS);
    flags |= written(group, parts->norm, GB_VK_NORM_NORMED);
    return flags | (parts->bias < 0
                        ? 0 : written(group, parts->mul, GB_VK_NORM_SCALED));
}

/* What the first node has besides src0. */
static void
set_first(const struct gb_fuse_norm *parts, const struct ggml_tensor *first,
          struct gb_vk_bind *bind, struct gb_vk_norm_params *params)
{
    const uint32_t added[] = GB_VK_ROW_NB_REPEATED(first->src[1]);

    *bind = gb_vk_read(first->src[1]);
    if (parts->get < 0) {
        memcpy(params->src1_nb, added, sizeof(added));
        return;
    }
    params->src1_nb[0] = (uint32_t)first->src[1]->nb[0];
    params->src1_nb[1] = (uint32_t)first->src[0]->ne[1];
}

static void
fused_norm_emit(struct gb_vk_emit *emit, const struct gb_fuse_group *group)
{
    const struct gb_fuse_norm parts = gb_fuse_norm_of(group);
    const struct ggml_tensor *first = group->nodes[0];
    const struct ggml_tensor *last = group->nodes[group->n_nodes - 1];
    const struct ggml_tensor *weights = parts.weights;
    const struct ggml_tensor *bias =
        parts.bias < 0 ? weights : parts.bias_values;
    struct gb_vk_bind binds[N_OPERANDS] = {
        [DST] = gb_vk_write(last), [SRC0] = gb_vk_read(first->src[0]),
        [SRC1] = gb_vk_read(first->src[0]), [WEIGHTS] = gb_vk_read(weights),
        [BIAS] = gb_vk_read(bias),
        [SUMS] = gb_vk_write_if(group, 0, last),
        [NORMED] = gb_vk_write_if(group, parts.norm, last),
        [SCALED] = gb_vk_write_if(group, parts.mul, last),
    };
    struct gb_vk_norm_params params = {
        .ne = GB_VK_ROW_NE(last),
        .dst_nb = GB_VK_ROW_NB(last),
        .src0_nb = GB_VK_ROW_NB(first->src[0]),
        .weights_nb = GB_VK_ROW_NB_REPEATED(weights),
        .bias_nb = GB_VK_ROW_NB_REPEATED(bias),
        .flags = flags_of(group, &parts),
    };

    if (parts.get >= 0 || parts.add >= 0)
        set_first(&parts, first, &binds[SRC1], &params);
    emit_norm(emit, group->nodes[parts.norm], binds, &params);
}

const struct gb_vk_fused gb_vk_fused_norm = {
    .supports = fused_norm_supports,
    .emit = fused_norm_emit,
};
