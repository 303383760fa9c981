/* SPDX-License-Identifier: MIT */
/*
 * op/copy.c - builders of copies: other types and layouts, one after another,
 * again and again.
 */
#include "config.h"

#include "lib/op/build.h"
#include "lib/tensor/name.h"
#include "lib/tensor/view.h"

struct ggml_tensor *
ggml_dup(struct ggml_context *ctx, struct ggml_tensor *a)
{
    GB_NEED_SOURCES(ctx, "dup", a);
    return gb_op_like(ctx, GGML_OP_DUP, GB_OP_NEW, GB_SRC(a));
}

struct ggml_tensor *
ggml_dup_inplace(struct ggml_context *ctx, struct ggml_tensor *a)
{
    GB_NEED_SOURCES(ctx, "dup", a);
    return gb_op_like(ctx, GGML_OP_DUP, GB_OP_INPLACE, GB_SRC(a));
}

/* "<name of to> (copy of <name of from>)" */
static struct ggml_tensor *
name_copy_of(struct ggml_tensor *node, const struct ggml_tensor *to,
             const struct ggml_tensor *from)
{
    static const char middle[] = " (copy of ";
    size_t length;

    if (gb_node_has_failed(node))
        return node;
    length = gb_name_add_name(node, 0, to);
    length = gb_name_add(node, length, middle, sizeof(middle) - 1);
    length = gb_name_add_name(node, length, from);
    gb_name_add(node, length, ")", 1);
    return node;
}

struct ggml_tensor *
ggml_cpy(struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b)
{
    struct ggml_tensor *node;

    GB_NEED_SOURCES(ctx, "cpy", a, b);
    GB_NEED(ctx, ggml_nelements(a) == ggml_nelements(b),
            "cpy: a %s and b %s have different numbers of elements",
            GB_SHAPE(a), GB_SHAPE(b));
    node = gb_op_make(gb_tensor_view_whole(ctx, b), GGML_OP_CPY, GB_SRC(a, b));
    if (b->name[0] == '\0')
        return GB_NAME_AFTER(node, a, "copy");
    return name_copy_of(node, b, a);
}

struct ggml_tensor *
ggml_cast(struct ggml_context *ctx, struct ggml_tensor *a, enum ggml_type type)
{
    struct ggml_tensor *node;

    GB_NEED_SOURCES(ctx, "cast", a);
    node = gb_op_new(ctx, GGML_OP_CPY, type, a->ne, GB_SRC(a));
    /* A copy's second source is where it copies to: here the node itself. */
    if (!gb_node_has_failed(node))
        node->src[1] = node;
    return GB_NAME_AFTER(node, a, "copy");
}

struct ggml_tensor *
ggml_cont(struct ggml_context *ctx, struct ggml_tensor *a)
{
    GB_NEED_SOURCES(ctx, "cont", a);
    return GB_NAME_AFTER(
        gb_op_like(ctx, GGML_OP_CONT, GB_OP_NEW, GB_SRC(a)), a, "cont");
}

struct ggml_tensor *
ggml_cont_1d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0)
{
    return ggml_cont_4d(ctx, a, ne0, 1, 1, 1);
}

struct ggml_tensor *
ggml_cont_2d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
             int64_t ne1)
{
    return ggml_cont_4d(ctx, a, ne0, ne1, 1, 1);
}

struct ggml_tensor *
ggml_cont_3d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
             int64_t ne1, int64_t ne2)
{
    return ggml_cont_4d(ctx, a, ne0, ne1, ne2, 1);
}

struct ggml_tensor *
ggml_cont_4d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
             int64_t ne1, int64_t ne2, int64_t ne3)
{
    const int64_t ne[] = { ne0, ne1, ne2, ne3 };

    GB_NEED_SOURCES(ctx, "cont", a);
    GB_NEED(ctx, gb_op_elements(ne) == ggml_nelements(a),
            "cont: a %s and the result %s have different numbers of elements",
            GB_SHAPE(a), gb_op_shape(ne).text);
    return GB_NAME_AFTER(
        gb_op_new(ctx, GGML_OP_CONT, a->type, ne, GB_SRC(a)), a, "cont");
}

struct ggml_tensor *
ggml_concat(struct ggml_context *ctx, struct ggml_tensor *a,
            struct ggml_tensor *b, int dim)
{
    struct ggml_tensor *node;
    int64_t ne[GGML_MAX_DIMS];

    GB_NEED_SOURCES(ctx, "concat", a, b);
    GB_NEED(ctx, dim >= 0 && dim < GGML_MAX_DIMS, "concat: no dimension %d",
            dim);
    GB_NEED(ctx, a->type == b->type, "concat: a has type %s, b %s",
            ggml_type_name(a->type), ggml_type_name(b->type));
    for (int i = 0; i < GGML_MAX_DIMS; i++) {
        GB_NEED(ctx, i == dim || a->ne[i] == b->ne[i],
                "concat: a %s and b %s differ in another dimension than %d",
                GB_SHAPE(a), GB_SHAPE(b), dim);
        ne[i] = i == dim ? gb_dim_add(a->ne[i], b->ne[i]) : a->ne[i];
    }
    node = gb_op_new(ctx, GGML_OP_CONCAT, a->type, ne, GB_SRC(a, b));
    gb_op_set_i32(node, 0, dim);
    return node;
}

struct ggml_tensor *
ggml_repeat(struct ggml_context *ctx, struct ggml_tensor *a,
            struct ggml_tensor *b)
{
    GB_NEED_SOURCES(ctx, "repeat", a, b);
    GB_NEED(ctx, ggml_can_repeat(a, b), "repeat: a %s does not repeat into %s",
            GB_SHAPE(a), GB_SHAPE(b));
    return gb_op_new(ctx, GGML_OP_REPEAT, a->type, b->ne, GB_SRC(a));
}

struct ggml_tensor *
ggml_repeat_back(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b)
{
    GB_NEED_SOURCES(ctx, "repeat_back", a, b);
    GB_NEED(ctx, ggml_can_repeat(b, a),
            "repeat_back: %s does not repeat into a %s", GB_SHAPE(b),
            GB_SHAPE(a));
    return gb_op_new(ctx, GGML_OP_REPEAT_BACK, a->type, b->ne, GB_SRC(a));
}
