/* SPDX-License-Identifier: MIT */
/*
 * op/window.c - builders of what attention in windows of an image needs.
 */
#include "config.h"

#include "lib/op/build.h"

struct ggml_tensor *
ggml_win_part(struct ggml_context *ctx, struct ggml_tensor *a, int w)
{
    struct ggml_tensor *node;
    int64_t px, py;

    GB_NEED_SOURCES(ctx, "win_part", a);
    GB_NEED(ctx, a->type == GGML_TYPE_F32 && a->ne[3] == 1 && w > 0,
            "win_part: a %s of type %s does not fall into windows of %d",
            GB_SHAPE(a), ggml_type_name(a->type), w);
    px = gb_dim_parts(a->ne[1], w);
    py = gb_dim_parts(a->ne[2], w);
    GB_NEED(ctx, px <= INT32_MAX && py <= INT32_MAX,
            "win_part: a %s has too many windows of %d", GB_SHAPE(a), w);
    node = gb_op_new(ctx, GGML_OP_WIN_PART, GGML_TYPE_F32,
                     (const int64_t[]){ a->ne[0], w, w, px * py }, GB_SRC(a));
    gb_op_set_i32(node, 0, (int32_t)px);
    gb_op_set_i32(node, 1, (int32_t)py);
    gb_op_set_i32(node, 2, w);
    return node;
}

struct ggml_tensor *
ggml_win_unpart(struct ggml_context *ctx, struct ggml_tensor *a, int w0, int h0,
                int w)
{
    struct ggml_tensor *node;

    GB_NEED_SOURCES(ctx, "win_unpart", a);
    GB_NEED(ctx,
            a->type == GGML_TYPE_F32 && w > 0 && w0 >= 0 && h0 >= 0 &&
                a->ne[1] == w && a->ne[2] == w &&
                a->ne[3] >= gb_dim_parts(w0, w) * gb_dim_parts(h0, w),
            "win_unpart: windows a %s of type %s and size %d do not make up "
            "%d x %d",
            GB_SHAPE(a), ggml_type_name(a->type), w, w0, h0);
    node = gb_op_new(ctx, GGML_OP_WIN_UNPART, GGML_TYPE_F32,
                     (const int64_t[]){ a->ne[0], w0, h0, 1 }, GB_SRC(a));
    gb_op_set_i32(node, 0, w);
    return node;
}

struct ggml_tensor *
ggml_get_rel_pos(struct ggml_context *ctx, struct ggml_tensor *a, int qh,
                 int kh)
{
    GB_NEED_SOURCES(ctx, "get_rel_pos", a);
    GB_NEED(ctx, a->type == GGML_TYPE_F16,
            "get_rel_pos: a has type %s, not f16", ggml_type_name(a->type));
    GB_NEED(ctx,
            qh > 0 && qh == kh && ggml_is_matrix(a) &&
                a->ne[1] == 2 * (int64_t)qh - 1,
            "get_rel_pos: a %s has no row for each distance of %d and %d",
            GB_SHAPE(a), qh, kh);
    return gb_op_new(ctx, GGML_OP_GET_REL_POS, GGML_TYPE_F16,
                     (const int64_t[]){ a->ne[0], kh, qh, 1 }, GB_SRC(a));
}

static struct ggml_tensor *
add_rel_pos(struct ggml_context *ctx, enum gb_op_place place,
            struct ggml_tensor *a, struct ggml_tensor *pw,
            struct ggml_tensor *ph)
{
    struct ggml_tensor *node;

    GB_NEED_SOURCES(ctx, "add_rel_pos", a, pw, ph);
    GB_NEED(ctx, pw->type == GGML_TYPE_F32 && ph->type == GGML_TYPE_F32,
            "add_rel_pos: pw has type %s, ph %s, and not f32",
            ggml_type_name(pw->type), ggml_type_name(ph->type));
    GB_NEED(ctx,
            ggml_is_contiguous(a) && ggml_is_contiguous(pw) &&
                ggml_is_contiguous(ph),
            "add_rel_pos: a, pw or ph is not contiguous");
    GB_NEED(ctx,
            ggml_are_same_shape(pw, ph) && a->ne[3] == 1 &&
                a->ne[0] == gb_dim_mul(pw->ne[0], pw->ne[0]) &&
                a->ne[1] == gb_dim_mul(pw->ne[1], pw->ne[2]) &&
                a->ne[2] == pw->ne[3],
            "add_rel_pos: a has shape %s, pw %s, ph %s", GB_SHAPE(a),
            GB_SHAPE(pw), GB_SHAPE(ph));
    node = gb_op_like(ctx, GGML_OP_ADD_REL_POS, place, GB_SRC(a, pw, ph));
    gb_op_set_i32(node, 0, place == GB_OP_INPLACE);
    return node;
}

struct ggml_tensor *
ggml_add_rel_pos(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *pw, struct ggml_tensor *ph)
{
    return add_rel_pos(ctx, GB_OP_NEW, a, pw, ph);
}

struct ggml_tensor *
ggml_add_rel_pos_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                         struct ggml_tensor *pw, struct ggml_tensor *ph)
{
    return add_rel_pos(ctx, GB_OP_INPLACE, a, pw, ph);
}
