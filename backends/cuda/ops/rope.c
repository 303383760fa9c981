/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/rope.c - rotary position embedding and its gradient.
 *
 * Parameters of a node: 1 n_dims, the elements that are rotated, with vision
 * half of them; 2 mode; 4 the context that the model was trained with; 5 base
 * and 6 scale of the frequencies; 7 ext_factor, 8 attn_factor, 9 and 10 beta of
 * YaRN; 11 to 14 sections.
 */
#include "backends/cuda/ops/rope.h"

#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/shape.h"

#include <math.h>
#include <string.h>

static int
mode_of(const struct ggml_tensor *node)
{
    return gb_cuda_param_i32(node, 2);
}

static bool
is_vision(const struct ggml_tensor *node)
{
    return mode_of(node) == GGML_ROPE_TYPE_VISION;
}

/* Has each token four positions, and each pair a section that says which? */
static bool
has_streams(const struct ggml_tensor *node)
{
    return (mode_of(node) & GGML_ROPE_TYPE_MROPE) != 0;
}

static bool
is_split(const struct ggml_tensor *node)
{
    return (mode_of(node) & GGML_ROPE_TYPE_NEOX) != 0 || has_streams(node);
}

static int64_t
pair_count(const struct ggml_tensor *node)
{
    const int n_dims = gb_cuda_param_i32(node, 1);

    return is_vision(node) ? n_dims : n_dims / 2;
}

static int64_t
section_of(const struct ggml_tensor *node, int stream)
{
    return gb_cuda_param_i32(node, 11 + stream);
}

/* No section is negative, all together are no more than a row, and one of the
 * first three has a pair. */
static bool
are_sections_good(const struct ggml_tensor *node)
{
    int64_t sum = 0;

    for (int i = 0; i < GB_CUDA_ROPE_STREAMS; i++) {
        if (section_of(node, i) < 0)
            return false;
        sum += section_of(node, i);
    }
    return sum <= node->ne[0] &&
           sum > section_of(node, GB_CUDA_ROPE_STREAMS - 1);
}

static bool
are_dims_good(const struct ggml_tensor *node)
{
    const int64_t n_dims = gb_cuda_param_i32(node, 1);

    if (n_dims < 0 || n_dims % 2 != 0 || n_dims > node->ne[0])
        return false;
    if (is_vision(node) && 2 * n_dims != node->ne[0])
        return false;
    return !has_streams(node) || are_sections_good(node);
}

static bool
are_positions_good(const struct ggml_tensor *node)
{
    const struct ggml_tensor *positions = node->src[1];
    const int64_t streams = has_streams(node) ? GB_CUDA_ROPE_STREAMS : 1;

    return positions->type == GGML_TYPE_I32 && ggml_is_vector(positions) &&
           positions->ne[0] / streams >= node->ne[2];
}

static bool
are_factors_good(const struct ggml_tensor *node)
{
    const struct ggml_tensor *factors = node->src[2];

    return factors == NULL ||
           (factors->type == GGML_TYPE_F32 &&
            factors->ne[0] >= pair_count(node) &&
            (pair_count(node) == 0 || !ggml_is_empty(factors)));
}

static bool
rope_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return gb_cuda_has_sources(node, 2) &&
           gb_cuda_is_float(node->src[0]->type) &&
           gb_cuda_is_float(node->type) &&
           ggml_are_same_shape(node->src[0], node) && are_dims_good(node) &&
           are_positions_good(node) && are_factors_good(node);
}

/* The frequencies of pairs 1, 2, 4 .. as far as there are pairs, and how YaRN
 * changes them. */
static void
set_frequencies(
    struct gb_cuda_rope_args *args, const struct ggml_tensor *node)
{
    const int n_dims = gb_cuda_param_i32(node, 1);
    const float base = gb_cuda_param_f32(node, 5);
    const float sign = node->op == GGML_OP_ROPE ? 1.0f : -1.0f;
    double power = pow(base, -2.0 / n_dims);
    float factor = gb_cuda_param_f32(node, 8);

    for (int i = 0; i < GB_CUDA_ROPE_BITS && args->n_pairs >> i != 0; i++) {
        args->powers[i] = power;
        power *= power;
    }
    args->freq_scale = gb_cuda_param_f32(node, 6);
    args->ext_factor = gb_cuda_param_f32(node, 7);
    if (args->ext_factor != 0.0f) {
        ggml_rope_yarn_corr_dims(
            n_dims, gb_cuda_param_i32(node, 4), base,
            gb_cuda_param_f32(node, 9), gb_cuda_param_f32(node, 10),
            args->corr);
        factor *= 1.0f + 0.1f * logf(1.0f / args->freq_scale);
    }
    args->cos_factor = factor;
    args->sin_factor = sign * factor;
}

static void
set_sections(struct gb_cuda_rope_args *args, const struct ggml_tensor *node)
{
    for (int i = 0; has_streams(node) && i < GB_CUDA_ROPE_STREAMS; i++) {
        args->section[i] = section_of(node, i);
        args->n_section += args->section[i];
    }
}

/* Threads of a card, about: four blocks of 256 threads of each multiprocessor
 * hide the latency of memory. */
#define THREADS_PER_SM 1024

/* As few heads a thread as leave no more threads than the card has places for. */
void
gb_cuda_rope_set_items(
    struct gb_cuda_rope_args *args, const struct gb_cuda_limits *limits)
{
    const int64_t *ne = args->src0.ne;
    const int64_t behind = ne[0] - 2 * args->n_pairs;
    const int64_t n_threads = (int64_t)limits->n_sms * THREADS_PER_SM;
    int64_t columns;
    int64_t heads;

    args->n_slots = args->n_pairs + (behind + 1) / 2;
    columns = args->n_slots * ne[2] * ne[3];
    heads = (columns * ne[1] + n_threads - 1) / n_threads;
    heads = heads > ne[1] ? ne[1] : heads;
    args->per_thread = heads > 0 ? heads : 1;
    args->n_parts = (ne[1] + args->per_thread - 1) / args->per_thread;
    args->n_items = columns * args->n_parts;
}

static enum gb_cuda_kernel
kernel_for(const struct ggml_tensor *node)
{
    if (node->type != node->src[0]->type)
        return GB_CUDA_KERNEL_gb_rope_mixed;
    if (node->type == GGML_TYPE_F32)
        return GB_CUDA_KERNEL_gb_rope_f32;
    return node->type == GGML_TYPE_F16 ? GB_CUDA_KERNEL_gb_rope_f16
                                       : GB_CUDA_KERNEL_gb_rope_bf16;
}

void
gb_cuda_rope_set_args(
    struct gb_cuda_rope_args *args, const struct gb_cuda_limits *limits,
    const struct ggml_tensor *node)
{
    const struct ggml_tensor *factors = node->src[2];

    args->dst = gb_cuda_arg(node);
    args->src0 = gb_cuda_arg(node->src[0]);
    args->dst_type = gb_cuda_float_of(node->type);
    args->src_type = gb_cuda_float_of(node->src[0]->type);
    args->positions = node->src[1]->data;
    args->position_stride = (int64_t)node->src[1]->nb[0];
    if (factors != NULL) {
        args->factors = factors->data;
        args->factor_stride = (int64_t)factors->nb[0];
    }
    args->n_pairs = pair_count(node);
    args->is_split = is_split(node);
    args->is_vision = is_vision(node);
    set_sections(args, node);
    set_frequencies(args, node);
    gb_cuda_rope_set_items(args, limits);
}

static void
rope_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    struct gb_cuda_rope_args args;

    memset(&args, 0, sizeof(args));
    gb_cuda_rope_set_args(&args, emit->limits, node);
    emit->add(emit, kernel_for(node), gb_cuda_blocks(args.n_items, 256), 0,
              &args, sizeof(args));
}

const struct gb_cuda_op gb_cuda_op_rope = {
    .supports = rope_supports,
    .emit = rope_emit,
};
