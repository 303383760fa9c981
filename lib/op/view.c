/* SPDX-License-Identifier: MIT */
/*
 * op/view.c - builders of nodes that see their operand's data in another shape.
 */
#include "config.h"

#include "lib/op/build.h"
#include "lib/tensor/view.h"

/* A's data, contiguous, in the shape NE. */
static struct ggml_tensor *
reshape(struct ggml_context *ctx, struct ggml_tensor *a,
        const int64_t ne[GGML_MAX_DIMS])
{
    struct ggml_tensor *node;

    GB_NEED(ctx, ggml_is_contiguous(a), "reshape: a %s is not contiguous",
            GB_SHAPE(a));
    GB_NEED(ctx, gb_op_elements(ne) == ggml_nelements(a),
            "reshape: a %s and the result %s have different numbers of "
            "elements",
            GB_SHAPE(a), gb_op_shape(ne).text);
    node = gb_tensor_view(ctx, a, ne, 0);
    gb_op_make(node, GGML_OP_RESHAPE, GB_SRC(a));
    return GB_NAME_AFTER(node, a, "reshaped");
}

struct ggml_tensor *
ggml_reshape(struct ggml_context *ctx, struct ggml_tensor *a,
             struct ggml_tensor *b)
{
    GB_NEED_SOURCES(ctx, "reshape", a, b);
    return reshape(ctx, a, b->ne);
}

struct ggml_tensor *
ggml_reshape_1d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0)
{
    return ggml_reshape_4d(ctx, a, ne0, 1, 1, 1);
}

struct ggml_tensor *
ggml_reshape_2d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
                int64_t ne1)
{
    return ggml_reshape_4d(ctx, a, ne0, ne1, 1, 1);
}

struct ggml_tensor *
ggml_reshape_3d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
                int64_t ne1, int64_t ne2)
{
    return ggml_reshape_4d(ctx, a, ne0, ne1, ne2, 1);
}

struct ggml_tensor *
ggml_reshape_4d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
                int64_t ne1, int64_t ne2, int64_t ne3)
{
    const int64_t ne[] = { ne0, ne1, ne2, ne3 };

    GB_NEED_SOURCES(ctx, "reshape", a);
    return reshape(ctx, a, ne);
}

/*
 * Does what a view sees, NE[1] to NE[3] rows of ROW bytes at strides NB from
 * OFFSET on, end within SIZE bytes?
 */
static bool
ends_within(size_t row, const int64_t ne[GGML_MAX_DIMS],
            const size_t nb[GGML_MAX_DIMS], size_t offset, size_t size)
{
    size_t end, step;

    if (!gb_add_size(offset, row, &end))
        return false;
#pragma GCC unroll 3
    for (int i = 1; i < GGML_MAX_DIMS; i++)
        if (!gb_mul_size((size_t)ne[i] - 1, nb[i], &step) ||
            !gb_add_size(end, step, &end))
            return false;
    return end <= size;
}

/*
 * Do rows of TYPE with NE elements at the strides NB, the first of them BEGIN
 * bytes behind the data, all begin where a block does, or a number?  A stride
 * that is never stepped over may be any.
 */
static bool
steps_by_blocks(const struct gb_type *type, const int64_t ne[GGML_MAX_DIMS],
                const size_t nb[GGML_MAX_DIMS], size_t begin)
{
    /* Most are numbers, whose bytes are a power of two: no division. */
    if (type->block == 1) {
#pragma GCC unroll 3
        for (int i = 1; i < GGML_MAX_DIMS; i++)
            begin |= ne[i] > 1 ? nb[i] : 0;
        return (begin & (type->bytes - 1)) == 0;
    }
    if (begin % type->bytes != 0)
        return false;
    for (int i = 1; i < GGML_MAX_DIMS; i++)
        if (ne[i] > 1 && nb[i] % type->bytes != 0)
            return false;
    return true;
}

/*
 * The view of A that begins OFFSET bytes behind A's first element.  Dimension I
 * of the N_DIMS has NE[I] elements at a distance of NB[I] bytes; NB[0] is for
 * this function to set.
 */
static struct ggml_tensor *
view(struct ggml_context *ctx, struct ggml_tensor *a,
     const int64_t ne[GGML_MAX_DIMS], size_t nb[GGML_MAX_DIMS], size_t offset)
{
    const struct ggml_tensor *root = a->view_src != NULL ? a->view_src : a;
    const struct gb_type *type = gb_type_get(a->type);
    struct ggml_tensor *node;
    size_t dense[GGML_MAX_DIMS], bytes, begin;

    GB_NEED(ctx, gb_tensor_sizes(a->type, GGML_MAX_DIMS, ne, dense, &bytes),
            "view: %s is no shape for type %s", gb_op_shape(ne).text,
            ggml_type_name(a->type));
    GB_NEED(ctx,
            bytes == 0 ||
                (gb_add_size(a->view_offs, offset, &begin) &&
                 ends_within(dense[1], ne, nb, begin, ggml_nbytes(root))),
            "view: %s with strides %zu, %zu and %zu from byte %zu on does not "
            "lie within the %zu bytes that a is a part of",
            gb_op_shape(ne).text, nb[1], nb[2], nb[3], offset,
            ggml_nbytes(root));
    GB_NEED(ctx,
            bytes == 0 ||
                steps_by_blocks(type, ne, nb, a->view_offs + offset),
            "view: rows of %s with strides %zu, %zu and %zu from byte %zu on "
            "do not all begin at a multiple of %zu bytes",
            type->name, nb[1], nb[2], nb[3], offset, type->bytes);

    nb[0] = dense[0];
    node = gb_tensor_view_sized(ctx, a, ne, nb, bytes, offset);
    gb_op_make(node, GGML_OP_VIEW, GB_SRC(a));
    gb_op_set_bytes(node, &offset, sizeof(offset));
    return GB_NAME_AFTER(node, a, "view");
}

struct ggml_tensor *
ggml_view_1d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
             size_t offset)
{
    const int64_t ne[] = { ne0, 1, 1, 1 };
    size_t nb[GGML_MAX_DIMS], bytes;

    GB_NEED_SOURCES(ctx, "view", a);
    GB_NEED(ctx, gb_tensor_sizes(a->type, GGML_MAX_DIMS, ne, nb, &bytes),
            "view: %lld is no size for type %s", (long long)ne0,
            ggml_type_name(a->type));
    return view(ctx, a, ne, nb, offset);
}

/* STRIDE * N; the largest size, which no view's strides reach, for too much. */
static size_t
stride_of(size_t stride, int64_t n)
{
    size_t next;

    return n >= 0 && gb_mul_size(stride, (size_t)n, &next) ? next : SIZE_MAX;
}

struct ggml_tensor *
ggml_view_2d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
             int64_t ne1, size_t nb1, size_t offset)
{
    const size_t nb2 = stride_of(nb1, ne1);

    return ggml_view_4d(ctx, a, ne0, ne1, 1, 1, nb1, nb2, nb2, offset);
}

struct ggml_tensor *
ggml_view_3d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
             int64_t ne1, int64_t ne2, size_t nb1, size_t nb2, size_t offset)
{
    return ggml_view_4d(ctx, a, ne0, ne1, ne2, 1, nb1, nb2,
                        stride_of(nb2, ne2), offset);
}

struct ggml_tensor *
ggml_view_4d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
             int64_t ne1, int64_t ne2, int64_t ne3, size_t nb1, size_t nb2,
             size_t nb3, size_t offset)
{
    const int64_t ne[] = { ne0, ne1, ne2, ne3 };
    size_t nb[] = { 0, nb1, nb2, nb3 };

    GB_NEED_SOURCES(ctx, "view", a);
    return view(ctx, a, ne, nb, offset);
}

/* May the elements of A's rows stand apart?  Those of a block cannot. */
static bool
may_transpose_rows(const struct ggml_tensor *a)
{
    return gb_type_get(a->type)->block <= 1 || ggml_is_empty(a);
}

struct ggml_tensor *
ggml_permute(struct ggml_context *ctx, struct ggml_tensor *a, int axis0,
             int axis1, int axis2, int axis3)
{
    const int axis[GGML_MAX_DIMS] = { axis0, axis1, axis2, axis3 };
    struct ggml_tensor *node;
    unsigned seen = 0;

    GB_NEED_SOURCES(ctx, "permute", a);
    for (int i = 0; i < GGML_MAX_DIMS; i++)
        if (axis[i] >= 0 && axis[i] < GGML_MAX_DIMS)
            seen |= 1u << axis[i];
    GB_NEED(ctx, seen == (1u << GGML_MAX_DIMS) - 1,
            "permute: %d, %d, %d, %d is no order of the four dimensions",
            axis0, axis1, axis2, axis3);
    GB_NEED(ctx, axis0 == 0 || may_transpose_rows(a),
            "permute: blocks of %s cannot leave the first dimension for "
            "dimension %d",
            ggml_type_name(a->type), axis0);

    node = gb_tensor_view_whole(ctx, a);
    gb_op_make(node, GGML_OP_PERMUTE, GB_SRC(a));
    if (gb_node_has_failed(node))
        return node;
    for (int i = 0; i < GGML_MAX_DIMS; i++) {
        node->ne[axis[i]] = a->ne[i];
        node->nb[axis[i]] = a->nb[i];
        gb_op_set_i32(node, i, axis[i]);
    }
    return GB_NAME_AFTER(node, a, "permuted");
}

struct ggml_tensor *
ggml_transpose(struct ggml_context *ctx, struct ggml_tensor *a)
{
    struct ggml_tensor *node;

    GB_NEED_SOURCES(ctx, "transpose", a);
    GB_NEED(ctx, may_transpose_rows(a),
            "transpose: blocks of %s cannot leave the first dimension",
            ggml_type_name(a->type));
    node = gb_tensor_view_whole(ctx, a);
    gb_op_make(node, GGML_OP_TRANSPOSE, GB_SRC(a));
    if (gb_node_has_failed(node))
        return node;
    node->ne[0] = a->ne[1];
    node->ne[1] = a->ne[0];
    node->nb[0] = a->nb[1];
    node->nb[1] = a->nb[0];
    return GB_NAME_AFTER(node, a, "transposed");
}
