/* SPDX-License-Identifier: MIT */
/*
 * op/pool.c - builders of pooling.
 */
#include "config.h"

#include "lib/op/build.h"

/* What the window does, as it lies in a 2D node's parameters. */
struct pool_2d {
    int32_t op;
    int32_t k0, k1; /* size of the window */
    int32_t s0, s1; /* stride */
    int32_t p0, p1; /* padding, what is behind its point cut off */
};

/*
 * Places of a window of K elements on N elements.  The padding may be half an
 * element, which adds one to the whole.  -1 when it cannot be.
 */
static int64_t
places(int64_t n, int k, int s, float p)
{
    double size;

    if (k < 1 || s < 1 || !(p >= 0.0f && p < 0x1p30f))
        return -1;
    size = ((double)n + 2.0 * (double)p - k) / s + 1.0;
    return size > -1.0 && size < 0x1p62 ? (int64_t)size : -1;
}

static bool
is_pool(enum ggml_op_pool op)
{
    return op == GGML_OP_POOL_MAX || op == GGML_OP_POOL_AVG;
}

struct ggml_tensor *
ggml_pool_1d(struct ggml_context *ctx, struct ggml_tensor *a,
             enum ggml_op_pool op, int k0, int s0, int p0)
{
    int64_t ne0;
    struct ggml_tensor *node;

    GB_NEED_SOURCES(ctx, "pool_1d", a);
    ne0 = places(a->ne[0], k0, s0, (float)p0);
    GB_NEED(ctx, is_pool(op) && ne0 >= 0,
            "pool_1d: function %d, window %d, stride %d and padding %d on a %s",
            (int)op, k0, s0, p0, GB_SHAPE(a));
    node = gb_op_new(ctx, GGML_OP_POOL_1D, GGML_TYPE_F32,
                     (const int64_t[]){ ne0, a->ne[1], a->ne[2], a->ne[3] },
                     GB_SRC(a));
    gb_op_set_i32(node, 0, (int32_t)op);
    gb_op_set_i32(node, 1, k0);
    gb_op_set_i32(node, 2, s0);
    gb_op_set_i32(node, 3, p0);
    return node;
}

struct ggml_tensor *
ggml_pool_2d(struct ggml_context *ctx, struct ggml_tensor *a,
             enum ggml_op_pool op, int k0, int k1, int s0, int s1, float p0,
             float p1)
{
    struct ggml_tensor *node;
    struct pool_2d pool;
    int64_t ne0, ne1;

    GB_NEED_SOURCES(ctx, "pool_2d", a);
    ne0 = places(a->ne[0], k0, s0, p0);
    ne1 = places(a->ne[1], k1, s1, p1);
    GB_NEED(ctx, is_pool(op) && ne0 >= 0 && ne1 >= 0,
            "pool_2d: function %d, window %d x %d, strides %d, %d and paddings "
            "%g, %g on a %s",
            (int)op, k0, k1, s0, s1, (double)p0, (double)p1, GB_SHAPE(a));
    node = gb_op_new(ctx, GGML_OP_POOL_2D, GGML_TYPE_F32,
                     (const int64_t[]){ ne0, ne1, a->ne[2], a->ne[3] },
                     GB_SRC(a));
    pool = (struct pool_2d){ (int32_t)op, k0, k1, s0, s1, (int32_t)p0,
                             (int32_t)p1 };
    gb_op_set_bytes(node, &pool, sizeof(pool));
    return node;
}

struct ggml_tensor *
ggml_pool_2d_back(struct ggml_context *ctx, struct ggml_tensor *a,
                  struct ggml_tensor *af, enum ggml_op_pool op, int k0, int k1,
                  int s0, int s1, float p0, float p1)
{
    struct ggml_tensor *node;
    struct pool_2d pool;

    GB_NEED_SOURCES(ctx, "pool_2d_back", a, af);
    GB_NEED(ctx,
            is_pool(op) && a->ne[0] == places(af->ne[0], k0, s0, p0) &&
                a->ne[1] == places(af->ne[1], k1, s1, p1) &&
                a->ne[2] == af->ne[2] && a->ne[3] == af->ne[3],
            "pool_2d_back: a %s does not come from function %d, window %d x "
            "%d, strides %d, %d and paddings %g, %g on %s",
            GB_SHAPE(a), (int)op, k0, k1, s0, s1, (double)p0, (double)p1,
            GB_SHAPE(af));
    node = gb_op_new(ctx, GGML_OP_POOL_2D_BACK, GGML_TYPE_F32, af->ne,
                     GB_SRC(a, af));
    pool = (struct pool_2d){ (int32_t)op, k0, k1, s0, s1, (int32_t)p0,
                             (int32_t)p1 };
    gb_op_set_bytes(node, &pool, sizeof(pool));
    return node;
}
