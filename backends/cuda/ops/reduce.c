/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/reduce.c - one number from a row or from everything.
 */
#include "backends/cuda/ops/reduce.h"

#include "backends/cuda/kernels/args-reduce.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/rows.h"
#include "backends/cuda/ops/shape.h"

/* Elements of a part of everything: few enough that a count is exact as a
 * float, and enough that parts are few. */
#define PER_PART 16384

/* Indexed by enum gb_cuda_float. */
static const struct gb_cuda_row_kernels sum_rows_kernels[] = {
    [GB_CUDA_F32] = GB_CUDA_ROW_KERNELS(sum_rows_f32),
    [GB_CUDA_F16] = GB_CUDA_ROW_KERNELS(sum_rows_f16),
    [GB_CUDA_BF16] = GB_CUDA_ROW_KERNELS(sum_rows_bf16),
};
static const enum gb_cuda_kernel sum_parts_kernels[] = {
    [GB_CUDA_F32] = GB_CUDA_KERNEL_gb_sum_parts_f32,
    [GB_CUDA_F16] = GB_CUDA_KERNEL_gb_sum_parts_f16,
    [GB_CUDA_BF16] = GB_CUDA_KERNEL_gb_sum_parts_bf16,
};
static const enum gb_cuda_kernel argmax_kernels[] = {
    [GB_CUDA_F32] = GB_CUDA_KERNEL_gb_argmax_f32,
    [GB_CUDA_F16] = GB_CUDA_KERNEL_gb_argmax_f16,
    [GB_CUDA_BF16] = GB_CUDA_KERNEL_gb_argmax_bf16,
};

void
gb_cuda_join_parts(
    struct gb_cuda_emit *emit, const struct ggml_tensor *dst,
    const float *parts, int64_t n_parts, float divisor)
{
    const struct gb_cuda_sum_rows_args args = {
        .dst = gb_cuda_arg(dst),
        .src0 = {
            .data = (char *)parts,
            .ne = { n_parts, 1, 1, 1 },
            .nb = { sizeof(*parts) },
        },
        .n_rows = 1,
        .divisor = divisor,
        .dst_type = gb_cuda_float_of(dst->type),
    };

    gb_cuda_launch_rows(emit, &sum_rows_kernels[GB_CUDA_F32], n_parts, 1,
                        &args, sizeof(args));
}

/* ---- everything ---- */

static int64_t
part_count(const struct ggml_tensor *node)
{
    return (ggml_nelements(node->src[0]) + PER_PART - 1) / PER_PART;
}

static size_t
parts_scratch(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return (size_t)part_count(node) * sizeof(float);
}

/* Launch KERNEL, which leaves the sum of each part in the scratch. */
static void
emit_parts(struct gb_cuda_emit *emit, const struct ggml_tensor *node,
           enum gb_cuda_kernel kernel, const struct ggml_tensor *second)
{
    const struct gb_cuda_parts_args args = {
        .src0 = gb_cuda_arg(node->src[0]),
        .src1 = gb_cuda_arg(second),
        .parts = (float *)emit->scratch,
        .n = ggml_nelements(node->src[0]),
        .per_part = PER_PART,
        .n_parts = part_count(node),
    };

    emit->add(emit, kernel, gb_cuda_blocks(args.n_parts, 1), 0, &args,
              sizeof(args));
}

static void
sum_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const enum gb_cuda_float type = gb_cuda_float_of(node->src[0]->type);

    emit_parts(emit, node, sum_parts_kernels[type], node->src[0]);
    gb_cuda_join_parts(emit, node, (const float *)emit->scratch,
                       part_count(node), 1.0f);
}

const struct gb_cuda_op gb_cuda_op_sum = {
    .scratch = parts_scratch,
    .emit = sum_emit,
};

static void
count_equal_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const struct gb_cuda_join_counts_args args = {
        .dst = node->data,
        .parts = (const float *)emit->scratch,
        .n_parts = part_count(node),
    };

    emit_parts(emit, node, GB_CUDA_KERNEL_gb_count_parts_i32, node->src[1]);
    GB_CUDA_LAUNCH(emit, gb_join_counts, 1, 0, &args);
}

const struct gb_cuda_op gb_cuda_op_count_equal = {
    .scratch = parts_scratch,
    .emit = count_equal_emit,
};

/* ---- rows ---- */

/* The mean of an empty row is 0 / 0, NaN. */
static void
sum_rows_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct gb_cuda_sum_rows_args args = {
        .dst = gb_cuda_arg(node),
        .src0 = gb_cuda_arg(a),
        .n_rows = ggml_nrows(node),
        .divisor = node->op == GGML_OP_MEAN ? (float)a->ne[0] : 1.0f,
        .dst_type = gb_cuda_float_of(node->type),
    };

    gb_cuda_launch_rows(emit, &sum_rows_kernels[gb_cuda_float_of(a->type)],
                        a->ne[0], args.n_rows, &args, sizeof(args));
}

const struct gb_cuda_op gb_cuda_op_sum_rows = {
    .emit = sum_rows_emit,
};

static void
argmax_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const struct gb_cuda_argmax_args args = {
        .dst = gb_cuda_arg(node),
        .src0 = gb_cuda_arg(node->src[0]),
    };

    emit->add(emit, argmax_kernels[gb_cuda_float_of(node->src[0]->type)],
              gb_cuda_blocks(node->ne[0], 1), 0, &args, sizeof(args));
}

const struct gb_cuda_op gb_cuda_op_argmax = {
    .emit = argmax_emit,
};
