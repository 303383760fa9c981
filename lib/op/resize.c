/* SPDX-License-Identifier: MIT */
/*
 * op/resize.c - builders of results that are larger than their operand.
 */
#include "config.h"

#include "lib/op/build.h"

/* A stretched to the sizes NE. */
static struct ggml_tensor *
upscale(struct ggml_context *ctx, struct ggml_tensor *a,
        const int64_t ne[GGML_MAX_DIMS])
{
    for (int i = 0; i < GGML_MAX_DIMS; i++)
        GB_NEED(ctx, ne[i] >= a->ne[i] && (ne[i] == 0 || a->ne[i] > 0),
                "upscale: a %s does not stretch to %s", GB_SHAPE(a),
                gb_op_shape(ne).text);
    return gb_op_new(ctx, GGML_OP_UPSCALE, a->type, ne, GB_SRC(a));
}

struct ggml_tensor *
ggml_upscale(struct ggml_context *ctx, struct ggml_tensor *a, int scale_factor)
{
    GB_NEED_SOURCES(ctx, "upscale", a);
    return upscale(ctx, a,
                   (const int64_t[]){ gb_dim_mul(a->ne[0], scale_factor),
                                      gb_dim_mul(a->ne[1], scale_factor),
                                      a->ne[2], a->ne[3] });
}

struct ggml_tensor *
ggml_upscale_ext(struct ggml_context *ctx, struct ggml_tensor *a, int ne0,
                 int ne1, int ne2, int ne3)
{
    GB_NEED_SOURCES(ctx, "upscale", a);
    return upscale(ctx, a, (const int64_t[]){ ne0, ne1, ne2, ne3 });
}

struct ggml_tensor *
ggml_pad(struct ggml_context *ctx, struct ggml_tensor *a, int p0, int p1,
         int p2, int p3)
{
    const int p[GGML_MAX_DIMS] = { p0, p1, p2, p3 };
    int64_t ne[GGML_MAX_DIMS];

    GB_NEED_SOURCES(ctx, "pad", a);
    for (int i = 0; i < GGML_MAX_DIMS; i++) {
        GB_NEED(ctx, p[i] >= 0, "pad: %d elements in dimension %d", p[i], i);
        ne[i] = gb_dim_add(a->ne[i], p[i]);
    }
    return gb_op_new(ctx, GGML_OP_PAD, a->type, ne, GB_SRC(a));
}

struct ggml_tensor *
ggml_pad_reflect_1d(struct ggml_context *ctx, struct ggml_tensor *a, int p0,
                    int p1)
{
    struct ggml_tensor *node;
    int64_t ne0;

    GB_NEED_SOURCES(ctx, "pad_reflect_1d", a);
    GB_NEED(ctx, a->type == GGML_TYPE_F32 && ggml_is_contiguous(a),
            "pad_reflect_1d: a %s of type %s is not contiguous f32",
            GB_SHAPE(a), ggml_type_name(a->type));
    GB_NEED(ctx, p0 >= 0 && p1 >= 0 && p0 < a->ne[0] && p1 < a->ne[0],
            "pad_reflect_1d: rows of %lld elements do not reflect %d and %d",
            (long long)a->ne[0], p0, p1);
    ne0 = gb_dim_add(gb_dim_add(a->ne[0], p0), p1);
    node = gb_op_new(ctx, GGML_OP_PAD_REFLECT_1D, GGML_TYPE_F32,
                     (const int64_t[]){ ne0, a->ne[1], a->ne[2], a->ne[3] },
                     GB_SRC(a));
    gb_op_set_i32(node, 0, p0);
    gb_op_set_i32(node, 1, p1);
    return node;
}
