/* SPDX-License-Identifier: MIT */
/*
 * op/subview.c - builders of nodes that write into a part of their operand.
 */
#include "config.h"

#include "lib/op/build.h"

/* Offsets beyond are refused: kernels add to them what strides give. */
#define MAX_OFFSET ((size_t)1 << 30)

/* The part of A: B's shape with these strides, from a byte of A on. */
struct part {
    size_t nb1, nb2, nb3;
    size_t offset;
};

/* Does the part that gets B lie within the bytes of A? */
static bool
lies_within(const struct part *part, const struct ggml_tensor *a,
            const struct ggml_tensor *b)
{
    const size_t nb[] = { ggml_element_size(a), part->nb1, part->nb2,
                          part->nb3 };
    size_t end = part->offset, step;

    if (ggml_is_empty(b))
        return true;
    for (int i = 0; i < GGML_MAX_DIMS; i++)
        if (!gb_mul_size((size_t)b->ne[i] - 1, nb[i], &step) ||
            !gb_add_size(end, step, &end))
            return false;
    return gb_add_size(end, nb[0], &end) && end <= ggml_nbytes(a);
}

/* A stride as a parameter has it; one that no element of B takes may be any. */
static bool
stride_fits(size_t stride, int64_t n, int32_t *out)
{
    if (stride > INT32_MAX && n > 1)
        return false;
    *out = stride > INT32_MAX ? 0 : (int32_t)stride;
    return true;
}

static struct ggml_tensor *
write_part(struct ggml_context *ctx, enum ggml_op op, enum gb_op_place place,
           struct ggml_tensor *a, struct ggml_tensor *b,
           const struct part *part)
{
    int32_t params[5];
    struct ggml_tensor *node;

    GB_NEED(ctx, ggml_nelements(b) <= ggml_nelements(a),
            "%s: b %s has more elements than a %s", gb_op_word(op),
            GB_SHAPE(b), GB_SHAPE(a));
    GB_NEED(ctx,
            part->offset < MAX_OFFSET &&
                stride_fits(part->nb1, b->ne[1], &params[0]) &&
                stride_fits(part->nb2, b->ne[2], &params[1]) &&
                stride_fits(part->nb3, b->ne[3], &params[2]),
            "%s: strides %zu, %zu and %zu or offset %zu are too large",
            gb_op_word(op), part->nb1, part->nb2, part->nb3, part->offset);
    GB_NEED(ctx, lies_within(part, a, b),
            "%s: b %s with strides %zu, %zu and %zu from byte %zu on does not "
            "lie within the %zu bytes of a",
            gb_op_word(op), GB_SHAPE(b), part->nb1, part->nb2, part->nb3,
            part->offset, ggml_nbytes(a));

    params[3] = (int32_t)part->offset;
    params[4] = place == GB_OP_INPLACE;
    node = gb_op_like(ctx, op, place, GB_SRC(a, b));
    gb_op_set_bytes(node, params, sizeof(params));
    return node;
}

static struct ggml_tensor *
acc(struct ggml_context *ctx, enum gb_op_place place, struct ggml_tensor *a,
    struct ggml_tensor *b, const struct part *part)
{
    GB_NEED_SOURCES(ctx, "acc", a, b);
    GB_NEED(ctx, ggml_is_contiguous(a), "acc: a %s is not contiguous",
            GB_SHAPE(a));
    GB_NEED(ctx, a->type == GGML_TYPE_F32 && b->type == GGML_TYPE_F32,
            "acc: a has type %s and b %s, and not f32",
            ggml_type_name(a->type), ggml_type_name(b->type));
    return write_part(ctx, GGML_OP_ACC, place, a, b, part);
}

struct ggml_tensor *
ggml_acc(struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
         size_t nb1, size_t nb2, size_t nb3, size_t offset)
{
    return acc(ctx, GB_OP_NEW, a, b,
               &(const struct part){ nb1, nb2, nb3, offset });
}

struct ggml_tensor *
ggml_acc_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b, size_t nb1, size_t nb2, size_t nb3,
                 size_t offset)
{
    return acc(ctx, GB_OP_INPLACE, a, b,
               &(const struct part){ nb1, nb2, nb3, offset });
}

/* With N_GIVEN strides of PART; the others are A's own. */
static struct ggml_tensor *
set(struct ggml_context *ctx, enum gb_op_place place, struct ggml_tensor *a,
    struct ggml_tensor *b, struct part part, int n_given)
{
    GB_NEED_SOURCES(ctx, "set", a, b);
    if (n_given < 1)
        part.nb1 = a->nb[1];
    if (n_given < 2)
        part.nb2 = a->nb[2];
    if (n_given < 3)
        part.nb3 = a->nb[3];
    return write_part(ctx, GGML_OP_SET, place, a, b, &part);
}

struct ggml_tensor *
ggml_set(struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
         size_t nb1, size_t nb2, size_t nb3, size_t offset)
{
    return set(ctx, GB_OP_NEW, a, b,
               (struct part){ nb1, nb2, nb3, offset }, 3);
}

struct ggml_tensor *
ggml_set_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b, size_t nb1, size_t nb2, size_t nb3,
                 size_t offset)
{
    return set(ctx, GB_OP_INPLACE, a, b,
               (struct part){ nb1, nb2, nb3, offset }, 3);
}

struct ggml_tensor *
ggml_set_1d(struct ggml_context *ctx, struct ggml_tensor *a,
            struct ggml_tensor *b, size_t offset)
{
    return set(ctx, GB_OP_NEW, a, b, (struct part){ .offset = offset }, 0);
}

struct ggml_tensor *
ggml_set_1d_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                    struct ggml_tensor *b, size_t offset)
{
    return set(ctx, GB_OP_INPLACE, a, b, (struct part){ .offset = offset }, 0);
}

struct ggml_tensor *
ggml_set_2d(struct ggml_context *ctx, struct ggml_tensor *a,
            struct ggml_tensor *b, size_t nb1, size_t offset)
{
    return set(ctx, GB_OP_NEW, a, b,
               (struct part){ .nb1 = nb1, .offset = offset }, 1);
}

struct ggml_tensor *
ggml_set_2d_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                    struct ggml_tensor *b, size_t nb1, size_t offset)
{
    return set(ctx, GB_OP_INPLACE, a, b,
               (struct part){ .nb1 = nb1, .offset = offset }, 1);
}
