/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/rope.c - rotary position embedding and its gradient.
 */
#include "backends/cuda/ops/rope.h"

#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/shape.h"

#include "lib/node/rope.h"

#include <string.h>

static void
set_pairs(struct gb_cuda_rope_args *args, const struct gb_node_rope *rope)
{
    args->n_pairs = rope->n_pairs;
    args->is_split = rope->is_split;
    args->is_vision = rope->is_vision;
    for (int i = 0; i < GB_NODE_ROPE_STREAMS; i++) {
        args->section[i] = rope->sections[i];
        args->n_section += rope->sections[i];
    }
}

/* The frequencies of pairs 1, 2, 4 .. as far as there are pairs, and how YaRN
 * changes them; a gradient is rotated back by SIGN. */
static void
set_frequencies(struct gb_cuda_rope_args *args,
                const struct gb_node_frequencies *of, float sign)
{
    double power = of->power;

    for (int i = 0; i < GB_CUDA_ROPE_BITS && args->n_pairs >> i != 0; i++) {
        args->powers[i] = power;
        power *= power;
    }
    args->freq_scale = of->scale;
    args->ext_factor = of->ext_factor;
    args->corr[0] = of->corr[0];
    args->corr[1] = of->corr[1];
    args->cos_factor = of->factor;
    args->sin_factor = sign * of->factor;
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
    const struct gb_node_rope rope = gb_node_rope_of(node);
    const struct gb_node_frequencies of = gb_node_frequencies_of(node);
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
    set_pairs(args, &rope);
    set_frequencies(args, &of, node->op == GGML_OP_ROPE ? 1.0f : -1.0f);
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
    .emit = rope_emit,
};
