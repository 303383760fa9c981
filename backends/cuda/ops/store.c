/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/store.c - rotations, copies, and copies of rotations, as they fill a
 * KV cache, by one launch.
 *
 * Parts of a group have nothing to do with each other.  Each is a rotation for
 * the kernel: a copy by itself is one of no pair, which takes elements as they
 * are.
 */
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/fused.h"
#include "backends/cuda/ops/rope.h"
#include "backends/cuda/ops/shape.h"

#include <string.h>

#define THREADS 256

_Static_assert(GB_CUDA_MAX_STORES >= GB_FUSE_MAX_PARTS,
               "a launch makes the stores of a group");

/* By type of a copy's result; 0, which is F32, where there is none. */
static const int stores[GGML_TYPE_COUNT] = {
#define GB_CUDA_PACKED(TYPE, name, n) \
    [GGML_TYPE_##TYPE] = GB_CUDA_STORE_##TYPE,
#define GB_CUDA_PACKED_BY_TEAM(TYPE, name, n)
#include "backends/cuda/kernels/packed.def"
#undef GB_CUDA_PACKED_BY_TEAM
#undef GB_CUDA_PACKED
};

/* A rotation, a copy of it, or either by itself; the other is NULL then. */
struct part {
    const struct ggml_tensor *rope, *copy;
    int rope_at; /* the rotation's member of the group */
};

static struct part
part_of(const struct gb_fuse_group *group, int number)
{
    struct part part = { .rope = NULL };

    for (int i = 0; i < group->n_nodes; i++) {
        if (group->part[i] != number)
            continue;
        if (group->nodes[i]->op == GGML_OP_CPY) {
            part.copy = group->nodes[i];
        } else {
            part.rope = group->nodes[i];
            part.rope_at = i;
        }
    }
    return part;
}

static bool
is_into_blocks(const struct part *part)
{
    return part->copy != NULL && stores[part->copy->type] != 0;
}

/* ---- what the kernel can do ---- */

static bool
can_store_rope(const struct part *part)
{
    const struct ggml_tensor *rope = part->rope, *copy = part->copy;

    if (copy->src[0] != rope || rope->type != GGML_TYPE_F32 ||
        rope->src[0]->type != GGML_TYPE_F32 || !ggml_is_contiguous(rope) ||
        !ggml_is_contiguous(copy))
        return false;
    return !is_into_blocks(part) ||
           (rope->ne[0] % 32 == 0 && rope->ne[0] <= GB_CUDA_ROPE_TILE);
}

/* A copy onto itself needs no launch. */
static bool
can_store(const struct part *part)
{
    const struct ggml_tensor *copy = part->copy, *a = copy->src[0];

    if (a->type != GGML_TYPE_F32 || a->data == copy->data)
        return false;
    if (is_into_blocks(part))
        return ggml_is_contiguous(copy) &&
               (ggml_is_contiguous(a) || (a->ne[0] % 32 == 0 && a->ne[3] == 1));
    return ggml_are_same_shape(a, copy) || ggml_is_contiguous(copy) ||
           ggml_is_contiguous(a);
}

static bool
can_do(const struct part *part)
{
    const struct ggml_tensor *last =
        part->copy != NULL ? part->copy : part->rope;

    /* Thread blocks of all parts are counted by 31 bits. */
    if (ggml_nelements(last) > INT32_MAX / GB_CUDA_MAX_STORES)
        return false;
    if (part->copy == NULL)
        return true;
    if (!gb_node_is_float(part->copy->type) && !is_into_blocks(part))
        return false;
    return part->rope != NULL ? can_store_rope(part) : can_store(part);
}

static bool
stores_support(const struct gb_cuda_limits *limits,
               const struct gb_fuse_group *group)
{
    (void)limits;
    for (int i = 0; i < group->n_parts; i++) {
        const struct part part = part_of(group, i);

        if (!can_do(&part))
            return false;
    }
    return true;
}

/* ---- parts as rotations ---- */

/* T dense, with counts NE, its first stride being SIZE. */
static struct gb_cuda_tensor
dense(const struct ggml_tensor *t, const int64_t *ne, size_t size)
{
    struct gb_cuda_tensor arg = { .data = t->data, .nb = { (int64_t)size } };

    memcpy(arg.ne, ne, sizeof(arg.ne));
    for (int i = 1; i < GGML_MAX_DIMS; i++)
        arg.nb[i] = arg.nb[i - 1] * ne[i - 1];
    return arg;
}

/* The source of a copy into blocks as rows of 32 values. */
static struct gb_cuda_tensor
in_rows_of_32(const struct ggml_tensor *a)
{
    const int64_t ne[] = { 32, ggml_nelements(a) / 32, 1, 1 };
    struct gb_cuda_tensor arg = gb_cuda_arg(a);

    if (ggml_is_contiguous(a))
        return dense(a, ne, sizeof(float));
    return (struct gb_cuda_tensor){
        arg.data,
        { 32, arg.ne[0] / 32, arg.ne[1], arg.ne[2] },
        { arg.nb[0], 32 * arg.nb[0], arg.nb[1], arg.nb[2] },
    };
}

/* Elements of both in the same places. */
static void
set_operands(struct gb_cuda_rope_args *args, const struct ggml_tensor *copy)
{
    const struct ggml_tensor *a = copy->src[0];
    const size_t size = ggml_type_size(copy->type);

    if (stores[copy->type] != 0)
        args->src0 = in_rows_of_32(a);
    else if (ggml_is_contiguous(a) && !ggml_is_contiguous(copy))
        args->src0 = dense(a, copy->ne, sizeof(float));
    else
        args->src0 = gb_cuda_arg(a);
    args->dst = ggml_is_contiguous(copy) ? dense(copy, args->src0.ne, size)
                                         : gb_cuda_arg(copy);
}

/* What becomes of the rotation or of elements as they are, in ARGS. */
static void
set_store(struct gb_cuda_rope_args *args, const struct gb_fuse_group *group,
          const struct part *part)
{
    if (part->rope != NULL) {
        args->dst = dense(part->copy, part->rope->ne,
                          ggml_type_size(part->copy->type));
        args->also = gb_cuda_arg_if_written(group, part->rope_at);
    }
    if (!is_into_blocks(part)) {
        args->dst_type = gb_cuda_float_of(part->copy->type);
        return;
    }
    args->dst_type = stores[part->copy->type];
    args->n_items = args->src0.ne[1] * args->src0.ne[2] * args->src0.ne[3];
}

/* ARGS are all zero. */
static void
set_part(struct gb_cuda_rope_args *args, const struct gb_cuda_limits *limits,
         const struct gb_fuse_group *group, const struct part *part)
{
    if (part->rope != NULL) {
        gb_cuda_rope_set_args(args, limits, part->rope);
    } else {
        set_operands(args, part->copy);
        gb_cuda_rope_set_items(args, limits);
    }
    if (part->copy != NULL)
        set_store(args, group, part);
}

static int64_t
blocks_of(const struct gb_cuda_rope_args *args, const struct part *part)
{
    return gb_cuda_blocks(args->n_items,
                          is_into_blocks(part)
                              ? GB_CUDA_ROPE_TILE / args->src0.ne[0]
                              : THREADS);
}

static void
stores_emit(struct gb_cuda_emit *emit, const struct gb_fuse_group *group)
{
    struct gb_cuda_rope_store_args args;
    int64_t n_blocks = 0;
    bool has_blocks = false;

    memset(&args, 0, sizeof(args));
    for (int i = 0; i < group->n_parts; i++) {
        const struct part part = part_of(group, i);

        set_part(&args.of[i], emit->limits, group, &part);
        args.n_blocks[i] = blocks_of(&args.of[i], &part);
        n_blocks += args.n_blocks[i];
        has_blocks |= is_into_blocks(&part);
    }
    if (has_blocks)
        GB_CUDA_LAUNCH(emit, gb_rope_pack, (unsigned)n_blocks, 0, &args);
    else
        GB_CUDA_LAUNCH(emit, gb_rope_store, (unsigned)n_blocks, 0, &args);
}

/* Addresses are all that moves. */
static bool
stores_move(void *args, const struct gb_fuse_group *group)
{
    struct gb_cuda_rope_store_args *stored = args;

    for (int i = 0; i < group->n_parts; i++) {
        const struct part part = part_of(group, i);

        if (part.copy == NULL)
            continue;
        stored->of[i].dst.data = part.copy->data;
        if (part.rope != NULL)
            continue;
        if (part.copy->src[0]->data == part.copy->data)
            return false;
        stored->of[i].src0.data = part.copy->src[0]->data;
    }
    return true;
}

const struct gb_cuda_fused gb_cuda_fused_stores = {
    .supports = stores_support,
    .emit = stores_emit,
    .move = stores_move,
};
