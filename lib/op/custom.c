/* SPDX-License-Identifier: MIT */
/*
 * op/custom.c - builders of operations that the client computes.
 */
#include "config.h"

#include "lib/op/build.h"

#include <string.h>

/* Any function; whoever calls it knows from the operation what it takes. */
typedef void (*any_fn)(void);

/* Parameters of the operations that share their work out to threads. */
struct custom {
    any_fn fun;
    int n_tasks;
    void *userdata;
};

_Static_assert(sizeof(struct custom) <= GGML_MAX_OP_PARAMS,
               "the parameters have room for a custom operation's");

/* A node computed by FUN alone, of one thread. */
static struct ggml_tensor *
map(struct ggml_context *ctx, enum ggml_op op, enum gb_op_place place,
    struct ggml_tensor *const src[GGML_MAX_SRC], any_fn fun)
{
    struct ggml_tensor *node;

    GB_NEED(ctx, fun != NULL, "%s: the function is NULL", gb_op_word(op));
    node = gb_op_like(ctx, op, place, src);
    gb_op_set_bytes(node, &fun, sizeof(fun));
    return node;
}

/* A node computed by FUN on several threads. */
static struct ggml_tensor *
custom(struct ggml_context *ctx, enum ggml_op op, enum gb_op_place place,
       struct ggml_tensor *const src[GGML_MAX_SRC], struct custom what)
{
    struct custom params;
    struct ggml_tensor *node;

    GB_NEED(ctx, what.fun != NULL, "%s: the function is NULL", gb_op_word(op));
    GB_NEED(ctx, what.n_tasks == GGML_N_TASKS_MAX || what.n_tasks > 0,
            "%s: %d tasks", gb_op_word(op), what.n_tasks);
    node = gb_op_like(ctx, op, place, src);
    /* Nodes are compared byte by byte: nothing undefined between members. */
    memset(&params, 0, sizeof(params));
    params.fun = what.fun;
    params.n_tasks = what.n_tasks;
    params.userdata = what.userdata;
    gb_op_set_bytes(node, &params, sizeof(params));
    return node;
}

struct ggml_tensor *
ggml_map_unary_f32(struct ggml_context *ctx, struct ggml_tensor *a,
                   ggml_unary_op_f32_t fun)
{
    GB_NEED_SOURCES(ctx, "map_unary_f32", a);
    return map(ctx, GGML_OP_MAP_UNARY, GB_OP_NEW, GB_SRC(a), (any_fn)fun);
}

struct ggml_tensor *
ggml_map_unary_inplace_f32(struct ggml_context *ctx, struct ggml_tensor *a,
                           ggml_unary_op_f32_t fun)
{
    GB_NEED_SOURCES(ctx, "map_unary_f32", a);
    return map(ctx, GGML_OP_MAP_UNARY, GB_OP_INPLACE, GB_SRC(a), (any_fn)fun);
}

static struct ggml_tensor *
map_binary(struct ggml_context *ctx, enum gb_op_place place,
           struct ggml_tensor *a, struct ggml_tensor *b,
           ggml_binary_op_f32_t fun)
{
    GB_NEED_SOURCES(ctx, "map_binary_f32", a, b);
    GB_NEED(ctx, ggml_are_same_shape(a, b),
            "map_binary_f32: a has shape %s, b %s", GB_SHAPE(a), GB_SHAPE(b));
    return map(ctx, GGML_OP_MAP_BINARY, place, GB_SRC(a, b), (any_fn)fun);
}

struct ggml_tensor *
ggml_map_binary_f32(struct ggml_context *ctx, struct ggml_tensor *a,
                    struct ggml_tensor *b, ggml_binary_op_f32_t fun)
{
    return map_binary(ctx, GB_OP_NEW, a, b, fun);
}

struct ggml_tensor *
ggml_map_binary_inplace_f32(struct ggml_context *ctx, struct ggml_tensor *a,
                            struct ggml_tensor *b, ggml_binary_op_f32_t fun)
{
    return map_binary(ctx, GB_OP_INPLACE, a, b, fun);
}

struct ggml_tensor *
ggml_map_custom1_f32(struct ggml_context *ctx, struct ggml_tensor *a,
                     ggml_custom1_op_f32_t fun)
{
    GB_NEED_SOURCES(ctx, "map_custom1_f32", a);
    return map(ctx, GGML_OP_MAP_CUSTOM1_F32, GB_OP_NEW, GB_SRC(a), (any_fn)fun);
}

struct ggml_tensor *
ggml_map_custom1_inplace_f32(struct ggml_context *ctx, struct ggml_tensor *a,
                             ggml_custom1_op_f32_t fun)
{
    GB_NEED_SOURCES(ctx, "map_custom1_f32", a);
    return map(ctx, GGML_OP_MAP_CUSTOM1_F32, GB_OP_INPLACE, GB_SRC(a),
               (any_fn)fun);
}

struct ggml_tensor *
ggml_map_custom2_f32(struct ggml_context *ctx, struct ggml_tensor *a,
                     struct ggml_tensor *b, ggml_custom2_op_f32_t fun)
{
    GB_NEED_SOURCES(ctx, "map_custom2_f32", a, b);
    return map(ctx, GGML_OP_MAP_CUSTOM2_F32, GB_OP_NEW, GB_SRC(a, b),
               (any_fn)fun);
}

struct ggml_tensor *
ggml_map_custom2_inplace_f32(struct ggml_context *ctx, struct ggml_tensor *a,
                             struct ggml_tensor *b, ggml_custom2_op_f32_t fun)
{
    GB_NEED_SOURCES(ctx, "map_custom2_f32", a, b);
    return map(ctx, GGML_OP_MAP_CUSTOM2_F32, GB_OP_INPLACE, GB_SRC(a, b),
               (any_fn)fun);
}

struct ggml_tensor *
ggml_map_custom3_f32(struct ggml_context *ctx, struct ggml_tensor *a,
                     struct ggml_tensor *b, struct ggml_tensor *c,
                     ggml_custom3_op_f32_t fun)
{
    GB_NEED_SOURCES(ctx, "map_custom3_f32", a, b, c);
    return map(ctx, GGML_OP_MAP_CUSTOM3_F32, GB_OP_NEW, GB_SRC(a, b, c),
               (any_fn)fun);
}

struct ggml_tensor *
ggml_map_custom3_inplace_f32(struct ggml_context *ctx, struct ggml_tensor *a,
                             struct ggml_tensor *b, struct ggml_tensor *c,
                             ggml_custom3_op_f32_t fun)
{
    GB_NEED_SOURCES(ctx, "map_custom3_f32", a, b, c);
    return map(ctx, GGML_OP_MAP_CUSTOM3_F32, GB_OP_INPLACE, GB_SRC(a, b, c),
               (any_fn)fun);
}

struct ggml_tensor *
ggml_map_custom1(struct ggml_context *ctx, struct ggml_tensor *a,
                 ggml_custom1_op_t fun, int n_tasks, void *userdata)
{
    GB_NEED_SOURCES(ctx, "map_custom1", a);
    return custom(ctx, GGML_OP_MAP_CUSTOM1, GB_OP_NEW, GB_SRC(a),
                  (struct custom){ (any_fn)fun, n_tasks, userdata });
}

struct ggml_tensor *
ggml_map_custom1_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                         ggml_custom1_op_t fun, int n_tasks, void *userdata)
{
    GB_NEED_SOURCES(ctx, "map_custom1", a);
    return custom(ctx, GGML_OP_MAP_CUSTOM1, GB_OP_INPLACE, GB_SRC(a),
                  (struct custom){ (any_fn)fun, n_tasks, userdata });
}

struct ggml_tensor *
ggml_map_custom2(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b, ggml_custom2_op_t fun, int n_tasks,
                 void *userdata)
{
    GB_NEED_SOURCES(ctx, "map_custom2", a, b);
    return custom(ctx, GGML_OP_MAP_CUSTOM2, GB_OP_NEW, GB_SRC(a, b),
                  (struct custom){ (any_fn)fun, n_tasks, userdata });
}

struct ggml_tensor *
ggml_map_custom2_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                         struct ggml_tensor *b, ggml_custom2_op_t fun,
                         int n_tasks, void *userdata)
{
    GB_NEED_SOURCES(ctx, "map_custom2", a, b);
    return custom(ctx, GGML_OP_MAP_CUSTOM2, GB_OP_INPLACE, GB_SRC(a, b),
                  (struct custom){ (any_fn)fun, n_tasks, userdata });
}

struct ggml_tensor *
ggml_map_custom3(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b, struct ggml_tensor *c,
                 ggml_custom3_op_t fun, int n_tasks, void *userdata)
{
    GB_NEED_SOURCES(ctx, "map_custom3", a, b, c);
    return custom(ctx, GGML_OP_MAP_CUSTOM3, GB_OP_NEW, GB_SRC(a, b, c),
                  (struct custom){ (any_fn)fun, n_tasks, userdata });
}

struct ggml_tensor *
ggml_map_custom3_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                         struct ggml_tensor *b, struct ggml_tensor *c,
                         ggml_custom3_op_t fun, int n_tasks, void *userdata)
{
    GB_NEED_SOURCES(ctx, "map_custom3", a, b, c);
    return custom(ctx, GGML_OP_MAP_CUSTOM3, GB_OP_INPLACE, GB_SRC(a, b, c),
                  (struct custom){ (any_fn)fun, n_tasks, userdata });
}
