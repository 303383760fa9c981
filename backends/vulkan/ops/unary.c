/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/unary.c - functions of one tensor, element by element.
 *
 * UNARY SQR SQRT LOG SIN COS SCALE CLAMP LEAKY_RELU, of floating-point types
 * with any strides.
 */
#include "backends/vulkan/ops/fused.h"
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-unary.h"
#include "backends/vulkan/shaders/unary-functions.h"

/* The function of a UNARY node, or of an operation that is one. */
static uint32_t
function_of(const struct ggml_tensor *node)
{
    static const uint8_t unary[GGML_UNARY_OP_COUNT] = {
        [GGML_UNARY_OP_ABS] = GB_VK_ABS,
        [GGML_UNARY_OP_SGN] = GB_VK_SGN,
        [GGML_UNARY_OP_NEG] = GB_VK_NEG,
        [GGML_UNARY_OP_STEP] = GB_VK_STEP,
        [GGML_UNARY_OP_TANH] = GB_VK_TANH,
        [GGML_UNARY_OP_ELU] = GB_VK_ELU,
        [GGML_UNARY_OP_RELU] = GB_VK_RELU,
        [GGML_UNARY_OP_SIGMOID] = GB_VK_SIGMOID,
        [GGML_UNARY_OP_GELU] = GB_VK_GELU,
        [GGML_UNARY_OP_GELU_QUICK] = GB_VK_GELU_QUICK,
        [GGML_UNARY_OP_SILU] = GB_VK_SILU,
        [GGML_UNARY_OP_HARDSWISH] = GB_VK_HARDSWISH,
        [GGML_UNARY_OP_HARDSIGMOID] = GB_VK_HARDSIGMOID,
        [GGML_UNARY_OP_EXP] = GB_VK_EXP,
    };
    static const uint8_t own[GGML_OP_COUNT] = {
        [GGML_OP_SQR] = GB_VK_SQR,
        [GGML_OP_SQRT] = GB_VK_SQRT,
        [GGML_OP_LOG] = GB_VK_LOG,
        [GGML_OP_SIN] = GB_VK_SIN,
        [GGML_OP_COS] = GB_VK_COS,
        [GGML_OP_SCALE] = GB_VK_SCALE,
        [GGML_OP_CLAMP] = GB_VK_CLAMP,
        [GGML_OP_LEAKY_RELU] = GB_VK_LEAKY_RELU,
    };

    return node->op == GGML_OP_UNARY ? unary[gb_node_param_i32(node, 0)]
                                     : own[node->op];
}

/* NODE's function into TO, times GATED if that is not NULL.  Frequent ones have
 * pipelines of their own, without what decides. */
static enum gb_vk_pipeline
pipeline_of(const struct ggml_tensor *node, const struct ggml_tensor *to,
            const struct ggml_tensor *gated)
{
    const uint32_t function = function_of(node);

    if (!gb_node_is_flat(to) || !gb_node_is_flat(node->src[0]) ||
        (gated != NULL &&
         (!gb_node_is_flat(gated) || !ggml_are_same_shape(gated, to))))
        return GB_VK_unary;
    return function == GB_VK_GELU   ? GB_VK_unary_gelu
           : function == GB_VK_SILU ? GB_VK_unary_silu
                                    : GB_VK_unary;
}

/* The function of NODE, into TO. */
static struct gb_vk_unary_params
params_of(const struct ggml_tensor *node, const struct ggml_tensor *to)
{
    const struct ggml_tensor *a = node->src[0];

    return (struct gb_vk_unary_params){
        .ne = GB_VK_NE(to),
        .dst_nb = GB_VK_NB(to),
        .src_nb = GB_VK_NB(a),
        .n = (uint32_t)ggml_nelements(to),
        .function = function_of(node),
        .dst_type = gb_vk_float_of(to->type),
        .src_type = gb_vk_float_of(a->type),
        .p0 = gb_node_param_f32(node, 0),
        .p1 = gb_node_param_f32(node, 1),
    };
}

static void
unary_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    struct gb_vk_unary_params params = params_of(node, node);

    GB_VK_DISPATCH_ONE_OF(emit, pipeline_of(node, node, NULL),
                          gb_vk_groups(params.n, 256), &params,
                          gb_vk_write(node), gb_vk_read(node->src[0]),
                          gb_vk_read(node->src[0]), gb_vk_write(node));
}

const struct gb_vk_op gb_vk_op_unary = {
    .parts = &gb_vk_parts_of_elements,
    .emit = unary_emit,
};

/* ---- with what it gates ---- */

static bool
gate_supports(
    const struct gb_vk_limits *limits, const struct gb_fuse_group *group)
{
    const struct ggml_tensor *inner = group->nodes[0], *last = group->nodes[1];
    const struct ggml_tensor *gated = gb_fuse_operand(last, inner);

    (void)limits;
    return inner->type == GGML_TYPE_F32 && ggml_are_same_shape(inner, last) &&
           gb_node_is_float(last->type) && gb_node_is_float(gated->type) &&
           gb_node_repeats_for(gated, last) &&
           (!gb_fuse_is_written(group, 0) || ggml_is_contiguous(inner));
}

static void
gate_emit(struct gb_vk_emit *emit, const struct gb_fuse_group *group)
{
    const struct ggml_tensor *inner = group->nodes[0], *last = group->nodes[1];
    const struct ggml_tensor *gated = gb_fuse_operand(last, inner);
    const uint32_t gated_nb[] = GB_VK_NB_REPEATED(gated);
    struct gb_vk_unary_params params = params_of(inner, last);

    memcpy(params.gated_nb, gated_nb, sizeof(gated_nb));
    params.gated_type = gb_vk_float_of(gated->type);
    params.flags = GB_VK_UNARY_GATES;
    if (gb_fuse_is_written(group, 0))
        params.flags |= GB_VK_UNARY_HAS_INNER;
    GB_VK_DISPATCH_ONE_OF(emit, pipeline_of(inner, last, gated),
                          gb_vk_groups(params.n, 256), &params,
                          gb_vk_write(last), gb_vk_read(inner->src[0]),
                          gb_vk_read(gated), gb_vk_write_if(group, 0, last));
}

const struct gb_vk_fused gb_vk_fused_gate = {
    .supports = gate_supports,
    .emit = gate_emit,
};
