/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/unary.c - functions of one tensor, element by element.
 *
 * UNARY SQR SQRT LOG SIN COS SCALE CLAMP LEAKY_RELU, of floating-point types
 * with any strides.
 */
#include "backends/cuda/kernels/args-unary.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/contiguous.h"
#include "backends/cuda/ops/fused.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/shape.h"

/* The function of a UNARY node, or of an operation that is one. */
static enum gb_cuda_function
function_of(const struct ggml_tensor *node)
{
    static const uint8_t unary[GGML_UNARY_OP_COUNT] = {
#define GB_CUDA_UNARY(name, value) \
    [GGML_UNARY_OP_##name] = GB_CUDA_FUNCTION_##name,
#define GB_CUDA_MAP(name, value)
#include "backends/cuda/kernels/unary-functions.def"
#undef GB_CUDA_MAP
#undef GB_CUDA_UNARY
    };
    static const uint8_t map[GGML_OP_COUNT] = {
#define GB_CUDA_UNARY(name, value)
#define GB_CUDA_MAP(name, value) [GGML_OP_##name] = GB_CUDA_FUNCTION_##name,
#include "backends/cuda/kernels/unary-functions.def"
#undef GB_CUDA_MAP
#undef GB_CUDA_UNARY
    };

    return node->op == GGML_OP_UNARY ? unary[gb_node_param_i32(node, 0)]
                                     : map[node->op];
}

static void
unary_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct gb_cuda_unary_args args = {
        .dst = gb_cuda_arg(node),
        .src = gb_cuda_arg(a),
        .n = ggml_nelements(node),
        .function = function_of(node),
        .dst_type = gb_cuda_float_of(node->type),
        .src_type = gb_cuda_float_of(a->type),
        .p0 = gb_node_param_f32(node, 0),
        .p1 = gb_node_param_f32(node, 1),
    };

    if (gb_cuda_is_f32_by_4(node) && gb_cuda_is_f32_by_4(a))
        GB_CUDA_LAUNCH(
            emit, gb_unary_f32, gb_cuda_blocks(args.n / 4, 256), 0, &args);
    else
        GB_CUDA_LAUNCH(
            emit, gb_unary_any, gb_cuda_blocks(args.n, 256), 0, &args);
}

const struct gb_cuda_op gb_cuda_op_unary = {
    .emit = unary_emit,
};

/* ---- times another tensor ---- */

static bool
gate_supports(const struct gb_cuda_limits *limits,
              const struct gb_fuse_group *group)
{
    const struct ggml_tensor *function = group->nodes[0];
    const struct ggml_tensor *product = group->nodes[1];
    const struct ggml_tensor *other =
        gb_fuse_operand(product, function);

    (void)limits;
    return gb_cuda_is_f32_by_4(function) && gb_cuda_is_f32_by_4(product) &&
           gb_cuda_is_f32_by_4(function->src[0]) &&
           gb_cuda_is_f32_by_4(other) &&
           ggml_are_same_shape(function, product) &&
           ggml_are_same_shape(other, product);
}

static void
gate_emit(struct gb_cuda_emit *emit, const struct gb_fuse_group *group)
{
    const struct ggml_tensor *function = group->nodes[0];
    const struct ggml_tensor *product = group->nodes[1];
    char *const halves = gb_cuda_halves_for(emit, product, product->ne[0]);
    const struct gb_cuda_gate_args args = {
        .dst = product->data,
        .inner = gb_fuse_is_written(group, 0) ? function->data : NULL,
        .columns =
            halves != NULL ? halves : gb_cuda_columns_for(emit, product),
        .src = function->src[0]->data,
        .other = gb_fuse_operand(product, function)->data,
        .n = ggml_nelements(product),
        .width = product->ne[0],
        .function = function_of(function),
    };

    if (halves != NULL)
        GB_CUDA_LAUNCH(emit, gb_gate_halves, gb_cuda_blocks(args.n, args.width),
                       0, &args);
    else
        GB_CUDA_LAUNCH(
            emit, gb_gate_f32, gb_cuda_blocks(args.n / 4, 256), 0, &args);
}

const struct gb_cuda_fused gb_cuda_fused_gate = {
    .supports = gate_supports,
    .emit = gate_emit,
};
