/* SPDX-License-Identifier: MIT */
/*
 * op/generate.c - builders of values made from a rule.
 */
#include "config.h"

#include "lib/op/build.h"

#include <math.h>

struct ggml_tensor *
ggml_arange(struct ggml_context *ctx, float start, float stop, float step)
{
    const float steps = ceilf((stop - start) / step);
    struct ggml_tensor *node;

    GB_NEED(ctx, ctx != NULL, "arange: the context is NULL");
    GB_NEED(ctx, stop > start && step > 0.0f && steps < 0x1p62f,
            "arange: there is no way from %g to %g in steps of %g",
            (double)start, (double)stop, (double)step);
    node = gb_op_new(ctx, GGML_OP_ARANGE, GGML_TYPE_F32,
                     (const int64_t[]){ (int64_t)steps, 1, 1, 1 },
                     GB_SRC(NULL));
    gb_op_set_f32(node, 0, start);
    gb_op_set_f32(node, 1, stop);
    gb_op_set_f32(node, 2, step);
    return node;
}

struct ggml_tensor *
ggml_timestep_embedding(struct ggml_context *ctx,
                        struct ggml_tensor *timesteps, int dim, int max_period)
{
    const int64_t ne0 = (int64_t)dim + dim % 2;
    struct ggml_tensor *node;

    GB_NEED_SOURCES(ctx, "timestep_embedding", timesteps);
    GB_NEED(ctx, dim >= 0 && max_period > 0,
            "timestep_embedding: dim is %d, max_period %d", dim, max_period);
    node = gb_op_new(ctx, GGML_OP_TIMESTEP_EMBEDDING, GGML_TYPE_F32,
                     (const int64_t[]){ ne0, timesteps->ne[0], 1, 1 },
                     GB_SRC(timesteps));
    gb_op_set_i32(node, 0, dim);
    gb_op_set_i32(node, 1, max_period);
    return node;
}
