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
    params->scale = gb_node_param_f32(node, 0);
    params->max_bias = gb_node_param_f32(node, 1);
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
    return dim != 2 || gb_node_param_f32(node, 1) == 0.0f;
}

/* All matrices have the same mask. */
static const struct gb_vk_parts soft_max_parts = {
    .dims = { [1] = true, [2] = true, [3] = true },
    .sources = { GB_VK_ALIKE, { [1] = 2 } },
    .may = soft_max_may,
};

const struct gb_vk_op gb_vk_op_soft_max = {
    .parts = &soft_max_parts,
    .emit = soft_max_emit,
};

/* ---- with what stands before it ---- */

static bool
fused_soft_max_supports(
    const struct gb_vk_limits *limits, const struct gb_fuse_group *group)
{
    (void)limits;
    return gb_fuse_soft_max_has_rows(group) && gb_vk_writes_whole(group);
}

/* What comes before NODE, in PARAMS and BINDS. */
static void
set_before(const struct gb_fuse_group *group,
           const struct gb_fuse_soft_max *parts, struct gb_vk_bind *binds,
           struct gb_vk_softmax_params *params)
{
    const struct ggml_tensor *node = group->nodes[parts->soft_max];

    if (parts->scale >= 0) {
        params->factor = gb_node_param_f32(group->nodes[parts->scale], 0);
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
    const struct gb_fuse_soft_max parts = gb_fuse_soft_max_of(group);
    const struct ggml_tensor *node = group->nodes[parts.soft_max];
    const struct ggml_tensor *scores = parts.scores, *addend = parts.addend;
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
            (uint32_t)gb_node_param_i32(group->nodes[parts.mask], 0);
        params.flags |= GB_VK_SOFT_MAX_DIAGONAL;
    }
    emit_soft_max(emit, node, binds, &params);
}

const struct gb_vk_fused gb_vk_fused_soft_max = {
    .supports = fused_soft_max_supports,
    .emit = fused_soft_max_emit,
};

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
        .scale = gb_node_param_f32(node, 0),
    };

    GB_VK_DISPATCH_ONE_OF(
        emit, gb_vk_row_pipeline(&pipelines, params.n),
        gb_vk_row_groups(params.n, params.n_rows), &params,
        gb_vk_write(node), gb_vk_read(dy), gb_vk_read(y));
}

const struct gb_vk_op gb_vk_op_soft_max_back = {
    .parts = &gb_vk_parts_of_rows,
    .emit = soft_max_back_emit,
};
