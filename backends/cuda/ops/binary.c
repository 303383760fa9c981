/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/binary.c - operations on two tensors, element by element, the second
 * one repeated.
 *
 * ADD ADD1 SUB MUL DIV SILU_BACK, of floating-point types with any strides;
 * src0 and dst may be in blocks, and then pass through floats in scratch.
 */
#include "backends/cuda/kernels/args-binary.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/contiguous.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/quantize.h"
#include "backends/cuda/ops/shape.h"

/* T's shape as contiguous floats at DATA. */
static struct ggml_tensor
as_floats(const struct ggml_tensor *t, void *data)
{
    struct ggml_tensor floats = *t;

    floats.type = GGML_TYPE_F32;
    floats.data = data;
    floats.nb[0] = sizeof(float);
    for (int d = 1; d < GGML_MAX_DIMS; d++)
        floats.nb[d] = floats.nb[d - 1] * (size_t)t->ne[d - 1];
    return floats;
}

static bool
can_read(const struct ggml_tensor *t)
{
    const struct ggml_tensor floats = as_floats(t, NULL);

    return gb_node_is_float(t->type) ||
           gb_cuda_can_convert_blocks(&floats, t);
}

static bool
can_write(const struct ggml_tensor *t)
{
    const struct ggml_tensor floats = as_floats(t, NULL);

    return gb_node_is_float(t->type) ||
           gb_cuda_can_convert_blocks(t, &floats);
}

static bool
binary_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return can_write(node) && can_read(node->src[0]);
}

/* Floats for src0, which dst's replace. */
static size_t
binary_scratch(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    if (gb_node_is_float(node->type) && gb_node_is_float(node->src[0]->type))
        return 0;
    return (size_t)ggml_nelements(node) * sizeof(float);
}

static enum gb_cuda_binary
binary_of(enum ggml_op op)
{
    switch ((int)op) {
    case GGML_OP_SUB:
        return GB_CUDA_SUB;
    case GGML_OP_MUL:
        return GB_CUDA_MUL;
    case GGML_OP_DIV:
        return GB_CUDA_DIV;
    case GGML_OP_SILU_BACK:
        return GB_CUDA_SILU_BACK;
    default:
        return GB_CUDA_ADD;
    }
}

/* Is B, if it is repeated at all, repeated as a whole: is it A without some of
 * the upper dimensions? */
static bool
repeats_as_a_whole(const struct ggml_tensor *b, const struct ggml_tensor *a)
{
    int same = 0;

    while (same < GGML_MAX_DIMS && a->ne[same] == b->ne[same])
        same++;
    for (int i = same; i < GGML_MAX_DIMS; i++)
        if (b->ne[i] != 1)
            return false;
    return true;
}

/* dst = a OP b, all of floating-point types. */
static void
emit_floats(struct gb_cuda_emit *emit, enum ggml_op op,
            const struct ggml_tensor *dst, const struct ggml_tensor *a,
            const struct ggml_tensor *b)
{
    const struct gb_cuda_binary_args args = {
        .dst = gb_cuda_arg(dst),
        .src0 = gb_cuda_arg(a),
        .src1 = gb_cuda_arg(b),
        .n = ggml_nelements(dst),
        .n_src1 = ggml_nelements(b),
        .op = binary_of(op),
        .dst_type = gb_cuda_float_of(dst->type),
        .src0_type = gb_cuda_float_of(a->type),
        .src1_type = gb_cuda_float_of(b->type),
    };

    if (gb_cuda_is_f32_by_4(dst) && gb_cuda_is_f32_by_4(a) &&
        gb_cuda_is_f32_by_4(b) && repeats_as_a_whole(b, a))
        GB_CUDA_LAUNCH(emit, gb_binary_f32, gb_cuda_blocks(args.n / 4, 256), 0,
                       &args);
    else
        GB_CUDA_LAUNCH(
            emit, gb_binary_any, gb_cuda_blocks(args.n, 256), 0, &args);
}

static void
binary_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor floats = as_floats(node, emit->scratch);
    const bool is_read = !gb_node_is_float(node->src[0]->type);
    const bool is_written = !gb_node_is_float(node->type);

    if (is_read)
        gb_cuda_emit_convert_blocks(emit, &floats, node->src[0]);
    emit_floats(emit, node->op, is_written ? &floats : node,
                is_read ? &floats : node->src[0], node->src[1]);
    if (is_written)
        gb_cuda_emit_convert_blocks(emit, node, &floats);
}

const struct gb_cuda_op gb_cuda_op_binary = {
    .supports = binary_supports,
    .scratch = binary_scratch,
    .emit = binary_emit,
};
